/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Packets of InfiniBand as datagrams carry them: local route header, global route header if there
 * is one, base transport header, the extended headers of the opcode, payload (InfiniBand
 * specification, 7.7, 8.3, 9.2, 9.3). Padding and checksums are left out: UDP has a length and a
 * checksum.
 */
#ifndef HWMC_TEST_LAB_IBEMU_WIRE_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_WIRE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define EM_LRH_BYTES 8u
#define EM_GRH_BYTES 40u
#define EM_HEADERS_MAX 84u /* LRH, GRH, BTH, RETH, immediate data and room */

#define EM_MULTICAST_QPN 0xffffffu
#define EM_MLID_FIRST 0xc000u /* first multicast LID */
#define EM_PKEY_DEFAULT 0xffffu

/* AETH syndromes (9.7.5.1.2): the kind in the upper three bits. */
enum em_syndrome {
    EM_ACK = 0x1f,     /* an acknowledgement; no credits are counted */
    EM_RNR_NAK = 0x20, /* plus the timer code, 0..31 */
    EM_NAK_SEQUENCE = 0x60,
    EM_NAK_INVALID_REQUEST = 0x61,
    EM_NAK_REMOTE_ACCESS = 0x62,
    EM_NAK_REMOTE_OPERATION = 0x63,
};
#define EM_SYNDROME_KIND 0xe0u

struct em_packet {
    uint16_t slid, dlid;
    uint8_t sl;
    bool has_grh;
    uint8_t hop_limit, traffic_class;
    uint32_t flow_label; /* 20 bits */
    union ibv_gid sgid, dgid;

    uint8_t opcode; /* enum of infiniband/opcode.h */
    bool solicited;
    bool mig_req; /* the sender is in path migration state MIGRATED */
    bool ack_req;
    uint16_t pkey;
    uint32_t dest_qpn, psn; /* 24 bits */

    /* Of the extended headers, those that the opcode has. */
    uint32_t qkey, src_qpn; /* DETH */
    uint64_t remote_addr;   /* RETH */
    uint32_t rkey, dma_len; /* RETH */
    uint8_t syndrome;       /* AETH */
    uint32_t msn;           /* AETH, 24 bits */
    __be32 imm_data;        /* ImmDt */

    const uint8_t *payload; /* decoded packets: into the datagram */
    uint32_t len;           /* bytes of payload */
};

/* What extended headers and positions an opcode means. */
enum {
    EM_OP_KNOWN = 1,
    EM_OP_RETH = 2,
    EM_OP_AETH = 4,
    EM_OP_IMM = 8,
    EM_OP_DETH = 16,
    EM_OP_PAYLOAD = 32,
    EM_OP_START = 64, /* first or only packet of a message */
    EM_OP_END = 128,  /* last or only */
    EM_OP_WRITE = 256,
    EM_OP_RESPONSE = 512,
};

/* The EM_OP_* of an opcode; 0 for one that is not emulated. */
unsigned em_opcode_flags(uint8_t opcode);

/* Writes the headers of `p` to `to`, which has room for EM_HEADERS_MAX: the number of bytes. */
size_t em_packet_encode(const struct em_packet *p, uint8_t *to);

/* Reads a datagram; false if it is no packet, or of an opcode that is not emulated. `p->payload`
 * points into `from`. */
bool em_packet_decode(struct em_packet *p, const uint8_t *from, size_t len);

/* Writes the GRH of `p`, or where it has none what a receiver shows in its place (zeros). */
void em_grh_encode(const struct em_packet *p, uint8_t to[EM_GRH_BYTES]);

#endif /* HWMC_TEST_LAB_IBEMU_WIRE_H_INCLUDED */
