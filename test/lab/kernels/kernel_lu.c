/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "kernel.h"

/* Symmetric successive over-relaxation on a cube of n (24) points a side, five unknowns a point, in
 * a grid of ranks over two sides. A sweep goes through the planes of the third side: in each a rank
 * waits for the edges of two neighbours, relaxes its points and gives two other neighbours its own
 * edges, many short messages; the sweep back goes the other way. After both, neighbours get the
 * faces that the sweep back has changed since, and an allreduce adds up the residual. Verified:
 * rank 0 does the same on the whole cube by itself, and all unknowns and residuals are its own; the
 * residual becomes smaller. Options: kernel.h. */

#define PARTS 5 /* unknowns of a point */
#define SWEEPS 4
#define OMEGA 1.2
#define DIAGONAL 6.5

/* Points [0, nx + 1] x [0, ny + 1] of every plane [0, nz + 1]: the outermost are the neighbours' or
 * the boundary's zeros. */
struct block {
    int nx, ny, nz, x, y; /* own points, and where in the cube they begin */
    double *u;
    const double *f; /* of the whole cube, nx = ny = nz = n, without edges */
    int n;
};

static struct block own, whole; /* whole: of rank 0 */
static MPI_Comm grid;
static int west, east, north, south;
static double *f, *edge, *edge_out;
static double norms[SWEEPS], norms_whole[SWEEPS];

static double *point(const struct block *b, int x, int y, int z)
{
    return b->u + ((size_t) (z * (b->ny + 2) + y) * (size_t) (b->nx + 2) + (size_t) x) * PARTS;
}

static size_t block_doubles(const struct block *b)
{
    return (size_t) (b->nx + 2) * (size_t) (b->ny + 2) * (size_t) (b->nz + 2) * PARTS;
}

static const double *source(const struct block *b, int x, int y, int z)
{
    return b->f + ((size_t) ((z - 1) * b->n + b->y + y - 1) * (size_t) b->n + (size_t) b->x +
                   (size_t) (x - 1)) *
                      PARTS;
}

/* What the point's equation leaves, of unknown `part`. */
static double defect(const struct block *b, int x, int y, int z, int part)
{
    const double *u = point(b, x, y, z);

    return source(b, x, y, z)[part] + point(b, x - 1, y, z)[part] + point(b, x + 1, y, z)[part] +
           point(b, x, y - 1, z)[part] + point(b, x, y + 1, z)[part] + point(b, x, y, z - 1)[part] +
           point(b, x, y, z + 1)[part] + 0.05 * u[(part + 1) % PARTS] - DIAGONAL * u[part];
}

static void relax_point(const struct block *b, int x, int y, int z)
{
    double *u = point(b, x, y, z);

    for (int part = 0; part < PARTS; part++)
        u[part] += OMEGA / DIAGONAL * defect(b, x, y, z, part);
}

static void relax_plane(const struct block *b, int z, bool back)
{
    for (int i = 0; i < b->ny; i++) {
        for (int k = 0; k < b->nx; k++)
            relax_point(b, back ? b->nx - k : k + 1, back ? b->ny - i : i + 1, z);
    }
}

static double square_of_defects(const struct block *b)
{
    double sum = 0;

    for (int z = 1; z <= b->nz; z++) {
        for (int y = 1; y <= b->ny; y++) {
            for (int x = 1; x <= b->nx; x++) {
                for (int part = 0; part < PARTS; part++) {
                    double d = defect(b, x, y, z, part);

                    sum += d * d;
                }
            }
        }
    }
    return sum;
}

/* Edges: of one plane, or of all of them, a face. Along x: of a column; else of a row. */
static int pack(int at, bool along_y, int first, int last, double *into, bool unpack)
{
    int length = along_y ? own.ny : own.nx, num = 0;

    for (int z = first; z <= last; z++) {
        for (int i = 1; i <= length; i++, num += PARTS) {
            double *u = along_y ? point(&own, at, i, z) : point(&own, i, at, z);

            if (unpack)
                memcpy(u, into + num, PARTS * sizeof(double));
            else
                memcpy(into + num, u, PARTS * sizeof(double));
        }
    }
    return num;
}

static void receive_edge(int from, int at, bool along_y, int z)
{
    int length = (along_y ? own.ny : own.nx) * PARTS;

    if (from == MPI_PROC_NULL)
        return;
    MPI_Recv(edge, length, MPI_DOUBLE, from, z, grid, MPI_STATUS_IGNORE);
    pack(at, along_y, z, z, edge, true);
}

static void send_edge(int to, int at, bool along_y, int z)
{
    if (to != MPI_PROC_NULL)
        MPI_Send(edge_out, pack(at, along_y, z, z, edge_out, false), MPI_DOUBLE, to, z, grid);
}

static void sweep(bool back)
{
    for (int k = 1; k <= own.nz; k++) {
        int z = back ? own.nz + 1 - k : k;

        receive_edge(back ? east : west, back ? own.nx + 1 : 0, true, z);
        receive_edge(back ? south : north, back ? own.ny + 1 : 0, false, z);
        relax_plane(&own, z, back);
        send_edge(back ? west : east, back ? 1 : own.nx, true, z);
        send_edge(back ? north : south, back ? 1 : own.ny, false, z);
    }
}

