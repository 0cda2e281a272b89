/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The network below an HCA: UDP sockets on the ports' interfaces, and the state of the interfaces.
 */
#ifndef HWMC_TEST_LAB_IBEMU_NET_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_NET_H_INCLUDED

#include "hca.h"

#define EM_NET_GROUP_SOCKETS 8 /* of a port; the kernel allows each some 20 groups */

/* A socket in the epoll set. */
struct em_socket {
    int fd;   /* -1: not open */
    int port; /* number of the port; 0: news */
};

/* An IP group: members of the MLID on this port. */
struct em_membership {
    uint16_t mlid;
    int port, socket; /* index into groups[port - 1] */
    int refs;
};

struct em_net {
    struct em_hca *hca;
    uint16_t udp_port; /* of multicast; unicast: plus the slot */
    int epoll;
    struct em_socket unicast[EM_PORTS_MAX];
    struct em_socket groups[EM_PORTS_MAX][EM_NET_GROUP_SOCKETS];
    struct em_socket links;
    struct em_socket control;
    const char *control_path;
    struct em_membership *members;
    int num_members;
    uint8_t *buffers; /* for a batch of datagrams */
};

/* Opens the sockets, and takes the first free slot of the host for hca->slot. Returns 0 or an
 * errno. */
int em_net_open(struct em_net *net, struct em_hca *hca, uint16_t udp_port, const char *control);
void em_net_close(struct em_net *net);

/* Hands what has come to the HCA, without waiting. True if anything had. */
bool em_net_receive(struct em_net *net);

/* The wire of port.h; the argument is the HCA that was opened. */
bool em_net_send(void *hca, int port_num, const struct em_packet *p, const struct iovec *iov,
                 int n);
int em_net_member(void *hca, int port_num, uint16_t mlid, bool join);

/* Looks at the interfaces: link.c. */
int em_link_open(int *fd);
void em_link_drain(int fd);
bool em_link_is_up(const char *name);

#endif /* HWMC_TEST_LAB_IBEMU_NET_H_INCLUDED */
