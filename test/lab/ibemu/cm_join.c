/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Joining multicast groups: the subnet administrator's part is played by IBEMU_JOIN, which may have
 * it take its time or refuse.
 */
#include "cm.h"
#include "device.h"
#include "engine.h"
#include "mcast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <stdlib.h>

#define QKEY_IPOIB 0x0b1bu

/* The group of an address. IPv4 as in RFC 4391, with another signature for RDMA_PS_UDP as in the
 * kernel's rdma_cm; an IPv6 address is the MGID itself. */
static bool mgid_of(const struct sockaddr *addr, enum rdma_port_space ps, union ibv_gid *mgid)
{
    memset(mgid, 0, sizeof(*mgid));
    if (addr->sa_family == AF_INET) {
        uint32_t a = ntohl(((const struct sockaddr_in *) addr)->sin_addr.s_addr) & 0x0fffffffu;
        const uint8_t head[6] = {0xff, 0x12, 0x40, ps == RDMA_PS_UDP ? 0x01 : 0x1b, 0xff, 0xff};

        a = htonl(a);
        memcpy(mgid->raw, head, sizeof(head));
        memcpy(mgid->raw + 12, &a, 4);
        return true;
    }
    if (addr->sa_family == AF_INET6)
        memcpy(mgid->raw, &((const struct sockaddr_in6 *) addr)->sin6_addr, 16);
    else if (addr->sa_family == AF_IB)
        memcpy(mgid->raw, &((const struct sockaddr_ib *) addr)->sib_addr, 16);
    return mgid->raw[0] == 0xff;
}

static socklen_t length_of(const struct sockaddr *addr)
{
    return addr->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
           : addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                         : sizeof(struct sockaddr_ib);
}

/* The subnet administrator answers. */
static void finish(struct em_join *join)
{
    struct em_hca *hca = em_device_hca();
    int e = EACCES;

    join->due = EM_NEVER;
    if (!hca->joins.refused)
        e = em_group_join(hca, join->id->ibv.port_num, &join->mgid);
    join->member = e == 0;
    em_cm_raise(join->id, e == 0 ? RDMA_CM_EVENT_MULTICAST_JOIN : RDMA_CM_EVENT_MULTICAST_ERROR, -e,
                join);
}

/* Joins that wait for their answer: there are few, and none at most times. */
static LIST_HEAD(, em_waiting) waiting = LIST_HEAD_INITIALIZER(waiting);

struct em_waiting {
    LIST_ENTRY(em_waiting) link;
    struct em_join *join;
};

static int wait_for_answer(struct em_join *join)
{
    struct em_waiting *w = calloc(1, sizeof(*w));

    if (w == NULL)
        return ENOMEM;
    w->join = join;
    LIST_INSERT_HEAD(&waiting, w, link);
    em_engine_wake_at(em_device_hca(), join->due);
    return 0;
}

static void forget_waiting(const struct em_join *join)
{
    struct em_waiting *w, *next;

    for (w = LIST_FIRST(&waiting); w != NULL; w = next) {
        next = LIST_NEXT(w, link);
        if (w->join == join) {
            LIST_REMOVE(w, link);
            free(w);
        }
    }
}

uint64_t em_cm_run_timers(uint64_t now)
{
    struct em_waiting *w, *next;
    uint64_t at = EM_NEVER;

    for (w = LIST_FIRST(&waiting); w != NULL; w = next) {
        struct em_join *join = w->join;

        next = LIST_NEXT(w, link);
        if (join->due <= now) {
            LIST_REMOVE(w, link);
            free(w);
            finish(join);
        } else if (join->due < at) {
            at = join->due;
        }
    }
    return at;
}

