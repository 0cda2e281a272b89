/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Queue pairs: the send queue with the requester's state, the receive queue with the responder's,
 * and the two paths of Automatic Path Migration. PSNs are 24 bits; see psn.h.
 */
#ifndef HWMC_TEST_LAB_IBEMU_QP_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_QP_H_INCLUDED

#include "cq.h"
#include "mr.h"
#include "rq.h"
#include "srq.h"

#define EM_WINDOW 64u     /* packets of a QP in flight */
#define EM_READ_CHUNK 16u /* packets that one RDMA read request asks for */
#define EM_ACK_EVERY 16u  /* packets of a long message */

struct em_ah {
    struct ibv_ah ibv; /* first */
    struct ibv_ah_attr attr;
};

/* A send work request. */
struct em_swqe {
    uint64_t wr_id;
    enum ibv_wr_opcode opcode;
    unsigned flags; /* enum ibv_send_flags */
    __be32 imm_data;
    uint64_t remote_addr; /* RDMA */
    uint32_t rkey;
    uint32_t len; /* of the message, bytes */
    struct em_sgl sgl;
    uint32_t psn;          /* of its first packet; valid from requester.started on back */
    uint32_t packets;      /* >= 1; RDMA read: of the response */
    struct ibv_ah_attr ah; /* UD */
    uint32_t dest_qpn, qkey;
};

/* The send queue. Work requests head <= cur <= started <= tail (numbers of all time): those before
 * head are complete, cur is the one that packets are made of next, those before started have been
 * given PSNs. una <= snd <= max: everything before una is acknowledged, snd is sent next, max was
 * never sent. */
struct em_requester {
    struct em_swqe *ring; /* cap entries */
    struct ibv_sge *sges;
    uint8_t *inlines;
    uint32_t cap;
    uint32_t head, cur, started, tail;
    uint32_t una_psn, snd_psn, max_psn;
    int reads;          /* RDMA reads started and not complete; <= max_rd_atomic */
    bool rewound;       /* went back, and nothing was acknowledged since */
    uint8_t retry_left; /* transport retries */
    uint8_t rnr_left;   /* 7: for ever */
    uint64_t deadline;  /* of the acknowledgement; EM_NEVER: nothing is outstanding */
    uint64_t rnr_until; /* nothing is sent before; 0: no wait */
};

/* An RDMA read that is being answered. */
struct em_read_job {
    uint32_t psn; /* of the next response */
    uint64_t addr;
    uint32_t rkey, left; /* bytes */
    bool first;          /* no response was sent yet */
};

struct em_responder {
    uint32_t exp_psn; /* the next one in order */
    uint32_t msn;     /* messages completed, 24 bits */
    bool nak_sent;    /* one for exp_psn is out; no other until exp_psn has come */
    enum { EM_MESSAGE_NONE, EM_MESSAGE_SEND, EM_MESSAGE_WRITE } message; /* in progress */
    struct em_rwqe recv; /* of the send in progress */
    struct ibv_sge recv_sge[EM_SGE_MAX];
    uint32_t offset;     /* bytes of the message that have come */
    uint64_t write_addr; /* of the write in progress */
    uint32_t write_rkey, write_len;

    struct em_read_job jobs[EM_READS_MAX]; /* a ring */
    unsigned first_job, num_jobs;
    bool reply_due; /* an acknowledgement, to be sent after the jobs */
    uint8_t syndrome;
    uint32_t reply_psn;
};

struct em_qp {
    struct ibv_qp ibv; /* first */
    struct em_hca *hca;
    struct ibv_qp_attr attr; /* as ibv_modify_qp set it; attr.qp_state is the state */
    struct ibv_qp_cap cap;
    bool sig_all;
    bool alt_loaded;       /* an alternate path was given since the last migration */
    bool mig_err_reported; /* since the alternate path was given */
    bool comm_est;         /* the event was raised */
    struct em_requester sq;
    struct em_rq rq;
    struct em_responder resp;
    bool active; /* in hca->active */
    TAILQ_ENTRY(em_qp) link;
    unsigned async_events; /* fetched */
    int mcast;             /* groups attached to */
};

/* Puts the QP among those that may have something to send. */
void em_qp_activate(struct em_qp *qp);

/* Posting: ibv_post_send, ibv_post_recv. */
int em_qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int em_qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* Takes a receive request from where this QP gets them. */
bool em_qp_take_recv(struct em_qp *qp, struct em_rwqe *to);

/* Completes the oldest send request, and takes it out. */
void em_qp_complete_send(struct em_qp *qp, enum ibv_wc_status status);

/* Completes a receive request; the rest of `wc` is the caller's. */
void em_qp_complete_recv(struct em_qp *qp, struct ibv_wc *wc, bool solicited);

/* To the error state: what is queued completes as flushed. */
void em_qp_to_error(struct em_qp *qp);

/* Empties the queues and forgets everything, as in state RESET. */
void em_qp_reset(struct em_qp *qp);

/* Raises an affiliated event. */
void em_qp_event(struct em_qp *qp, enum ibv_event_type type);

/* Whether ibv_modify_qp may do this: 0, or an errno. */
int em_qp_modify_check(const struct em_qp *qp, const struct ibv_qp_attr *attr, int mask);

/* The port that a path leaves by; never NULL for a path that was checked. */
struct em_port *em_qp_port(const struct em_qp *qp);

/* Fills addresses, and what else every packet has, for a path. */
void em_path_address(const struct em_port *port, const struct ibv_ah_attr *ah, struct em_packet *p);

/* RC: the two halves of the protocol. */
void em_requester_start(struct em_qp *qp);
bool em_requester_send(struct em_qp *qp, uint64_t now);
void em_requester_receive(struct em_qp *qp, const struct em_packet *p, uint64_t now);
void em_requester_timeout(struct em_qp *qp, uint64_t now);
uint64_t em_requester_deadline(const struct em_qp *qp);
void em_requester_check_drained(struct em_qp *qp);
void em_requester_restart(struct em_qp *qp);
void em_responder_receive(struct em_qp *qp, const struct em_packet *p);
bool em_responder_send(struct em_qp *qp);

/* UD. A multicast packet comes to each attached QP. */
bool em_ud_send(struct em_qp *qp);
void em_ud_receive(struct em_qp *qp, const struct em_packet *p);

/* Path migration: path.c. */
bool em_path_accept(struct em_qp *qp, const struct em_port *port, const struct em_packet *p);
bool em_path_give_up(struct em_qp *qp);
int em_path_check_request(const struct em_qp *qp, const struct ibv_qp_attr *attr, int mask,
                          enum ibv_qp_state next);
void em_path_request(struct em_qp *qp, enum ibv_mig_state to);
void em_path_load(struct em_qp *qp, const struct ibv_qp_attr *attr);

#endif /* HWMC_TEST_LAB_IBEMU_QP_H_INCLUDED */
