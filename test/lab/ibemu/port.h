/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A port of the HCA: one network interface, its LIDs and GID, and how packets leave. There is no
 * subnet manager: LIDs follow from the interface's IPv4 address a.b.c.H, of which a.b.c names the
 * subnet. Port n of host H has the 2^LMC LIDs from (2 * H + n - 1) << LMC.
 */
#ifndef HWMC_TEST_LAB_IBEMU_PORT_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_PORT_H_INCLUDED

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include "wire.h"

#define EM_PORTS_MAX 2
#define EM_LMC_MAX 6 /* 2 * 254 + 1 << 6 is the last that is still below the multicast LIDs */
#define EM_CUTS_MAX 16
#define EM_PKEYS 1
#define EM_GIDS 1

/* What an HCA stands on: where its ports' packets go, and the time. */
struct em_wire {
    /* Sends a packet with the payload of `n` pieces. False: no room for now; the same packet is
     * offered again later. A packet that the port cannot send at all is lost, and this is true. */
    bool (*send)(void *arg, int port_num, const struct em_packet *p, const struct iovec *iov,
                 int n);
    /* Joins or leaves the group of a MLID. Returns 0 or an errno. */
    int (*member)(void *arg, int port_num, uint16_t mlid, bool join);
    /* A timer of the HCA is due at `at` (ns): whoever drives it may have to be told. */
    void (*timer)(void *arg, uint64_t at);
    /* Nanoseconds of a clock that goes on. */
    uint64_t (*now)(void *arg);
    void *arg;
};

struct em_port {
    int num;             /* 1..EM_PORTS_MAX */
    char name[IFNAMSIZ]; /* of the interface */
    unsigned ifindex;
    unsigned owner; /* index of the interface that programs know the port by: this one or another */
    uint32_t addr;  /* host byte order */
    uint8_t lmc;    /* 0..EM_LMC_MAX */
    uint16_t lid;   /* the first of 1 << lmc */
    union ibv_gid gid;
    enum ibv_mtu mtu; /* active */
    bool up;          /* false: nothing is sent or received */
    bool cut;         /* by the fault knob: as if the cable swallowed everything; still up */
};

/* What tests do to the network: percentage of packets lost, LIDs that lead nowhere. */
struct em_faults {
    unsigned drop; /* per mille of packets, 0..1000 */
    uint64_t seed; /* state of the generator */
    uint16_t cut_lids[EM_CUTS_MAX];
    int num_cut_lids;
};

/* How the subnet administrator answers those who join a multicast group. */
struct em_joins {
    unsigned delay_ms;
    bool refused;
};

/* Reads "refuse", "delay:" and milliseconds, or "grant". False: it is none of them. */
bool em_joins_parse(struct em_joins *joins, const char *text);

/* Sets LIDs and GID from num, addr and lmc. */
void em_port_assign(struct em_port *port);

/* The IPv4 address (host byte order) behind a unicast LID in this port's subnet; 0 if there is
 * none. */
uint32_t em_port_addr_of_lid(const struct em_port *port, uint16_t lid);

/* Whether a LID is one of the port's. */
bool em_port_has_lid(const struct em_port *port, uint16_t lid);

/* The subnet of an address: its upper 24 bits. */
static inline uint32_t em_subnet(uint32_t addr)
{
    return addr >> 8;
}

static inline uint32_t em_mtu_bytes(enum ibv_mtu mtu)
{
    return 128u << mtu;
}

/* Whether the faults swallow a packet on its way out or in. */
bool em_faults_lose(struct em_faults *f, const struct em_packet *p);

/* Marks a LID as leading nowhere, or no longer. Returns 0 or ENOSPC. */
int em_faults_cut_lid(struct em_faults *f, uint16_t lid, bool cut);

/* The MLID of a multicast group: what a subnet administrator would have assigned. Groups may share
 * one. */
uint16_t em_mlid_of(const union ibv_gid *mgid);

#endif /* HWMC_TEST_LAB_IBEMU_PORT_H_INCLUDED */
