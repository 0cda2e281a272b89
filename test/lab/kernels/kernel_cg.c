/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "kernel.h"

/* Conjugate gradients on a sparse symmetric matrix of n rows (4000), in a grid of ranks: each has
 * a block of the matrix and its columns' part of every vector. A product with the matrix adds up
 * along rows of the grid (allreduce of vectors), and messages along its columns bring each rank its
 * part; scalar products are allreduces and broadcasts of one number. Verified: the residual, worked
 * out anew from the solution, is small, and is the one that the recurrence has come to.
 * Options: kernel.h. */

#define DIAGONALS 6 /* on each side of the main one; where they are follows from the seed */
#define ITERATIONS 25
#define SMALL 1e-6 /* of the residual, to the right-hand side */

static MPI_Comm row, column; /* of the grid */
static int down, across;     /* ranks of a column, of a row */
static int my_row, my_column;
static int n, first_row, rows, first_column, columns;
static int *starts, *index_of; /* of the block: compressed rows */
static double *value;
static double *b, *x, *r, *p, *q; /* own columns' parts */
static double *partial, *product; /* own rows' */
static double recurrence;         /* square of the residual */

static void open_cg(const struct kernel_job *j)
{
    int dims[2] = {0, 0};
    double **parts[] = {&b, &x, &r, &p, &q};

    MPI_Dims_create(j->size, 2, dims);
    n = j->n;
    down = dims[1];
    across = dims[0];
    my_row = j->rank / across;
    my_column = j->rank % across;
    MPI_Comm_split(MPI_COMM_WORLD, my_row, my_column, &row);
    MPI_Comm_split(MPI_COMM_WORLD, my_column, my_row, &column);
    first_row = kernel_begin(n, down, my_row);
    rows = kernel_begin(n, down, my_row + 1) - first_row;
    first_column = kernel_begin(n, across, my_column);
    columns = kernel_begin(n, across, my_column + 1) - first_column;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        *parts[i] = kernel_alloc((size_t) columns * sizeof(double));
    partial = kernel_alloc((size_t) rows * sizeof(double));
    product = kernel_alloc((size_t) rows * sizeof(double));
    starts = kernel_alloc((size_t) (rows + 1) * sizeof(int));
    index_of = kernel_alloc((size_t) rows * (2 * DIAGONALS + 1) * sizeof(int));
    value = kernel_alloc((size_t) rows * (2 * DIAGONALS + 1) * sizeof(double));
}

static int add_entry(int entries, int of_column, double of_value)
{
    if (of_column < first_column || of_column >= first_column + columns)
        return entries;
    index_of[entries] = of_column - first_column;
    value[entries] = of_value;
    return entries + 1;
}

/* An entry off the diagonal, the same both ways; of a size below a half, so that the diagonal,
 * which is more than half of the number of them, makes the matrix positive definite. */
static double coupling(uint64_t seed, int low, int diagonal)
{
    return kernel_uniform(seed + (uint64_t) low * DIAGONALS + (uint64_t) diagonal) - 0.5;
}

/* How far from the main diagonal this one is. */
static int distance(uint64_t seed, int diagonal)
{
    return 1 + (int) (hwtest_mix(seed + (uint64_t) diagonal) % (uint64_t) (n - 1));
}

static void prepare_cg(const struct kernel_job *j)
{
    uint64_t seed = hwtest_mix(j->seed);
    int entries = 0;

    for (int i = 0; i < rows; i++) {
        int at = first_row + i;

        starts[i] = entries;
        entries = add_entry(entries, at, DIAGONALS + 1);
        for (int d = 0; d < DIAGONALS; d++) {
            int far = distance(seed, d);
            int next = (at + far) % n, before = (at - far + n) % n;

            entries = add_entry(entries, next, coupling(seed, at, d));
            entries = add_entry(entries, before, coupling(seed, before, d));
        }
    }
    starts[rows] = entries;
    for (int i = 0; i < columns; i++)
        b[i] = kernel_uniform(~seed + (uint64_t) (first_column + i)) - 0.5;
}

