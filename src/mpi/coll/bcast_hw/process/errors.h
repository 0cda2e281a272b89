/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * errors: the MPI errors of what happens below entry/, one function for each kind. Each returns an
 * MPI error code of class MPI_ERR_OTHER; the texts are in errnames.txt. Above, and in the netmod, a
 * failing allocation or a setting that cannot be used is an error by MPICH's macros.
 */

#ifndef HWMC_PROCESS_ERRORS_H_INCLUDED
#define HWMC_PROCESS_ERRORS_H_INCLUDED

#include <stdint.h>

/* No memory. */
int hwmc_error_nomem(void);

/* hwmc could not be set up for a communicator, at this rank. */
int hwmc_error_setup(void);

/* A collective inside a host failed: why. */
int hwmc_error_shm(const char *why);

/* The lengths of ranks disagree: bytes of the root's message, and what this rank has room for. */
int hwmc_error_lengths(uint64_t theirs, uint64_t ours);

/* A selection file cannot be used: why. */
int hwmc_error_selection(const char *file, const char *why);

/* Rank `rank` of MPI_COMM_WORLD is lost, found out in `stage`. Its host has not answered on `by`
 * for so many ms; rank `finder` has said so; it has left by itself; the connection to it over `by`
 * failed. */
int hwmc_error_silent(int rank, const char *stage, const char *by, int ms);
int hwmc_error_told(int rank, const char *stage, int finder, const char *by);
int hwmc_error_left(int rank, const char *stage);
int hwmc_error_lane(int rank, const char *stage, const char *by);

#endif /* HWMC_PROCESS_ERRORS_H_INCLUDED */
