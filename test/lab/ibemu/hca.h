/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The emulated host channel adapter: what all its objects share. One lock guards everything;
 * functions of this directory that are not entry points of libibverbs or librdmacm are called with
 * it held.
 */
#ifndef HWMC_TEST_LAB_IBEMU_HCA_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_HCA_H_INCLUDED

#include <pthread.h>
#include <stdint.h>
#include <sys/queue.h>
#include "fdqueue.h"
#include "port.h"

#define EM_QPS_MAX 4096 /* a power of two, at most 1 << EM_QPN_BITS */
#define EM_MRS_MAX 65536
#define EM_CQE_MAX (1 << 20)
#define EM_WR_MAX 16384 /* of a queue */
#define EM_SGE_MAX 30
#define EM_INLINE_MAX 1024
#define EM_READS_MAX 16 /* RDMA reads in flight, either way */
#define EM_MESSAGE_MAX (1u << 30)
#define EM_QPN_BITS 14 /* of the number within a process */
#define EM_NEVER UINT64_MAX

struct em_qp;
struct em_mr;
struct em_group;

/* An open device. */
struct em_context {
    struct verbs_context verbs;
    struct em_hca *hca;
    struct em_fdqueue async; /* of struct em_event */
    TAILQ_ENTRY(em_context) link;
};

/* An asynchronous event that waits to be fetched. */
struct em_event {
    struct em_item item;
    struct ibv_async_event event;
    unsigned *reported; /* counts the fetched ones of the object; NULL: a port's event */
};

struct em_counters {
    uint64_t sent, received;
    uint64_t lost_by_faults;
    uint64_t dropped_header; /* no such QP, or not from where its path leads */
    uint64_t dropped_qkey;
    uint64_t dropped_no_recv; /* UD */
    uint64_t retransmitted;   /* times that a requester went back */
    uint64_t rnr_naks, sequence_naks, duplicates;
    uint64_t migrations;
};

struct em_hca {
    pthread_mutex_t lock;
    __be64 guid;
    struct em_port ports[EM_PORTS_MAX];
    int num_ports; /* 1..EM_PORTS_MAX */
    struct em_wire wire;
    struct em_faults faults;
    struct em_joins joins;

    uint32_t slot; /* of this process: upper bits of its QP numbers; > 0 */
    struct em_qp *qps[EM_QPS_MAX];
    uint32_t qps_end; /* those from there on were never used */
    uint32_t next_qp; /* where the search for a free number starts */
    struct em_mr *mrs[EM_MRS_MAX];
    uint32_t next_mr;
    TAILQ_HEAD(, em_qp) active; /* QPs that may have something to send */
    uint64_t retry_at; /* when those are tried again that found the wire full; or EM_NEVER */
    TAILQ_HEAD(, em_context) contexts;
    LIST_HEAD(, em_group) groups;
    struct em_counters count;
};

/* Fills `hca` with no ports. */
void em_hca_init(struct em_hca *hca);

/* The port of a number, or NULL. */
struct em_port *em_hca_port(struct em_hca *hca, int num);

/* Gives a QP's number to it. Returns 0 or ENOMEM. */
int em_hca_add_qp(struct em_hca *hca, struct em_qp *qp, uint32_t *qpn);
void em_hca_remove_qp(struct em_hca *hca, struct em_qp *qp);
struct em_qp *em_hca_find_qp(struct em_hca *hca, uint32_t qpn);

static inline uint64_t em_hca_now(const struct em_hca *hca)
{
    return hca->wire.now(hca->wire.arg);
}

/* A packet that came in on a port. `now` is the time of em_hca_now, as in all calls. */
void em_hca_receive(struct em_hca *hca, struct em_port *port, const struct em_packet *p,
                    uint64_t now);

/* Lets every active QP send what it may. Where the wire has no room, QPs stay active, and a timer
 * tries again. */
void em_hca_send(struct em_hca *hca, uint64_t now);

/* Runs the timers that are due; returns when the next one is, or EM_NEVER. */
uint64_t em_hca_run_timers(struct em_hca *hca, uint64_t now);

/* A packet on its way out: counters, faults and the wire. False: no room for now. */
bool em_hca_transmit(struct em_hca *hca, struct em_port *port, const struct em_packet *p,
                     const struct iovec *iov, int n);

/* The port's interface came or went: events to all contexts. */
void em_hca_port_changed(struct em_hca *hca, struct em_port *port, bool up);

/* Queues an event for one context, or for all. `reported` as in struct em_event. */
void em_event_raise(struct em_context *ctx, const struct ibv_async_event *event,
                    unsigned *reported);
void em_event_raise_port(struct em_hca *hca, enum ibv_event_type type, int port_num);

/* Forgets the events of an object that were not fetched. */
void em_event_forget(struct em_context *ctx, const void *object);

static inline struct em_context *em_context_of(struct ibv_context *ctx)
{
    return (struct em_context *) ((char *) ctx - offsetof(struct em_context, verbs.context));
}

#endif /* HWMC_TEST_LAB_IBEMU_HCA_H_INCLUDED */
