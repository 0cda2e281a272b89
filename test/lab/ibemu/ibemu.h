/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What a test may do to the emulated network, beyond the libraries' own calls. A program that is
 * also to run without the emulator finds these functions with dlsym. They concern the packets that
 * this process sends and receives; all return 0 or an errno. The same can be had from outside:
 * IBEMU_CONTROL in README.md.
 */
#ifndef HWMC_TEST_LAB_IBEMU_IBEMU_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_IBEMU_H_INCLUDED

#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibemu_counters {
    uint64_t sent, received;  /* packets */
    uint64_t lost;            /* by the calls below, or because a port was down */
    uint64_t dropped;         /* of no QP, of no group, or not from where the path leads */
    uint64_t dropped_qkey;    /* UD: of another key */
    uint64_t dropped_no_recv; /* UD: no receive request that holds it */
    uint64_t retransmitted;   /* times that a requester went back */
    uint64_t rnr_naks, sequence_naks, duplicates;
    uint64_t migrations;
};

/* Loses this share of the packets, out and in; the generator starts again from `seed`. */
int ibemu_drop(double percent, uint64_t seed);

/* A port that swallows everything while its state stays ACTIVE. */
int ibemu_cut_port(int port_num, int cut);

/* A LID to which, and from which, no packet comes through. */
int ibemu_cut_lid(uint16_t lid, int cut);

/* How rdma_join_multicast is answered from now on: "grant", "refuse", or "delay:" and
 * milliseconds. */
int ibemu_join(const char *answer);

/* Raises an event of a port for all contexts, such as IBV_EVENT_CLIENT_REREGISTER. */
int ibemu_raise(enum ibv_event_type event, int port_num);

/* A catastrophic error of a QP: it goes to the error state, with IBV_EVENT_QP_FATAL. */
int ibemu_break_qp(struct ibv_qp *qp);

int ibemu_read_counters(struct ibemu_counters *counters);

#ifdef __cplusplus
}
#endif

#endif /* HWMC_TEST_LAB_IBEMU_IBEMU_H_INCLUDED */
