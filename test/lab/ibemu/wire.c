/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The only place that knows the layout of packets. Fields are in network byte order on the wire.
 */
#include "wire.h"

#include <infiniband/opcode.h>
#include <string.h>

#define LNH_BTH 2u /* next header of LRH: a local packet */
#define LNH_GRH 3u
#define GRH_NEXT_BTH 0x1bu

unsigned em_opcode_flags(uint8_t opcode)
{
    static const uint16_t flags[256] = {
        [IBV_OPCODE_RC_SEND_FIRST] = EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_START,
        [IBV_OPCODE_RC_SEND_MIDDLE] = EM_OP_KNOWN | EM_OP_PAYLOAD,
        [IBV_OPCODE_RC_SEND_LAST] = EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_END,
        [IBV_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_END | EM_OP_IMM,
        [IBV_OPCODE_RC_SEND_ONLY] = EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_START | EM_OP_END,
        [IBV_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_START | EM_OP_END | EM_OP_IMM,
        [IBV_OPCODE_RC_RDMA_WRITE_FIRST] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_START | EM_OP_WRITE | EM_OP_RETH,
        [IBV_OPCODE_RC_RDMA_WRITE_MIDDLE] = EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_WRITE,
        [IBV_OPCODE_RC_RDMA_WRITE_LAST] = EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_WRITE | EM_OP_END,
        [IBV_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_WRITE | EM_OP_END | EM_OP_IMM,
        [IBV_OPCODE_RC_RDMA_WRITE_ONLY] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_START | EM_OP_END | EM_OP_WRITE | EM_OP_RETH,
        [IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_START |
                                                         EM_OP_END | EM_OP_WRITE | EM_OP_RETH |
                                                         EM_OP_IMM,
        [IBV_OPCODE_RC_RDMA_READ_REQUEST] = EM_OP_KNOWN | EM_OP_RETH | EM_OP_START | EM_OP_END,
        [IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_RESPONSE | EM_OP_AETH | EM_OP_START,
        [IBV_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE] = EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_RESPONSE,
        [IBV_OPCODE_RC_RDMA_READ_RESPONSE_LAST] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_RESPONSE | EM_OP_AETH | EM_OP_END,
        [IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_RESPONSE | EM_OP_AETH | EM_OP_START | EM_OP_END,
        [IBV_OPCODE_RC_ACKNOWLEDGE] = EM_OP_KNOWN | EM_OP_RESPONSE | EM_OP_AETH,
        [IBV_OPCODE_UD_SEND_ONLY] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_START | EM_OP_END | EM_OP_DETH,
        [IBV_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE] =
            EM_OP_KNOWN | EM_OP_PAYLOAD | EM_OP_START | EM_OP_END | EM_OP_DETH | EM_OP_IMM,
    };

    return flags[opcode];
}

static uint8_t *put16(uint8_t *to, uint32_t v)
{
    to[0] = (uint8_t) (v >> 8);
    to[1] = (uint8_t) v;
    return to + 2;
}

static uint8_t *put32(uint8_t *to, uint32_t v)
{
    return put16(put16(to, v >> 16), v);
}

static uint32_t get16(const uint8_t *from)
{
    return (uint32_t) from[0] << 8 | from[1];
}

static uint32_t get32(const uint8_t *from)
{
    return get16(from) << 16 | get16(from + 2);
}

void em_grh_encode(const struct em_packet *p, uint8_t to[EM_GRH_BYTES])
{
    memset(to, 0, EM_GRH_BYTES);
    if (!p->has_grh)
        return;
    put32(to, 6u << 28 | (uint32_t) p->traffic_class << 20 | (p->flow_label & 0xfffffu));
    put16(to + 4, p->len);
    to[6] = GRH_NEXT_BTH;
    to[7] = p->hop_limit;
    memcpy(to + 8, p->sgid.raw, 16);
    memcpy(to + 24, p->dgid.raw, 16);
}

static uint8_t *put_extended(const struct em_packet *p, unsigned flags, uint8_t *to)
{
    if (flags & EM_OP_DETH) {
        to = put32(to, p->qkey);
        to = put32(to, p->src_qpn);
    }
    if (flags & EM_OP_RETH) {
        to = put32(to, (uint32_t) (p->remote_addr >> 32));
        to = put32(to, (uint32_t) p->remote_addr);
        to = put32(to, p->rkey);
        to = put32(to, p->dma_len);
    }
    if (flags & EM_OP_AETH)
        to = put32(to, (uint32_t) p->syndrome << 24 | (p->msn & 0xffffffu));
    if (flags & EM_OP_IMM) {
        memcpy(to, &p->imm_data, 4);
        to += 4;
    }
    return to;
}

size_t em_packet_encode(const struct em_packet *p, uint8_t *to)
{
    uint8_t *at = to;

    at = put16(at, (uint32_t) (p->sl & 15u) << 4 | (p->has_grh ? LNH_GRH : LNH_BTH));
    at = put16(at, p->dlid);
    at = put16(at, 0); /* the length is the datagram's */
    at = put16(at, p->slid);
    if (p->has_grh) {
        em_grh_encode(p, at);
        at += EM_GRH_BYTES;
    }
    *at++ = p->opcode;
    *at++ = (uint8_t) (p->solicited << 7 | p->mig_req << 6);
    at = put16(at, p->pkey);
    at = put32(at, p->dest_qpn);
    at = put32(at, (uint32_t) p->ack_req << 31 | p->psn);
    return (size_t) (put_extended(p, em_opcode_flags(p->opcode), at) - to);
}

/* The bytes of the extended headers. */
static size_t extended_bytes(unsigned flags)
{
    return (flags & EM_OP_DETH ? 8u : 0u) + (flags & EM_OP_RETH ? 16u : 0u) +
           (flags & EM_OP_AETH ? 4u : 0u) + (flags & EM_OP_IMM ? 4u : 0u);
}

static const uint8_t *get_extended(struct em_packet *p, unsigned flags, const uint8_t *from)
{
    if (flags & EM_OP_DETH) {
        p->qkey = get32(from);
        p->src_qpn = get32(from + 4) & 0xffffffu;
        from += 8;
    }
    if (flags & EM_OP_RETH) {
        p->remote_addr = (uint64_t) get32(from) << 32 | get32(from + 4);
        p->rkey = get32(from + 8);
        p->dma_len = get32(from + 12);
        from += 16;
    }
    if (flags & EM_OP_AETH) {
        p->syndrome = from[0];
        p->msn = get32(from) & 0xffffffu;
        from += 4;
    }
    if (flags & EM_OP_IMM) {
        memcpy(&p->imm_data, from, 4);
        from += 4;
    }
    return from;
}

static void get_grh(struct em_packet *p, const uint8_t *from)
{
    uint32_t first = get32(from);

    p->traffic_class = (uint8_t) (first >> 20);
    p->flow_label = first & 0xfffffu;
    p->hop_limit = from[7];
    memcpy(p->sgid.raw, from + 8, 16);
    memcpy(p->dgid.raw, from + 24, 16);
}

bool em_packet_decode(struct em_packet *p, const uint8_t *from, size_t len)
{
    const uint8_t *at = from;
    size_t need = EM_LRH_BYTES + 12u;
    unsigned flags;

    memset(p, 0, sizeof(*p));
    if (len < need)
        return false;
    p->sl = at[1] >> 4;
    p->has_grh = (at[1] & 3u) == LNH_GRH;
    p->dlid = (uint16_t) get16(at + 2);
    p->slid = (uint16_t) get16(at + 6);
    at += EM_LRH_BYTES;
    if (p->has_grh) {
        need += EM_GRH_BYTES;
        if (len < need)
            return false;
        get_grh(p, at);
        at += EM_GRH_BYTES;
    }
    p->opcode = at[0];
    p->solicited = at[1] >> 7 & 1u;
    p->mig_req = at[1] >> 6 & 1u;
    p->pkey = (uint16_t) get16(at + 2);
    p->dest_qpn = get32(at + 4) & 0xffffffu;
    p->ack_req = at[8] >> 7 & 1u;
    p->psn = get32(at + 8) & 0xffffffu;
    flags = em_opcode_flags(p->opcode);
    if (flags == 0 || len < need + extended_bytes(flags))
        return false;
    p->payload = get_extended(p, flags, at + 12);
    p->len = (uint32_t) (len - (size_t) (p->payload - from));
    return (flags & EM_OP_PAYLOAD) != 0 || p->len == 0;
}
