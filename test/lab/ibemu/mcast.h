/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Multicast groups: who is attached, and whether the port is a member of the group in the subnet. A
 * port that is no member gets no packets, however many QPs are attached.
 */
#ifndef HWMC_TEST_LAB_IBEMU_MCAST_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_MCAST_H_INCLUDED

#include "hca.h"

struct em_group {
    LIST_ENTRY(em_group) link;
    union ibv_gid mgid;
    uint16_t mlid;
    int joins[EM_PORTS_MAX]; /* memberships of each port */
    struct em_qp **qps;      /* attached */
    int num_qps;
};

/* Makes a port a member of a group, one time more, or less. Returns 0 or an errno. */
int em_group_join(struct em_hca *hca, int port_num, const union ibv_gid *mgid);
int em_group_leave(struct em_hca *hca, int port_num, const union ibv_gid *mgid);

/* Hands a multicast packet to the QPs attached on the port that it came in by. */
void em_group_receive(struct em_hca *hca, const struct em_port *port, const struct em_packet *p);

#endif /* HWMC_TEST_LAB_IBEMU_MCAST_H_INCLUDED */
