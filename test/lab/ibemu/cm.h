/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The connection manager: identifiers bound to ports, and their multicast memberships. Connections
 * are not emulated.
 */
#ifndef HWMC_TEST_LAB_IBEMU_CM_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_CM_H_INCLUDED

#include <rdma/rdma_cma.h>
#include "fdqueue.h"
#include "hca.h"

struct em_cm_channel {
    struct rdma_event_channel ibv; /* first */
    struct em_fdqueue queue;       /* of struct em_cm_event */
    int users;                     /* identifiers */
};

struct em_join;

struct em_id {
    struct rdma_cm_id ibv; /* first */
    int unacked;           /* events fetched and not acknowledged */
    LIST_HEAD(, em_join) joins;
};

struct em_cm_event {
    struct em_item item;
    struct rdma_cm_event event;
    struct em_join *join; /* that it is of; NULL: none */
};

/* A multicast membership of an identifier, asked for or had. */
struct em_join {
    LIST_ENTRY(em_join) link;
    struct em_id *id;
    struct sockaddr_storage addr; /* as the caller named the group */
    socklen_t addr_len;
    union ibv_gid mgid;
    void *context; /* of the caller */
    uint64_t due;  /* when the subnet administrator answers; EM_NEVER: it has */
    bool member;   /* the port is in the group */
    bool attached; /* the identifier's QP is */
    int unacked;   /* events fetched and not acknowledged */
};

/* Queues an event for the identifier's channel. */
void em_cm_raise(struct em_id *id, enum rdma_cm_event_type type, int status, struct em_join *join);

/* Waits, with the HCA's lock held, until *unacked is 0. */
void em_cm_wait_acked(const int *unacked);

/* A join's event is being fetched: the QP is attached. */
void em_join_fetched(struct em_join *join, struct rdma_cm_event *event);

/* Ends a membership, after the events fetched of it are acknowledged, and frees it. With the lock
 * held. */
void em_join_end(struct em_join *join);

/* Finishes the joins that are due; when the next one is, or EM_NEVER. With the lock held. */
uint64_t em_cm_run_timers(uint64_t now);

#endif /* HWMC_TEST_LAB_IBEMU_CM_H_INCLUDED */
