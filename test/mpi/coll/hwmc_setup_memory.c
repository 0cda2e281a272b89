/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_refused.h"
#include "hwmc_util.h"

/* No rank has memory to look at a communicator: each gets an MPI error. One rank has no memory for
 * the set-up of a communicator: all go without, and nobody waits for it. Another communicator is
 * set up. This program's allocator refuses what the MPI library asks for; what
 * others ask for, as libraries for communication, it gives.
 *
 * To be run with MPIR_CVAR_HWMC_TUNE=setup_after=1,setup_ahead=0: a
 * communicator is looked at when it first broadcasts, and set up when it broadcasts again.
 * With MPIR_CVAR_HWMC_TUNE=setup_ahead=16 communicators are freed, and the program ends, before any
 * rank waits for set-up.
 * -node   for collectives inside the host, with MPIR_CVAR_HWMC_TUNE=shm_after=1 */

#define BYTES 1000
#define ALL SIZE_MAX

/* Broadcasts once, while requests of `without` bytes are refused; ALL: of any, 0: of none.
 * `says`: what it is to say; NULL: it is to work. */
static int broadcast(MPI_Comm comm, unsigned char *bytes, int number, size_t without,
                     const char *says)
{
    char text[MPI_MAX_ERROR_STRING] = "no error";
    int rank, size, err, len;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    hwtest_prepare(bytes, BYTES, rank == number % size, (uint64_t) number);
    if (without > 0)
        hwtest_refuse(without == ALL ? 0 : without, without);
    err = MPI_Bcast(bytes, BYTES, MPI_BYTE, number % size, comm);
    hwtest_refuse_none();
    if (err == MPI_SUCCESS && says == NULL)
        return hwtest_verify(bytes, BYTES, (uint64_t) number, "with memory");
    if (err != MPI_SUCCESS)
        MPI_Error_string(err, text, &len);
    if (says != NULL && strstr(text, says) != NULL)
        return 0;
    printf("rank %d, broadcast %d: %s\n", rank, number, text);
    return 1;
}

/* On three communicators: one without memory as soon as it is looked at, one where rank 1 has none
 * to list the sites of all ranks when it is set up, one with memory. */
static int between_hosts(const MPI_Comm *comm, unsigned char *bytes)
{
    int errs = 0, rank, size;

    MPI_Comm_rank(comm[1], &rank);
    MPI_Comm_size(comm[1], &size);
    errs += broadcast(comm[0], bytes, 0, ALL, "for want of memory");
    errs += broadcast(comm[1], bytes, 0, 0, NULL);
    errs += broadcast(comm[1], bytes, 1, rank == 1 ? (size_t) size * sizeof(uint64_t) : 0, NULL);
    for (int i = 2; i < 6; i++)
        errs += broadcast(comm[1], bytes, i, 0, NULL);
    return errs;
}

/* What the ranks of a host agree on is one integer each, and no rank needs memory for it. */
static int inside_host(const MPI_Comm *comm, unsigned char *bytes)
{
    int errs = 0;

    errs += broadcast(comm[0], bytes, 0, 0, NULL);
    errs += broadcast(comm[0], bytes, 1, sizeof(int), NULL);
    errs += broadcast(comm[0], bytes, 2, 0, NULL);
    return errs;
}

int main(int argc, char **argv)
{
    unsigned char *bytes;
    int errs = 0;
    MPI_Comm comm[3];

    MTest_Init(&argc, &argv);
    bytes = hwtest_alloc(BYTES);
    hwtest_refused_init();
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Comm_set_errhandler(comm[i], MPI_ERRORS_RETURN);
    }
    errs +=
        hwtest_flag(argc, argv, "-node") ? inside_host(comm, bytes) : between_hosts(comm, bytes);
    for (int i = 0; i < 4; i++)
        errs += broadcast(comm[2], bytes, i, 0, NULL);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&comm[i]);
    free(bytes);
    MTest_Finalize(errs);
    return MTestReturnValue(errs);
}