/* What of a grid row's part of a vector is in a grid column's part: from, and how many. */
static int overlap(int of_row, int of_column, int *num)
{
    int low = kernel_begin(n, down, of_row), high = kernel_begin(n, down, of_row + 1);
    int left = kernel_begin(n, across, of_column), right = kernel_begin(n, across, of_column + 1);

    low = low > left ? low : left;
    high = high < right ? high : right;
    *num = high > low ? high - low : 0;
    return low;
}

/* out = matrix * in, both as own columns' parts. */
static void multiply(const double *in, double *out)
{
    MPI_Request requests[2 * down];
    MPI_Status statuses[2 * down];
    int num, num_requests = 0, low;

    for (int i = 0; i < rows; i++) {
        double sum = 0;

        for (int e = starts[i]; e < starts[i + 1]; e++)
            sum += value[e] * in[index_of[e]];
        partial[i] = sum;
    }
    MPI_Allreduce(partial, product, rows, MPI_DOUBLE, MPI_SUM, row);
    for (int other = 0; other < down; other++) {
        low = overlap(other, my_column, &num);
        if (num > 0)
            MPI_Irecv(out + (low - first_column), num, MPI_DOUBLE, other, 0, column,
                      &requests[num_requests++]);
    }
    low = overlap(my_row, my_column, &num);
    for (int other = 0; other < down && num > 0; other++)
        MPI_Isend(product + (low - first_row), num, MPI_DOUBLE, other, 0, column,
                  &requests[num_requests++]);
    MPI_Waitall(num_requests, requests, statuses);
}

/* The same bits on all ranks: rows of the grid may add up in different orders, and vectors of which
 * one row has other bits than the next drift apart. */
static double dot(const double *u, const double *v)
{
    double sum = 0;

    for (int i = 0; i < columns; i++)
        sum += u[i] * v[i];
    sum = kernel_sum(sum, row);
    MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, column);
    return sum;
}

static void work_cg(const struct kernel_job *j)
{
    (void) j;
    for (int i = 0; i < columns; i++) {
        x[i] = 0;
        r[i] = b[i];
        p[i] = b[i];
    }
    recurrence = dot(r, r);
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        double alpha, before = recurrence;

        multiply(p, q);
        alpha = before / dot(p, q);
        for (int i = 0; i < columns; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        recurrence = dot(r, r);
        for (int i = 0; i < columns; i++)
            p[i] = r[i] + recurrence / before * p[i];
    }
}

/* out = matrix * in, of own columns' parts, without the block and the messages of multiply: every
 * rank gets the whole vector. */
static void multiply_plainly(uint64_t seed, const double *in, double *out)
{
    int counts[across], at[across];
    double *all = kernel_alloc((size_t) n * sizeof(double));

    for (int c = 0; c < across; c++) {
        at[c] = kernel_begin(n, across, c);
        counts[c] = kernel_begin(n, across, c + 1) - at[c];
    }
    MPI_Allgatherv(in, columns, MPI_DOUBLE, all, counts, at, MPI_DOUBLE, row);
    for (int i = 0; i < columns; i++) {
        int place = first_column + i;
        double sum = (DIAGONALS + 1) * all[place];

        for (int d = 0; d < DIAGONALS; d++) {
            int far = distance(seed, d), next = (place + far) % n, before = (place - far + n) % n;

            sum += coupling(seed, place, d) * all[next] + coupling(seed, before, d) * all[before];
        }
        out[i] = sum;
    }
    free(all);
}

static int verify_cg(const struct kernel_job *j)
{
    double size = sqrt(dot(b, b)), residual, expected = sqrt(recurrence);

    multiply_plainly(hwtest_mix(j->seed), x, q);
    for (int i = 0; i < columns; i++)
        q[i] = b[i] - q[i];
    residual = sqrt(dot(q, q));
    return kernel_expect(residual <= SMALL * size, "residual", residual / size, SMALL) +
           kernel_expect(fabs(residual - expected) <= 1e-12 * size,
                         "residual, and that of the recurrence", residual, expected);
}

static void close_cg(void)
{
    double *parts[] = {b, x, r, p, q, partial, product, value};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        free(parts[i]);
    free(starts);
    free(index_of);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

int main(int argc, char **argv)
{
    static const struct kernel cg = {4000, open_cg, prepare_cg, work_cg, verify_cg, close_cg};

    return kernel_main(argc, argv, &cg);
}
