/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Identifiers and event channels of librdmacm.
 */
#include "cm.h"
#include "device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <endian.h>
#include <stdlib.h>

static pthread_cond_t acked = PTHREAD_COND_INITIALIZER;
static struct ibv_context *shared; /* the context of all identifiers, open till the process ends */
static struct ibv_pd *shared_pd;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static int fail(int e)
{
    errno = e;
    return -1;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct em_cm_channel *c;
    int e;

    if (em_device_hca() == NULL)
        return NULL;
    c = calloc(1, sizeof(*c));
    if (c == NULL)
        return NULL;
    e = em_fdqueue_init(&c->queue);
    if (e != 0) {
        free(c);
        errno = e;
        return NULL;
    }
    c->ibv.fd = c->queue.fd;
    return &c->ibv;
}

void rdma_destroy_event_channel(struct rdma_event_channel *ibv)
{
    struct em_cm_channel *c = (struct em_cm_channel *) ibv;

    em_fdqueue_fini(&c->queue);
    free(c);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                   enum rdma_port_space ps)
{
    struct em_id *i;

    /* Without a channel the calls would block: not emulated. */
    if (channel == NULL)
        return fail(EOPNOTSUPP);
    i = calloc(1, sizeof(*i));
    if (i == NULL)
        return -1;
    i->ibv.channel = channel;
    i->ibv.context = context;
    i->ibv.ps = ps;
    i->ibv.qp_type = ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
    LIST_INIT(&i->joins);
    *id = &i->ibv;
    return 0;
}

static bool is_of_id(const struct em_item *item, const void *id)
{
    return ((const struct em_cm_event *) item)->event.id == id;
}

void em_cm_wait_acked(const int *unacked)
{
    while (*unacked > 0)
        pthread_cond_wait(&acked, &em_device_hca()->lock);
}

int rdma_destroy_id(struct rdma_cm_id *ibv)
{
    struct em_id *id = (struct em_id *) ibv;
    struct em_hca *hca = em_device_hca();
    struct em_join *join;

    pthread_mutex_lock(&hca->lock);
    while ((join = LIST_FIRST(&id->joins)) != NULL)
        em_join_end(join);
    em_fdqueue_purge(&((struct em_cm_channel *) ibv->channel)->queue, is_of_id, ibv);
    em_cm_wait_acked(&id->unacked);
    pthread_mutex_unlock(&hca->lock);
    free(id);
    return 0;
}

void em_cm_raise(struct em_id *id, enum rdma_cm_event_type type, int status, struct em_join *join)
{
    struct em_cm_event *e = calloc(1, sizeof(*e));

    if (e == NULL)
        return;
    e->event.id = &id->ibv;
    e->event.event = type;
    e->event.status = status;
    e->join = join;
    em_fdqueue_push(&((struct em_cm_channel *) id->ibv.channel)->queue, &e->item);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
    struct em_hca *hca = em_device_hca();
    struct em_cm_event *e;

    pthread_mutex_lock(&hca->lock);
    e = (struct em_cm_event *) em_fdqueue_wait(&((struct em_cm_channel *) channel)->queue,
                                               &hca->lock);
    if (e != NULL) {
        ((struct em_id *) e->event.id)->unacked++;
        if (e->join != NULL)
            em_join_fetched(e->join, &e->event);
    }
    pthread_mutex_unlock(&hca->lock);
    if (e == NULL)
        return -1;
    *event = &e->event;
    return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    struct em_cm_event *e =
        (struct em_cm_event *) ((char *) event - offsetof(struct em_cm_event, event));
    struct em_hca *hca = em_device_hca();

    pthread_mutex_lock(&hca->lock);
    ((struct em_id *) event->id)->unacked--;
    if (e->join != NULL)
        e->join->unacked--;
    pthread_cond_broadcast(&acked);
    pthread_mutex_unlock(&hca->lock);
    free(e);
    return 0;
}

/* The context that identifiers share; opened by the first. */
static struct ibv_context *open_shared(void)
{
    pthread_mutex_lock(&shared_lock);
    if (shared == NULL)
        shared = ibv_open_device(em_device_get());
    if (shared != NULL && shared_pd == NULL)
        shared_pd = ibv_alloc_pd(shared);
    pthread_mutex_unlock(&shared_lock);
    return shared;
}

static int bind_to_port(struct rdma_cm_id *id, const struct em_port *port)
{
    struct rdma_addr *addr = &id->route.addr;

    id->verbs = open_shared();
    if (id->verbs == NULL)
        return -1;
    id->port_num = (uint8_t) port->num;
    id->pd = shared_pd;
    addr->src_sin.sin_family = AF_INET;
    addr->src_sin.sin_addr.s_addr = htonl(port->addr);
    addr->addr.ibaddr.sgid = port->gid;
    addr->addr.ibaddr.pkey = htobe16(EM_PKEY_DEFAULT);
    return 0;
}

