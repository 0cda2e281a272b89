/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ask: whether a broadcast goes by a leader group, a question that may begin its set-up or wait for
 * the end of that. All ranks of a communicator ask with the same broadcast.
 *
 * The states of a question:
 *
 *   NEW -> HIERARCHY -> BEGUN -> OUTCOME -> SETTLE -> TELL -> SITES -> ANSWERED
 *
 *   NEW        the broadcast is counted and weighed; it may begin set-up
 *   HIERARCHY  who leads is found out
 *   BEGUN      set-up is in the background; whether this broadcast is to know its end
 *   OUTCOME    others may go by the outcome: the broadcast has to know whether it does
 *   SETTLE     the outcome is waited for
 *   TELL       leaders tell it inside their hosts
 *   SITES      multicast does not pass between sites: each site's is set up (site_groups.h)
 *
 * Every state but HIERARCHY, OUTCOME, SETTLE, TELL and SITES is left at once, and from each the
 * answer may come.
 */

#ifndef HWMC_COMM_ASK_H_INCLUDED
#define HWMC_COMM_ASK_H_INCLUDED

#include "hierarchy.h"

enum hwmc_ask_state {
    HWMC_ASK_NEW,
    HWMC_ASK_HIERARCHY,
    HWMC_ASK_BEGUN,
    HWMC_ASK_OUTCOME,
    HWMC_ASK_SETTLE,
    HWMC_ASK_TELL,
    HWMC_ASK_SITES,
    HWMC_ASK_ANSWERED
};

struct hwmc_ask {
    enum hwmc_ask_state state;
    uint32_t which; /* leader group */
    MPI_Aint bytes;
    int tag;         /* of the operation (messages.h); negative: it is taken if it is needed */
    uint64_t number; /* of the broadcast, among those that could go by the leader group */
    bool goes;       /* the answer */
    struct hwmc_outcome_told told;
};

static inline struct hwmc_ask hwmc_ask_of(uint32_t which, MPI_Aint bytes, int tag)
{
    return (struct hwmc_ask){.which = which, .bytes = bytes, .tag = tag};
}

/* True: answered; false: it waits for `a`. `mpi_errno`: of having waited. */
bool hwmc_leader_group_ask(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_ask *q,
                           struct hwmc_await *a, int mpi_errno);

/* One more broadcast, of `bytes`, could go by leader group `which` of what `comm` carries; whether
 * it does, or must fail. May begin set-up, or wait for its end. All ranks of `comm` ask with the
 * same broadcast. Waits. */
bool hwmc_leader_group_ready(MPIR_Comm *comm, struct hwmc_comm *c, uint32_t which, MPI_Aint bytes);

/* Sets up the first leader group before any broadcast, if that is by weight. All ranks of `comm`
 * call it at the same place. */
void hwmc_leader_group_prepare(MPIR_Comm *comm, struct hwmc_comm *c);

#endif /* HWMC_COMM_ASK_H_INCLUDED */
