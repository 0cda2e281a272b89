/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shm_csel: the selection of algorithms inside a host, in MPICH's own format: the file that
 * MPIR_CVAR_HWMC_SELECTION names, or the one built in. A communicator keeps the part for
 * its number of ranks.
 */

#ifndef HWMC_SELECT_SHM_CSEL_H_INCLUDED
#define HWMC_SELECT_SHM_CSEL_H_INCLUDED

#include "shm_choose.h"
#include "shm_entry.h"

/* Gives `n`, of that many ranks, its selection. MPICH's error code where the file cannot be
 * used. */
int hwmc_shm_csel_begin(struct hwmc_shm_host *n, uint32_t ranks);

/* Frees it; nothing where there is none. */
void hwmc_shm_csel_end(struct hwmc_shm_host *n);

/* What it says of a message of `bytes`; NULL: nothing. Of n until its end. */
const struct hwmc_shm_entry *hwmc_shm_csel_search(const struct hwmc_shm_host *n,
                                                  enum hwmc_shm_kind kind, MPI_Aint bytes);

/* The process needs no selection any more, but for the communicators that have one. */
void hwmc_shm_csel_close(void);

#endif /* HWMC_SELECT_SHM_CSEL_H_INCLUDED */
