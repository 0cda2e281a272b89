/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_direct: direct reception of the verbs fabric (port/fabric.h: direct): a queue pair of its
 * own, which is in the twins of groups. Its receive queue has scatter lists of one run, in order:
 * route header and header go to a slot, the body to where it belongs, and what is longer than that
 * body to the slot again, where it would be if all of the datagram were there. So a list takes
 * whatever comes, and a datagram that came to a wrong place is whole in its slot once its body has
 * been copied there.
 *
 *   a slot:   FREE -> LIST (posted: a scatter list) --completion--> handed over, GIVEN -> FREE
 *             FREE -> WHOLE (posted: for a whole datagram) --completion--> GIVEN -> FREE
 *             LIST --flush, a completion--> CAME (whole, to be handed over) -> GIVEN -> FREE
 *             LIST, WHOLE --flush, none--> FREE
 *
 * A program cannot withdraw a receive request. A reset of the queue pair removes all of them
 * (InfiniBand specification, 10.3.1), and the adapter writes nothing after it. So a flush has three
 * steps. In state ERR all requests complete: the fabric takes what had come before from the
 * completion queue, and copies bodies to their slots. Then it resets the queue pair. Then it makes
 * the queue pair ready again, which is in its groups as before. If any of that fails, or not all
 * has completed within HWMC_VERBS_FLUSH_NS, it is destroyed, and there is no direct reception any
 * more. Completions from before a flush have another generation, and count for nothing.
 *
 * After a flush in mid-message slots are posted for whole datagrams: its root may send directly
 * until it learns of that. They are withdrawn in the same way before the next run begins.
 *
 * Invariant: `lists` of the slots are LIST; outside of a run none is.
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_DIRECT_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_DIRECT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"
#include "verbs_members.h"
#include "verbs_recv.h"
#include "verbs_registrations.h"

#define HWMC_VERBS_FLUSH_NS UINT64_C(100000000)
#define HWMC_VERBS_LIST_SGES 3u /* of a scatter list */

enum hwmc_verbs_direct_use {
    HWMC_VERBS_FREE,
    HWMC_VERBS_LIST,
    HWMC_VERBS_WHOLE,
    HWMC_VERBS_CAME,
    HWMC_VERBS_GIVEN
};

struct hwmc_verbs_direct_slot {
    enum hwmc_verbs_direct_use use;
    uint32_t number; /* LIST: of the body in the run */
};

/* For tests and reports. */
struct hwmc_verbs_directs {
    uint64_t placed;  /* bodies that came where they belong */
    uint64_t aside;   /* bodies that came elsewhere, and were copied */
    uint64_t flushes; /* times that memory was taken back */
};

struct hwmc_verbs_direct {
    struct hwmc_verbs_port port;        /* its id has the queue pair; the caller's */
    struct hwmc_verbs_members *members; /* the twins; the caller's; NULL: not opened */
    struct ibv_qp *qp;                  /* NULL: there is none, or none any more */
    struct hwmc_verbs_recv *r;          /* whose completions it shares */
    struct ibv_mr *mr;
    unsigned char *data; /* num slots: route header, then payload */
    size_t slot_bytes;
    size_t max_datagram;
    uint32_t num;
    struct hwmc_verbs_direct_slot *slot;
    uint32_t *free; /* num_free slots */
    uint32_t num_free;
    uint32_t *given; /* num_given slots */
    uint32_t num_given;
    uint32_t lists;  /* slots that are LIST */
    uint32_t wholes; /* and WHOLE */
    uint32_t generation;
    uint64_t runs;                                  /* that have begun */
    bool run;                                       /* the last of them is under way */
    bool wants_wholes;                              /* slots are posted for whole datagrams */
    struct hwmc_expected expected;                  /* of it */
    uint32_t next;                                  /* the number of the body that is posted next */
    uint32_t due;                                   /* ... that is to come next */
    struct hwmc_verbs_registrations *registrations; /* made for the first run; NULL */
    struct hwmc_verbs_registration *registered;     /* the run's memory; NULL */
    struct hwmc_verbs_directs count;
};

/* A completion is of the direct queue pair. */
static inline bool hwmc_verbs_is_direct(const struct ibv_wc *wc)
{
    return wc->wr_id >> 63;
}

/* d->port has an id with a queue pair that completes to r's completion queue; `num` slots.
 * ERR_NOMEM; ERR_LIMIT: no more memory can be locked. */
int hwmc_verbs_direct_open(struct hwmc_verbs_direct *d, struct hwmc_verbs_recv *r, uint32_t num,
                           size_t max_datagram);

/* As the slots of struct hwmc_fabric_direct_ops. */
uint64_t hwmc_verbs_direct_begin(struct hwmc_verbs_direct *d, const struct hwmc_expected *e);
size_t hwmc_verbs_direct_extend(struct hwmc_verbs_direct *d, uint64_t run, size_t bytes);
void hwmc_verbs_direct_end(struct hwmc_verbs_direct *d, uint64_t run, bool goes_on);

/* What came by a completion, so that it can be looked at; false: nothing. Then take follows: its
 * slot is given. False: it is not `wanted`, and dropped. What is not in its place ends the run. */
bool hwmc_verbs_direct_next(struct hwmc_verbs_direct *d, const struct ibv_wc *wc,
                            struct hwmc_verbs_came *came);
bool hwmc_verbs_direct_take(struct hwmc_verbs_direct *d, const struct ibv_wc *wc, bool wanted,
                            struct hwmc_in *in);

/* All given slots are free, or posted again. */
void hwmc_verbs_direct_give_back(struct hwmc_verbs_direct *d);

/* Nothing is written any more: the queue pair goes, and everything but d->port. */
void hwmc_verbs_direct_close(struct hwmc_verbs_direct *d);

#endif /* HWMC_NETMOD_FABRIC_VERBS_DIRECT_H_INCLUDED */
