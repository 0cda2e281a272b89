/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_members: the multicast groups that the verbs fabric is in. librdmacm answers a join by an
 * event. The event has the address to send to, and the queue pair is attached then.
 *
 *   join: asked --event--> in --subnet manager lost the groups, or an error--> asked anew ... left
 *            \--error--> refused, told at the next join
 *
 * A member that joins anew stays in: datagrams are lost meanwhile. After an error it tries again
 * each HWMC_VERBS_RETRY_NS.
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_MEMBERS_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_MEMBERS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/ib.h>
#include <netinet/in.h>

#include "../verbs/port.h"
#include "verbs_send.h"

#define HWMC_VERBS_RETRY_NS UINT64_C(1000000000)

union hwmc_verbs_sockaddr {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_ib ib;
};

struct hwmc_verbs_member {
    struct hwmc_verbs_member *next;
    uint64_t group;
    int refs;      /* joins that answered OK; 0: the first is under way or refused */
    bool asked;    /* librdmacm knows the group: it is to be left */
    bool answered; /* the last time it was asked for */
    bool refused;  /* that answer was an error */
    union hwmc_verbs_sockaddr addr;
    struct hwmc_verbs_target *to; /* NULL until the first answer */
    union ibv_gid gid;            /* once `to` is there: the group's */
    uint64_t retry_at;            /* ns: when to ask again; UINT64_MAX: not */
};

struct hwmc_verbs_members {
    const struct hwmc_verbs_port *port; /* with a queue pair */
    struct hwmc_verbs_send *send;       /* gets the targets when they are not needed any more */
    uint64_t key;                       /* of the job */
    uint16_t udp_port;                  /* of the job; RoCE: in all group numbers */
    bool gone;                          /* the device was removed */
    struct hwmc_verbs_member *list;
};

/* As the slots of struct hwmc_fabric_ops. */
int hwmc_verbs_members_join(struct hwmc_verbs_members *m, uint64_t group, uint64_t now);
int hwmc_verbs_members_leave(struct hwmc_verbs_members *m, uint64_t group);

/* Takes the answers that came and asks again what is due. */
void hwmc_verbs_members_progress(struct hwmc_verbs_members *m, uint64_t now);

/* Something is asked for and not answered, or is to be asked again: progress is to be called. */
bool hwmc_verbs_members_pending(const struct hwmc_verbs_members *m);

/* Asks for all anew: the subnet manager may have forgotten them. */
void hwmc_verbs_members_renew(struct hwmc_verbs_members *m, uint64_t now);

/* When progress has something to ask: ns, UINT64_MAX: never; 0: join would answer now. */
uint64_t hwmc_verbs_members_deadline(const struct hwmc_verbs_members *m);

/* Where datagrams to `group` go; NULL: it is not joined. */
const struct hwmc_verbs_target *hwmc_verbs_members_target(const struct hwmc_verbs_members *m,
                                                          uint64_t group);

/* Whether datagrams to `gid` are for a joined group. */
bool hwmc_verbs_members_have(const struct hwmc_verbs_members *m, const union ibv_gid *gid);

/* Leaves all without forgetting where datagrams to them go, as the queue pair goes. */
void hwmc_verbs_members_withdraw(struct hwmc_verbs_members *m);

/* Leaves all. Before the queue pair goes. */
void hwmc_verbs_members_close(struct hwmc_verbs_members *m);

#endif /* HWMC_NETMOD_FABRIC_VERBS_MEMBERS_H_INCLUDED */
