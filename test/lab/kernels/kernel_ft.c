/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <complex.h>

#include "kernel.h"

/* Fourier transform of a cube of n x n x n complex numbers; n is a power of two, 32 by default.
 * Each rank has a slab of planes. A rank transforms its slab along two sides. An alltoall
 * transposes the cube (an alltoallv, if ranks have different numbers of planes). Then the ranks
 * transform the third side, and after that do the inverse of all steps. Verified: after the first
 * half the sum of the squares is n^3 times that of the input (Parseval), and at the end the input
 * is back. Options: kernel.h. */

typedef double complex cplx;

static cplx *input, *cube, *turned, *box; /* z, y, x; the same; x, y, z; blocks on their way */
static cplx *roots;                       /* of one, n / 2 of them */
static int n, from, planes;               /* own planes: of z in `cube`, of x in `turned` */
static int *counts, *at;                  /* of alltoallv, as doubles */
static bool alike;                        /* all ranks have as many planes */
static double squares, squares_there;     /* of own numbers: of the input, and transformed */

static void open_ft(const struct kernel_job *j)
{
    size_t bytes;

    n = j->n;
    from = kernel_begin(n, j->size, j->rank);
    planes = kernel_begin(n, j->size, j->rank + 1) - from;
    alike = n % j->size == 0;
    bytes = (size_t) planes * (size_t) n * (size_t) n * sizeof(cplx);
    input = kernel_alloc(bytes);
    cube = kernel_alloc(bytes);
    turned = kernel_alloc(bytes);
    box = kernel_alloc(bytes);
    roots = kernel_alloc((size_t) n / 2 * sizeof(cplx));
    counts = kernel_alloc((size_t) j->size * sizeof(int));
    at = kernel_alloc((size_t) j->size * sizeof(int));
    for (int k = 0; k < n / 2; k++)
        roots[k] = cexp(-2 * M_PI * I * k / n);
    for (int r = 0, next = 0; r < j->size; r++) {
        int theirs = kernel_begin(n, j->size, r + 1) - kernel_begin(n, j->size, r);

        counts[r] = 2 * planes * n * theirs;
        at[r] = next;
        next += counts[r];
    }
}

static void prepare_ft(const struct kernel_job *j)
{
    size_t first = (size_t) from * (size_t) n * (size_t) n;

    squares = 0;
    for (size_t i = 0; i < (size_t) planes * (size_t) n * (size_t) n; i++) {
        uint64_t key = hwtest_mix(j->seed) + 2 * (first + i);

        input[i] = kernel_uniform(key) - 0.5 + I * (kernel_uniform(key + 1) - 0.5);
        cube[i] = input[i];
        squares += creal(input[i] * conj(input[i]));
    }
}

/* The numbers in the order that their indices have read backwards. */
static void reverse_bits(cplx *line)
{
    for (int i = 1, back = 0; i < n; i++) {
        int bit = n >> 1;

        for (; back & bit; bit >>= 1)
            back ^= bit;
        back |= bit;
        if (i < back) {
            cplx other = line[i];

            line[i] = line[back];
            line[back] = other;
        }
    }
}

/* Of n numbers, in place; the inverse is not divided by n. */
static void transform(cplx *line, bool inverse)
{
    reverse_bits(line);
    for (int half = 1; half < n; half *= 2) {
        for (int start = 0; start < n; start += 2 * half) {
            for (int k = 0; k < half; k++) {
                cplx root = roots[k * (n / 2 / half)];
                cplx a = line[start + k];
                cplx b = line[start + k + half] * (inverse ? conj(root) : root);

                line[start + k] = a + b;
                line[start + k + half] = a - b;
            }
        }
    }
}

static void transform_rows(cplx *slab, bool inverse)
{
    for (int row = 0; row < planes * n; row++)
        transform(slab + (size_t) row * (size_t) n, inverse);
}

/* Along the second side of each plane. */
static void transform_columns(cplx *slab, bool inverse)
{
    cplx line[n];

    for (int plane = 0; plane < planes; plane++) {
        cplx *p = slab + (size_t) plane * (size_t) n * (size_t) n;

        for (int x = 0; x < n; x++) {
            for (int y = 0; y < n; y++)
                line[y] = p[(size_t) y * (size_t) n + (size_t) x];
            transform(line, inverse);
            for (int y = 0; y < n; y++)
                p[(size_t) y * (size_t) n + (size_t) x] = line[y];
        }
    }
}

/* out[x][y][z] = in[z][y][x], of all ranks' slabs: first and third sides change places. */
static void turn(const struct kernel_job *j, const cplx *in, cplx *out)
{
    cplx *next = box;

    for (int r = 0; r < j->size; r++) {
        for (int x = kernel_begin(n, j->size, r); x < kernel_begin(n, j->size, r + 1); x++) {
            for (int y = 0; y < n; y++) {
                for (int z = 0; z < planes; z++)
                    *next++ = in[((size_t) z * (size_t) n + (size_t) y) * (size_t) n + (size_t) x];
            }
        }
    }
    if (alike)
        MPI_Alltoall(box, counts[0], MPI_DOUBLE, turned, counts[0], MPI_DOUBLE, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(box, counts, at, MPI_DOUBLE, turned, counts, at, MPI_DOUBLE, MPI_COMM_WORLD);
    memcpy(box, turned, (size_t) planes * (size_t) n * (size_t) n * sizeof(cplx));
    next = box;
    for (int r = 0; r < j->size; r++) {
        int first = kernel_begin(n, j->size, r), theirs = kernel_begin(n, j->size, r + 1) - first;

        for (int row = 0; row < planes * n; row++, next += theirs)
            memcpy(out + (size_t) row * (size_t) n + first, next, (size_t) theirs * sizeof(cplx));
    }
}

static void work_ft(const struct kernel_job *j)
{
    size_t numbers = (size_t) planes * (size_t) n * (size_t) n;

    transform_rows(cube, false);
    transform_columns(cube, false);
    turn(j, cube, turned);
    transform_rows(turned, false);
    squares_there = 0;
    for (size_t i = 0; i < numbers; i++)
        squares_there += creal(turned[i] * conj(turned[i]));
    transform_rows(turned, true);
    turn(j, turned, cube);
    transform_columns(cube, true);
    transform_rows(cube, true);
    for (size_t i = 0; i < numbers; i++)
        cube[i] /= (double) n * n * n;
}

static int verify_ft(const struct kernel_job *j)
{
    double all = kernel_sum(squares, MPI_COMM_WORLD) * n * n * n;
    double there = kernel_sum(squares_there, MPI_COMM_WORLD), most = 0;

    (void) j;
    for (size_t i = 0; i < (size_t) planes * (size_t) n * (size_t) n; i++) {
        double off = cabs(cube[i] - input[i]);

        most = !(off <= most) ? off : most;
    }
    return kernel_expect(fabs(there - all) <= 1e-10 * all, "sum of squares", there, all) +
           kernel_expect(most <= 1e-12, "the input does not come back: off by", most, 0);
}

static void close_ft(void)
{
    free(input);
    free(cube);
    free(turned);
    free(box);
    free(roots);
    free(counts);
    free(at);
}

int main(int argc, char **argv)
{
    static const struct kernel ft = {32, open_ft, prepare_ft, work_ft, verify_ft, close_ft};

    return kernel_main(argc, argv, &ft);
}
