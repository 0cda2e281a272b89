/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rc_wire: the bytes of the rc lane, and their only parser. Numbers are in network byte order.
 *
 * The exchange, carried by the caller:
 *
 *     0 magic (2) 0x7263 | 2 version (1) 1 | 3 type (1) | 4 epoch (4)
 *
 * and in CONNECT and ACCEPT the sender's end of the connection:
 *
 *     8 queue pair (4), 24 bits | 12 first packet's number (4), 24 bits | 16 credits (2) |
 *     18 flags (1), bit 0: migrates in hardware | 19 ports (1), 1..4
 *     then for each port, the one of the rail first, 24 bytes:
 *     0 number (1) | 1 LMC (1) | 2 LID (2) | 4 GID (16) | 20 MTU (1), 1: 256 .. 5: 4096 |
 *     21 flags (1), bit 0: names GIDs in all packets | 22 path bits of an alternate path (1) |
 *     23 zero (1)
 *
 * A fragment, up to 8192 bytes, before its part of a message (head, then body):
 *
 *     0 magic (2) | 2 version (1) | 3 type (1), 1: DATA, 2: CREDIT | 4 credits returned (2) |
 *     6 zero (2) | 8 bytes of the head (4) | 12 of head and body (4) |
 *     16 of the message before this fragment (4)
 */
#ifndef HWMC_NETMOD_LANE_RC_RC_WIRE_H_INCLUDED
#define HWMC_NETMOD_LANE_RC_RC_WIRE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../apm/specify.h"

#define RC_PORTS_MAX 4
#define RC_FRAGMENT 8192u /* bytes of a receive buffer; a head fits into the first fragment */
#define RC_CREDITS_MIN 2u
#define RC_CREDITS_MAX 4096u

#define RC_EXCHANGE_MAX (20u + RC_PORTS_MAX * 24u)
#define RC_HEADER 20u

enum rc_exchange_type { RC_CONNECT = 1, RC_ACCEPT, RC_READY, RC_REFUSE, RC_CLOSE, RC_WANT };

/* One end of a connection, as it tells the other. */
struct rc_end {
    uint32_t qp_num;                         /* 24 bits */
    uint32_t psn;                            /* of its first packet, 24 bits */
    uint16_t credits;                        /* RC_CREDITS_MIN..RC_CREDITS_MAX */
    bool hardware;                           /* migrates paths */
    uint8_t num_ports;                       /* 1..RC_PORTS_MAX */
    struct hwmc_apm_port port[RC_PORTS_MAX]; /* without what means nothing to the other end */
    enum ibv_mtu mtu[RC_PORTS_MAX];
};

struct rc_exchange {
    enum rc_exchange_type type;
    uint32_t epoch;
    struct rc_end end; /* CONNECT, ACCEPT */
};

enum rc_fragment_type { RC_DATA = 1, RC_CREDIT };

struct rc_fragment {
    enum rc_fragment_type type;
    uint16_t credits;  /* returned */
    uint32_t head_len; /* DATA: of the message, <= total */
    uint32_t total;    /* DATA: bytes of the message, <= HWMC_LANE_RC_MESSAGE_MAX */
    uint32_t offset;   /* DATA: with the bytes of this fragment <= total */
};

/* Writes up to RC_EXCHANGE_MAX bytes; returns how many. */
size_t rc_wire_write_exchange(const struct rc_exchange *x, uint8_t *bytes);

/* False: the bytes are none of these messages, or say what cannot be. */
bool rc_wire_read_exchange(const uint8_t *bytes, size_t len, struct rc_exchange *x);

/* Writes RC_HEADER bytes. */
void rc_wire_write_fragment(const struct rc_fragment *f, uint8_t *bytes);

/* `len`: of the whole fragment. False as above. */
bool rc_wire_read_fragment(const uint8_t *bytes, size_t len, struct rc_fragment *f);

#endif /* HWMC_NETMOD_LANE_RC_RC_WIRE_H_INCLUDED */
