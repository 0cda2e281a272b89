/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_send: the send queue of the verbs fabric. A datagram is copied to a registered slot and
 * posted, or its header is, if its body lies in memory that is lent (verbs_loans.h); slots are used
 * in turn. The last datagram of each call is signaled, and one in HWMC_VERBS_SIGNAL before it; a
 * completion frees the slots of all that were posted before.
 *
 * Lent memory that is wanted back is waited for. If the port sends nothing for
 * HWMC_VERBS_RETURN_NS, the queue pair gives up what is posted: the rail is lost, not the program.
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_SEND_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_SEND_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"
#include "verbs_loans.h"

#define HWMC_VERBS_SIGNAL 16
#define HWMC_VERBS_SGES 2u                       /* of a request: a slot, and lent memory */
#define HWMC_VERBS_RETURN_NS UINT64_C(500000000) /* less than a retreat waits (op/retreat.h) */

/* Where the datagrams of a group go; from malloc. */
struct hwmc_verbs_target {
    struct ibv_ah *ah;
    uint32_t qkey;
    uint64_t last;                  /* retired: datagrams up to this number need it */
    struct hwmc_verbs_target *next; /* retired */
};

/* For tests and reports. */
struct hwmc_verbs_sent {
    uint64_t requests;  /* work requests, one a datagram */
    uint64_t doorbells; /* calls that posted some */
    uint64_t signaled;  /* requests that had a completion */
    uint64_t copied;    /* bytes of bodies */
    uint64_t lent;      /* bytes of bodies that the device read where they lay */
};

struct hwmc_verbs_send {
    struct ibv_qp *qp;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    unsigned char *data; /* num slots */
    uint32_t *len;       /* of the datagram in each slot, bytes */
    size_t slot_bytes;
    uint32_t num;
    uint32_t inline_max;               /* bytes that need no slot while they are sent */
    uint64_t posted;                   /* datagrams; the next one's slot is posted mod num */
    uint64_t done;                     /* of these have left: posted - num <= done <= posted */
    size_t queued;                     /* bytes posted and not done */
    bool blocked;                      /* the last call took less than it was given */
    bool broken;                       /* a datagram failed: the queue pair sends nothing more */
    struct hwmc_verbs_target *retired; /* to be freed, the latest first */
    struct hwmc_verbs_loans loans;
    struct hwmc_verbs_sent sent;
};

/* Allocates and registers `num` slots of `slot_bytes`. ERR_NOMEM; ERR_LIMIT: no more memory can be
 * locked. */
int hwmc_verbs_send_open(struct hwmc_verbs_send *s, struct ibv_pd *pd, uint32_t num,
                         size_t slot_bytes);

/* Posts the first k of `n` datagrams and returns k; ERR_DEVICE when it is broken. */
int hwmc_verbs_send_post(struct hwmc_verbs_send *s, const struct hwmc_verbs_target *to,
                         const struct hwmc_out *out, int n);

/* Takes completions. */
void hwmc_verbs_send_reap(struct hwmc_verbs_send *s);

/* Takes over `to`, to which nothing is posted from here on: frees it once what was posted is
 * done. */
void hwmc_verbs_send_retire(struct hwmc_verbs_send *s, struct hwmc_verbs_target *to);

/* Lends it `bytes` bytes at `memory`; whether it takes them. */
bool hwmc_verbs_send_lend(struct hwmc_verbs_send *s, const void *memory, size_t bytes);

/* They are wanted back, at `now` (ns). Whether they are the program's again. */
bool hwmc_verbs_send_returned(struct hwmc_verbs_send *s, const void *memory, uint64_t now);

/* A completion is waited for: it took less than it was given, or lent memory is wanted back. */
static inline bool hwmc_verbs_send_waits(const struct hwmc_verbs_send *s)
{
    return s->blocked || hwmc_verbs_loans_asked(&s->loans) != UINT64_MAX;
}

/* It took less than it was given, and would take more now. */
static inline bool hwmc_verbs_send_unblocked(const struct hwmc_verbs_send *s)
{
    return s->blocked && s->posted - s->done < s->num;
}

/* After the queue pair is gone. */
void hwmc_verbs_send_close(struct hwmc_verbs_send *s);

#endif /* HWMC_NETMOD_FABRIC_VERBS_SEND_H_INCLUDED */