/* This rank's face at `at` goes to `to`, and that of `from` comes into `into`. */
static void exchange_face(int to, int at, int from, int into, bool along_y)
{
    int num = pack(at, along_y, 1, own.nz, edge_out, false);

    MPI_Sendrecv(edge_out, num, MPI_DOUBLE, to, 0, edge, num, MPI_DOUBLE, from, 0, grid,
                 MPI_STATUS_IGNORE);
    if (from != MPI_PROC_NULL)
        pack(into, along_y, 1, own.nz, edge, true);
}

static void work_lu(const struct kernel_job *j)
{
    (void) j;
    for (int i = 0; i < SWEEPS; i++) {
        sweep(false);
        sweep(true);
        exchange_face(east, own.nx, west, 0, true);
        exchange_face(south, own.ny, north, 0, false);
        norms[i] = kernel_sum(square_of_defects(&own), MPI_COMM_WORLD);
    }
}

static void open_lu(const struct kernel_job *j)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2];
    size_t face;

    MPI_Dims_create(j->size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &west, &east);
    MPI_Cart_shift(grid, 1, 1, &north, &south);
    MPI_Cart_coords(grid, j->rank, 2, coords);
    f = kernel_alloc((size_t) j->n * (size_t) j->n * (size_t) j->n * PARTS * sizeof(double));
    own = (struct block){.x = kernel_begin(j->n, dims[0], coords[0]),
                         .y = kernel_begin(j->n, dims[1], coords[1]),
                         .nz = j->n,
                         .f = f,
                         .n = j->n};
    own.nx = kernel_begin(j->n, dims[0], coords[0] + 1) - own.x;
    own.ny = kernel_begin(j->n, dims[1], coords[1] + 1) - own.y;
    own.u = kernel_alloc(block_doubles(&own) * sizeof(double));
    whole = (struct block){.nx = j->n, .ny = j->n, .nz = j->n, .f = f, .n = j->n};
    if (j->rank == 0)
        whole.u = kernel_alloc(block_doubles(&whole) * sizeof(double));
    face = (size_t) j->n * (size_t) j->n * PARTS * sizeof(double);
    edge = kernel_alloc(face);
    edge_out = kernel_alloc(face);
}

static void prepare_lu(const struct kernel_job *j)
{
    uint64_t seed = hwtest_mix(j->seed);
    size_t numbers = (size_t) j->n * (size_t) j->n * (size_t) j->n * PARTS;

    for (size_t i = 0; i < numbers; i++)
        f[i] = kernel_uniform(seed + i) - 0.5;
    memset(own.u, 0, block_doubles(&own) * sizeof(double));
}

static void sweep_whole(void)
{
    memset(whole.u, 0, block_doubles(&whole) * sizeof(double));
    for (int i = 0; i < SWEEPS; i++) {
        for (int z = 1; z <= whole.nz; z++)
            relax_plane(&whole, z, false);
        for (int z = whole.nz; z >= 1; z--)
            relax_plane(&whole, z, true);
        norms_whole[i] = square_of_defects(&whole);
    }
}

/* Every rank compares its points with those of the whole cube, which rank 0 gives it. */
static int compare(void)
{
    double most = 0;

    for (int z = 1; z <= own.nz; z++) {
        for (int y = 1; y <= own.ny; y++) {
            for (int x = 1; x <= own.nx * PARTS; x++) {
                double off = fabs(point(&own, 1, y, z)[x - 1] -
                                  point(&whole, own.x + 1, own.y + y, z)[x - 1]);

                most = !(off <= most) ? off : most;
            }
        }
    }
    return kernel_expect(most <= 1e-12, "unknowns are off by", most, 0);
}

static int verify_lu(const struct kernel_job *j)
{
    int errs = 0;

    if (j->rank == 0)
        sweep_whole();
    else
        whole.u = kernel_alloc(block_doubles(&whole) * sizeof(double));
    MPI_Bcast(whole.u, (int) block_doubles(&whole), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(norms_whole, SWEEPS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    errs += compare();
    for (int i = 0; i < SWEEPS; i++) {
        errs += kernel_expect(fabs(norms[i] - norms_whole[i]) <= 1e-10 * norms_whole[i], "residual",
                              norms[i], norms_whole[i]);
        errs += kernel_expect(i == 0 || norms[i] < norms[i - 1], "a residual that does not shrink",
                              norms[i], norms[i > 0 ? i - 1 : 0]);
    }
    if (j->rank > 0)
        free(whole.u);
    return errs;
}

static void close_lu(void)
{
    free(f);
    free(own.u);
    free(edge);
    free(edge_out);
    MPI_Comm_free(&grid);
}

int main(int argc, char **argv)
{
    static const struct kernel lu = {24, open_lu, prepare_lu, work_lu, verify_lu, close_lu};

    return kernel_main(argc, argv, &lu);
}
