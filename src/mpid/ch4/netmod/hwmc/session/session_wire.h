/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * session_wire: what sessions put before every message on a lane, 16 bytes in network byte order:
 *
 *   0  version of this format, 1     1  kind (core/path/session.h)     2  stream     3  0
 *   4  the sender's rank in MPI_COMM_WORLD, 4 bytes
 *   8  number, 4 bytes
 *   12  acknowledgement, or of a PROBE the suspected lanes, 4 bytes
 *
 * The upper layer's head and body follow a FRAME; nothing follows the others.
 */
#ifndef HWMC_NETMOD_SESSION_SESSION_WIRE_H_INCLUDED
#define HWMC_NETMOD_SESSION_SESSION_WIRE_H_INCLUDED

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../../../../mpi/coll/bcast_hw/core/path/session.h"

#define HWMC_SESSION_WIRE_VERSION 1
#define HWMC_SESSION_WIRE_HEAD 16u

struct hwmc_session_wire {
    uint32_t src;
    enum hwmc_session_kind kind;
    uint8_t stream;
    uint32_t number;
    uint32_t ack;
    uint32_t doubts;
};

static inline void hwmc_session_wire_put32(unsigned char *p, uint32_t v)
{
    v = htonl(v);
    memcpy(p, &v, sizeof(v));
}

static inline uint32_t hwmc_session_wire_get32(const unsigned char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return ntohl(v);
}

static inline void hwmc_session_wire_encode(unsigned char *head, uint32_t src,
                                            const struct hwmc_session_tx *tx)
{
    head[0] = HWMC_SESSION_WIRE_VERSION;
    head[1] = (unsigned char) tx->kind;
    head[2] = tx->stream;
    head[3] = 0;
    hwmc_session_wire_put32(head + 4, src);
    hwmc_session_wire_put32(head + 8, tx->number);
    hwmc_session_wire_put32(head + 12, tx->kind == HWMC_SESSION_PROBE ? tx->doubts : tx->ack);
}

/* False: it is not of this format, or from nobody of the `size` processes. */
static inline bool hwmc_session_wire_decode(struct hwmc_session_wire *w, const void *head,
                                            size_t len, uint32_t size, uint32_t streams)
{
    const unsigned char *p = (const unsigned char *) head;

    if (len < HWMC_SESSION_WIRE_HEAD || p[0] != HWMC_SESSION_WIRE_VERSION ||
        p[1] >= HWMC_SESSION_KINDS || p[2] >= streams || p[3] != 0)
        return false;
    w->kind = (enum hwmc_session_kind) p[1];
    w->stream = p[2];
    w->src = hwmc_session_wire_get32(p + 4);
    w->number = hwmc_session_wire_get32(p + 8);
    w->ack = w->doubts = hwmc_session_wire_get32(p + 12);
    return w->src < size;
}

#endif /* HWMC_NETMOD_SESSION_SESSION_WIRE_H_INCLUDED */
