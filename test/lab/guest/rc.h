/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_LAB_GUEST_RC_H_INCLUDED
#define HWMC_TEST_LAB_GUEST_RC_H_INCLUDED

#include <infiniband/verbs.h>

/* A reliable connection between two devices of the guest, both ends in one process. For test
 * programs: what must not fail and does is said on stderr, and ends the program with status 1. */

#define RC_BYTES 16384 /* of a message: several packets */
#define RC_PORT 1
#define RC_GID 1 /* RoCE v2 over IPv4, as test/lab/guest/network waits for it */

struct rc_end {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr; /* of buf */
    struct ibv_cq *cq;
    struct ibv_qp *qp; /* NULL: between two connections */
    union ibv_gid gid;
    unsigned char buf[RC_BYTES];
};

/* Say what is wrong, as printf does, and end the program. */
_Noreturn void rc_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Open a device by name. The end must stay where it is until rc_close. */
void rc_open(struct rc_end *end, const char *device);
void rc_close(struct rc_end *end);

/* A new queue pair in state INIT, and its end. */
void rc_create(struct rc_end *end);
void rc_destroy(struct rc_end *end);

/* What takes a queue pair from INIT to RTR and to RTS; the mask says which attributes. retries is
 * from 0 to 6, for rdma_rxe takes 7 for ever; they come 67 ms apart. */
struct ibv_qp_attr rc_to_rtr(const struct rc_end *peer, int *mask);
struct ibv_qp_attr rc_to_rts(int retries, int *mask);

/* New queue pairs at both ends, connected. */
void rc_connect(struct rc_end *a, struct rc_end *b, int retries);

/* Send a message and wait until the sender knows what became of it. Where that is success, the data
 * must have arrived. The message differs with seed. */
enum ibv_wc_status rc_send(struct rc_end *from, struct rc_end *to, unsigned seed);

#endif /* HWMC_TEST_LAB_GUEST_RC_H_INCLUDED */
