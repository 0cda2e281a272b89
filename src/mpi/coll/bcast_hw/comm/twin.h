/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * twin: what a persistent collective has of its own in place of what its communicator carries: a
 * struct hwmc_comm, with a queue and a segment, or a leader group.
 *
 * MPI lets each rank start persistent collectives in an order of its own, among themselves and
 * among the communicator's other collectives, while a queue, a segment and a group go by one order
 * for all ranks. The calls that initialize them come in the same order on all ranks. So what ranks
 * must count alike is counted there: the tag of its messages (messages.h), and the name of its
 * groups (leader_group.h). A twin's collectives are the starts of one request, which follow each
 * other on every rank.
 *
 * The first start sets up what is needed, whatever it costs: no other collective is counted or
 * weighed with it. As its one message is known, it takes less memory than a communicator: a segment
 * of few and short buffers, a group of few channels. Where the bounds on memory do not suffice, all
 * ranks leave it to MPICH, or it goes without multicast, as with communicators.
 *
 * Over several hosts there is one leader group. A root leads its host.
 */

#ifndef HWMC_COMM_TWIN_H_INCLUDED
#define HWMC_COMM_TWIN_H_INCLUDED

#include "mpiimpl.h"

struct hwmc_comm;

struct hwmc_twin {
    bool is;       /* it is one; false: what the communicator itself carries */
    uint64_t name; /* of its groups: other than all others' of these members, alike on them */

    /* Over several hosts. */
    int root;       /* it leads its host; negative: all are alike */
    MPI_Aint bytes; /* of a message that is multicast; 1 where none is */
    bool by_all;    /* all ranks multicast one, and several of these are under way */
};

/* Whether a persistent broadcast of `bytes` on a communicator that carries `c` is worth a group of
 * its own: not where the cost model expects no gain. The same on all ranks; true without memory to
 * know it, as with others it may be. */
bool hwmc_twin_pays(struct hwmc_comm *c, MPI_Aint bytes);

/* Makes one over several hosts; the last three are fields of struct hwmc_twin. All ranks of `comm`,
 * which carries `c`, call it in the same order. NULL: no memory. */
struct hwmc_comm *hwmc_twin_hosts(MPIR_Comm *comm, const struct hwmc_comm *c, int root,
                                  MPI_Aint bytes, bool by_all);

/* Makes one for a collective inside a host. NULL: no memory. */
struct hwmc_comm *hwmc_twin_host(MPIR_Comm *comm);

/* Frees `c` if it is one. No operation of it is under way. Local, and never waits. */
void hwmc_twin_free(struct hwmc_comm *c);

#endif /* HWMC_COMM_TWIN_H_INCLUDED */
