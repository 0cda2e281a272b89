/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_members: see verbs_members.h.
 *
 * librdmacm frees what it keeps of a join when the group is left, and waits there for events that
 * were read and not acknowledged; so an event is acknowledged before anything else is done about
 * it.
 */
#include "verbs_members.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "../base/random.h"
#include "verbs_address.h"

static struct hwmc_verbs_member *find_member(const struct hwmc_verbs_members *m, uint64_t group)
{
    struct hwmc_verbs_member *one = m->list;

    while (one != NULL && one->group != group)
        one = one->next;
    return one;
}

/* How librdmacm calls the group. InfiniBand: by the MGID itself; the kernel takes an address of
 * family AF_IB as it is. */
static void name_group(const struct hwmc_verbs_members *m, uint64_t group,
                       union hwmc_verbs_sockaddr *addr)
{
    memset(addr, 0, sizeof(*addr));
    if (m->port->infiniband) {
        union ibv_gid gid;

        hwmc_verbs_mgid(m->key, group, &gid);
        addr->ib.sib_family = AF_IB;
        memcpy(addr->ib.sib_addr.sib_raw, gid.raw, sizeof(gid.raw));
    } else {
        addr->in.sin_family = AF_INET;
        addr->in.sin_addr.s_addr = htonl((uint32_t) group);
    }
}

static void ask_join(struct hwmc_verbs_members *m, struct hwmc_verbs_member *one, uint64_t now)
{
    one->asked = rdma_join_multicast(m->port->id, &one->addr.any, one) == 0;
    one->refused = one->answered = !one->asked;
    one->retry_at = one->asked ? UINT64_MAX : now + HWMC_VERBS_RETRY_NS;
}

static void withdraw_join(struct hwmc_verbs_members *m, struct hwmc_verbs_member *one)
{
    if (one->asked)
        rdma_leave_multicast(m->port->id, &one->addr.any);
    one->asked = false;
}

static void remove_member(struct hwmc_verbs_members *m, struct hwmc_verbs_member *one)
{
    struct hwmc_verbs_member **at = &m->list;

    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    withdraw_join(m, one);
    if (one->to != NULL)
        hwmc_verbs_send_retire(m->send, one->to);
    free(one);
}

/* The group is joined: false when it cannot be sent to. */
static bool on_joined(struct hwmc_verbs_members *m, struct hwmc_verbs_member *one,
                      const struct rdma_ud_param *ud)
{
    struct ibv_ah_attr attr = ud->ah_attr;
    struct hwmc_verbs_target *to = calloc(1, sizeof(*to));

    if (to == NULL)
        return false;
    to->qkey = ud->qkey;
    to->ah = ibv_create_ah(m->port->id->qp->pd, &attr);
    if (to->ah == NULL) {
        free(to);
        return false;
    }
    if (one->to != NULL)
        hwmc_verbs_send_retire(m->send, one->to);
    one->to = to;
    one->gid = attr.grh.dgid;
    return true;
}

static void on_event(struct hwmc_verbs_members *m, const struct rdma_cm_event *e, uint64_t now)
{
    /* What was given to rdma_join_multicast comes back const. */
    struct hwmc_verbs_member *one = (void *) (uintptr_t) e->param.ud.private_data;

    switch (e->event) {
        case RDMA_CM_EVENT_MULTICAST_JOIN:
        case RDMA_CM_EVENT_MULTICAST_ERROR:
            one->answered = true;
            one->refused =
                e->event != RDMA_CM_EVENT_MULTICAST_JOIN || !on_joined(m, one, &e->param.ud);
            if (one->refused)
                one->retry_at = now + HWMC_VERBS_RETRY_NS;
            break;
        case RDMA_CM_EVENT_DEVICE_REMOVAL:
            m->gone = true;
            break;
        default:
            break;
    }
}

static void take_events(struct hwmc_verbs_members *m, uint64_t now)
{
    struct rdma_cm_event *e;

    while (rdma_get_cm_event(m->port->channel, &e) == 0) {
        on_event(m, e, now);
        rdma_ack_cm_event(e);
    }
}

int hwmc_verbs_members_join(struct hwmc_verbs_members *m, uint64_t group, uint64_t now)
{
    struct hwmc_verbs_member *one = find_member(m, group);

    if (!m->port->infiniband && !hwmc_random_is_ipv4(group, m->udp_port))
        return HWMC_ERR_GROUP;
    if (one == NULL) {
        one = calloc(1, sizeof(*one));
        if (one == NULL)
            return HWMC_ERR_LIMIT;
        one->group = group;
        name_group(m, group, &one->addr);
        one->next = m->list;
        m->list = one;
        ask_join(m, one, now);
    }
    take_events(m, now);
    if (one->to != NULL) {
        one->refs++;
        return HWMC_OK;
    }
    if (!one->refused)
        return HWMC_AGAIN;
    remove_member(m, one);
    return HWMC_ERR_GROUP;
}

int hwmc_verbs_members_leave(struct hwmc_verbs_members *m, uint64_t group)
{
    struct hwmc_verbs_member *one = find_member(m, group);

    if (one == NULL)
        return HWMC_ERR_GROUP;
    if (one->refs > 0)
        one->refs--;
    if (one->refs == 0)
        remove_member(m, one);
    return HWMC_OK;
}

void hwmc_verbs_members_progress(struct hwmc_verbs_members *m, uint64_t now)
{
    take_events(m, now);
    for (struct hwmc_verbs_member *one = m->list; one != NULL; one = one->next) {
        if (one->refs == 0 || one->retry_at > now)
            continue;
        withdraw_join(m, one);
        ask_join(m, one, now);
    }
}

bool hwmc_verbs_members_pending(const struct hwmc_verbs_members *m)
{
    for (const struct hwmc_verbs_member *one = m->list; one != NULL; one = one->next)
        if (!one->answered || (one->refs > 0 && one->retry_at != UINT64_MAX))
            return true;
    return false;
}

void hwmc_verbs_members_renew(struct hwmc_verbs_members *m, uint64_t now)
{
    take_events(m, now);
    for (struct hwmc_verbs_member *one = m->list; one != NULL; one = one->next) {
        withdraw_join(m, one);
        ask_join(m, one, now);
    }
}

uint64_t hwmc_verbs_members_deadline(const struct hwmc_verbs_members *m)
{
    uint64_t first = UINT64_MAX;

    for (const struct hwmc_verbs_member *one = m->list; one != NULL; one = one->next) {
        if (one->refs == 0 && one->answered)
            return 0;
        if (one->refs > 0 && one->retry_at < first)
            first = one->retry_at;
    }
    return first;
}

const struct hwmc_verbs_target *hwmc_verbs_members_target(const struct hwmc_verbs_members *m,
                                                          uint64_t group)
{
    const struct hwmc_verbs_member *one = find_member(m, group);

    return one != NULL && one->refs > 0 ? one->to : NULL;
}

bool hwmc_verbs_members_have(const struct hwmc_verbs_members *m, const union ibv_gid *gid)
{
    for (const struct hwmc_verbs_member *one = m->list; one != NULL; one = one->next)
        if (one->refs > 0 && hwmc_verbs_gid_equal(&one->gid, gid))
            return true;
    return false;
}

void hwmc_verbs_members_withdraw(struct hwmc_verbs_members *m)
{
    for (struct hwmc_verbs_member *one = m->list; one != NULL; one = one->next)
        withdraw_join(m, one);
}

void hwmc_verbs_members_close(struct hwmc_verbs_members *m)
{
    while (m->list != NULL)
        remove_member(m, m->list);
}
