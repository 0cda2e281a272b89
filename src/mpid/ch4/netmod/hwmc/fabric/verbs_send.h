/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_send: the send queue of the verbs fabric. A datagram is copied to a registered slot and
 * posted; slots are used in turn. The last datagram of each call is signaled, and one in
 * HWMC_VERBS_SIGNAL before it; a completion frees the slots of all that were posted before.
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_SEND_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_SEND_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"

#define HWMC_VERBS_SIGNAL 16

/* Where the datagrams of a group go; from malloc. */
struct hwmc_verbs_target {
    struct ibv_ah *ah;
    uint32_t qkey;
    uint64_t last;                  /* retired: datagrams up to this number need it */
    struct hwmc_verbs_target *next; /* retired */
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

/* It took less than it was given, and would take more now. */
static inline bool hwmc_verbs_send_unblocked(const struct hwmc_verbs_send *s)
{
    return s->blocked && s->posted - s->done < s->num;
}

/* After the queue pair is gone. */
void hwmc_verbs_send_close(struct hwmc_verbs_send *s);

#endif /* HWMC_NETMOD_FABRIC_VERBS_SEND_H_INCLUDED */