/* The port of an address, or of the subnet of one. */
static const struct em_port *port_of(struct em_hca *hca, uint32_t addr, bool subnet)
{
    for (int num = 1; num <= hca->num_ports; num++) {
        const struct em_port *port = em_hca_port(hca, num);

        if (port->addr == addr || (subnet && em_subnet(port->addr) == em_subnet(addr)))
            return port;
    }
    return NULL;
}

/* By an IPv6 address of the link, whose scope names the interface. */
static int bind_to_link(struct rdma_cm_id *id, const struct sockaddr_in6 *addr)
{
    struct em_hca *hca = em_device_hca();

    for (int num = 1; num <= hca->num_ports; num++) {
        const struct em_port *port = em_hca_port(hca, num);

        if (IN6_IS_ADDR_LINKLOCAL(&addr->sin6_addr) && port->owner == addr->sin6_scope_id)
            return bind_to_port(id, port);
    }
    return fail(ENODEV);
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *) addr;
    const struct em_port *port;

    if (addr->sa_family == AF_INET6)
        return bind_to_link(id, (const struct sockaddr_in6 *) addr);
    if (addr->sa_family != AF_INET)
        return fail(EAFNOSUPPORT);
    id->route.addr.src_sin = *in;
    if (in->sin_addr.s_addr == htonl(INADDR_ANY))
        return 0;
    port = port_of(em_device_hca(), ntohl(in->sin_addr.s_addr), false);
    return port == NULL ? fail(ENODEV) : bind_to_port(id, port);
}

static bool is_multicast(const struct sockaddr *addr)
{
    if (addr->sa_family == AF_INET)
        return IN_MULTICAST(ntohl(((const struct sockaddr_in *) addr)->sin_addr.s_addr));
    return addr->sa_family == AF_INET6 &&
           ((const struct sockaddr_in6 *) addr)->sin6_addr.s6_addr[0] == 0xff;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst,
                      int timeout_ms)
{
    struct em_hca *hca = em_device_hca();
    const struct em_port *port;
    int e = 0;

    (void) timeout_ms; /* the answer is there at once */
    if (dst->sa_family != AF_INET && dst->sa_family != AF_INET6)
        return fail(EAFNOSUPPORT);
    if (src != NULL && rdma_bind_addr(id, src) != 0)
        return -1;
    memcpy(&id->route.addr.dst_storage, dst,
           dst->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
    if (id->verbs == NULL) {
        port = is_multicast(dst) ? em_hca_port(hca, 1)
               : dst->sa_family == AF_INET
                   ? port_of(hca, ntohl(((struct sockaddr_in *) dst)->sin_addr.s_addr), true)
                   : NULL;
        e = port == NULL ? -ENETUNREACH : bind_to_port(id, port) == 0 ? 0 : -errno;
    }
    pthread_mutex_lock(&hca->lock);
    em_cm_raise((struct em_id *) id,
                e == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR, e, NULL);
    pthread_mutex_unlock(&hca->lock);
    return 0;
}

static int start_qp(const struct rdma_cm_id *id, struct ibv_qp *qp)
{
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_INIT, .port_num = id->port_num, .qkey = RDMA_UDP_QKEY};
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, e;

    if (qp->qp_type != IBV_QPT_UD)
        return ibv_modify_qp(qp, &a, mask | IBV_QP_ACCESS_FLAGS);
    e = ibv_modify_qp(qp, &a, mask | IBV_QP_QKEY);
    a.qp_state = IBV_QPS_RTR;
    if (e == 0)
        e = ibv_modify_qp(qp, &a, IBV_QP_STATE);
    a.qp_state = IBV_QPS_RTS;
    if (e == 0)
        e = ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
    return e;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct ibv_qp *qp;
    int e;

    if (id->verbs == NULL)
        return fail(EINVAL);
    if (pd == NULL)
        pd = id->pd;
    qp = ibv_create_qp(pd, init);
    if (qp == NULL)
        return -1;
    e = start_qp(id, qp);
    if (e != 0) {
        ibv_destroy_qp(qp);
        return fail(e);
    }
    id->qp = qp;
    id->pd = pd;
    return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
    ibv_destroy_qp(id->qp);
    id->qp = NULL;
}

struct ibv_context **rdma_get_devices(int *num)
{
    struct ibv_context **list;

    if (num != NULL)
        *num = 0;
    if (em_device_hca() == NULL || open_shared() == NULL)
        return NULL;
    list = calloc(2, sizeof(struct ibv_context *));
    if (list == NULL)
        return NULL;
    list[0] = shared;
    if (num != NULL)
        *num = 1;
    return list;
}

void rdma_free_devices(struct ibv_context **list)
{
    free(list);
}
