/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* Writes a file by HDF5's collective MPI-IO, each rank its rows, and reads all of it on each rank:
 * each byte is checked. For Debian's h5pcc. */

#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 1024 };

static int value_at(hsize_t row, int column)
{
    return (int) row * 4099 + column * 17;
}

static hid_t all_ranks(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    return access;
}

/* Write this rank's ROWS rows of a dataset that has them of all ranks. */
static int write_rows(const char *name, int rank, int size)
{
    hsize_t all[2] = {(hsize_t) size * ROWS, COLUMNS}, mine[2] = {ROWS, COLUMNS};
    hsize_t from[2] = {(hsize_t) rank * ROWS, 0};
    hid_t access = all_ranks(), transfer = H5Pcreate(H5P_DATASET_XFER);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(2, all, NULL), memory = H5Screate_simple(2, mine, NULL);
    hid_t set =
        H5Dcreate2(file, "rows", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int *values = malloc(sizeof(int) * ROWS * COLUMNS), status;

    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            values[r * COLUMNS + c] = value_at(from[0] + (hsize_t) r, c);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, mine, NULL);
    status = H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, values);
    free(values);
    H5Dclose(set);
    H5Sclose(space);
    H5Sclose(memory);
    H5Pclose(transfer);
    H5Pclose(access);
    return H5Fclose(file) < 0 ? -1 : status;
}

/* Read all rows, and count those values that are wrong; -1 if it could not be read. */
static long read_all(const char *name, int size)
{
    hid_t access = all_ranks(), transfer = H5Pcreate(H5P_DATASET_XFER);
    hid_t file = H5Fopen(name, H5F_ACC_RDONLY, access), set = H5Dopen2(file, "rows", H5P_DEFAULT);
    int *values = calloc((size_t) size * ROWS * COLUMNS, sizeof(int));
    long wrong = 0;

    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    if (H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer, values) < 0)
        wrong = -1;
    for (int r = 0; wrong >= 0 && r < size * ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            wrong += values[r * COLUMNS + c] != value_at((hsize_t) r, c);
    free(values);
    H5Dclose(set);
    H5Pclose(transfer);
    H5Pclose(access);
    H5Fclose(file);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size;
    long wrong, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    wrong = write_rows("rows.h5", rank, size) < 0 ? 1 : read_all("rows.h5", size);
    wrong = wrong < 0 ? 1 : wrong;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d rows, wrong values: %ld\n", size * ROWS, all);
    MPI_Finalize();
    return all != 0;
}