static int join(struct em_id *id, const struct sockaddr *addr, void *context)
{
    struct em_hca *hca = em_device_hca();
    struct em_join *j = calloc(1, sizeof(*j));
    int e = 0;

    if (j == NULL)
        return ENOMEM;
    j->id = id;
    j->context = context;
    j->addr_len = length_of(addr);
    memcpy(&j->addr, addr, j->addr_len);
    if (id->ibv.verbs == NULL || !mgid_of(addr, id->ibv.ps, &j->mgid)) {
        free(j);
        return EINVAL;
    }
    pthread_mutex_lock(&hca->lock);
    j->due = em_engine_now() + (uint64_t) hca->joins.delay_ms * 1000000u;
    if (hca->joins.delay_ms > 0)
        e = wait_for_answer(j);
    if (e == 0)
        LIST_INSERT_HEAD(&id->joins, j, link);
    if (e == 0 && hca->joins.delay_ms == 0)
        finish(j);
    pthread_mutex_unlock(&hca->lock);
    if (e != 0)
        free(j);
    return e;
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
    int e = join((struct em_id *) id, addr, context);

    errno = e;
    return e == 0 ? 0 : -1;
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr,
                           void *context)
{
    if (!(attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_ADDRESS) ||
        attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED ||
        attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) {
        errno = EINVAL;
        return -1;
    }
    if ((attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS) &&
        attr->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return rdma_join_multicast(id, attr->addr, context);
}

/* What is attached or detached is the QP of the identifier, as librdmacm does it. Called with the
 * lock held, which the verb takes itself. */
static int attach(struct em_join *j, bool on)
{
    struct em_hca *hca = em_device_hca();
    struct ibv_qp *qp = j->id->ibv.qp;
    int e;

    pthread_mutex_unlock(&hca->lock);
    e = (on ? ibv_attach_mcast : ibv_detach_mcast)(qp, &j->mgid, em_mlid_of(&j->mgid));
    pthread_mutex_lock(&hca->lock);
    return e;
}

void em_join_fetched(struct em_join *j, struct rdma_cm_event *event)
{
    const struct rdma_cm_id *id = &j->id->ibv;
    struct rdma_ud_param *ud = &event->param.ud;

    j->unacked++;
    ud->private_data = j->context;
    if (event->event != RDMA_CM_EVENT_MULTICAST_JOIN)
        return;
    ud->qp_num = EM_MULTICAST_QPN;
    ud->qkey = id->ps == RDMA_PS_IPOIB ? QKEY_IPOIB : RDMA_UDP_QKEY;
    ud->ah_attr = (struct ibv_ah_attr){.grh = {.dgid = j->mgid, .hop_limit = 1},
                                       .dlid = em_mlid_of(&j->mgid),
                                       .is_global = 1,
                                       .port_num = id->port_num};
    if (id->qp != NULL && !j->attached) {
        j->attached = attach(j, true) == 0;
        if (!j->attached) {
            event->event = RDMA_CM_EVENT_MULTICAST_ERROR;
            event->status = -ENOMEM;
        }
    }
}

static bool is_of_join(const struct em_item *item, const void *join)
{
    return ((const struct em_cm_event *) item)->join == join;
}

void em_join_end(struct em_join *j)
{
    struct em_hca *hca = em_device_hca();

    LIST_REMOVE(j, link);
    forget_waiting(j);
    if (j->attached && j->id->ibv.qp != NULL)
        attach(j, false);
    if (j->member)
        em_group_leave(hca, j->id->ibv.port_num, &j->mgid);
    em_fdqueue_purge(&((struct em_cm_channel *) j->id->ibv.channel)->queue, is_of_join, j);
    em_cm_wait_acked(&j->unacked);
    free(j);
}

int rdma_leave_multicast(struct rdma_cm_id *ibv, struct sockaddr *addr)
{
    struct em_id *id = (struct em_id *) ibv;
    struct em_hca *hca = em_device_hca();
    socklen_t len = length_of(addr);
    struct em_join *j;

    pthread_mutex_lock(&hca->lock);
    LIST_FOREACH(j, &id->joins, link)
    if (j->addr_len == len && memcmp(&j->addr, addr, len) == 0)
        break;
    if (j != NULL)
        em_join_end(j);
    pthread_mutex_unlock(&hca->lock);
    errno = EADDRNOTAVAIL;
    return j != NULL ? 0 : -1;
}
