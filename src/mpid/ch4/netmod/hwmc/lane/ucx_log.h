/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ucx_log: UCX's complaints that it gets no memory. UCX asks again at once and complains again.
 * Over TCP (seen with 1.13; the sources of 1.22 say the same) it can do so within one call: a send
 * for which there is no buffer has no resources, and the sender is not queued. That call ends when
 * there is memory. UCX's log is then the only sign, a hundred thousand times a second.
 *
 * A spell is a series of refusals of which none comes a second or more after the one before. In a
 * spell each place of UCX's sources logs once a second.
 */
#ifndef HWMC_NETMOD_LANE_UCX_LOG_H_INCLUDED
#define HWMC_NETMOD_LANE_UCX_LOG_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_UCX_LOG_PAUSE_NS 1000000000u /* that ends a spell, and between what is shown in one */
#define HWMC_UCX_LOG_MIN 1000u            /* fewer are no loop */
#define HWMC_UCX_LOG_PLACES 8

/* All 0: none yet. */
struct hwmc_ucx_log {
    uint64_t since, last; /* ns: the first and the last of the spell */
    uint64_t num;         /* in the spell; 0: there has been none */
    struct hwmc_ucx_log_place {
        const char *file; /* as the compiler put it there: told apart by where it is */
        unsigned line;
        uint64_t shown; /* ns */
    } places[HWMC_UCX_LOG_PLACES];
};

/* One more. Returns how long the spell has lasted, ns; 0 when it may yet be no loop. */
uint64_t hwmc_ucx_log_add(struct hwmc_ucx_log *r, uint64_t now);

/* Whether what UCX says at `line` of `file`, of whatever kind, is to be shown, and if so notes that
 * it was. */
bool hwmc_ucx_log_show(struct hwmc_ucx_log *r, const char *file, unsigned line, uint64_t now);

/* Whether an error that UCX reports in `file` means that it cannot share memory with other
 * processes of the host, as in a container: MPI_Init then fails, although MPICH does not use that
 * memory. */
bool hwmc_ucx_log_is_of_shared_memory(const char *file);

/* Whether what UCX reports in `file` means that it has no way to another host: MPI_Init then
 * fails. */
bool hwmc_ucx_log_is_of_no_way(const char *file, const char *text);

#endif /* HWMC_NETMOD_LANE_UCX_LOG_H_INCLUDED */
