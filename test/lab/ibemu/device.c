/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The device: found, opened, closed and asked what it can do.
 */
#include "device.h"
#include "engine.h"
#include "qp.h"

#include <errno.h>
#include <endian.h>
#include <stdlib.h>

/* Providers look behind the device for a table of theirs: they find zeros. */
struct device {
    struct ibv_device ibv;
    void *zeros[8];
};

static struct device device = {
    .ibv = {.node_type = IBV_NODE_CA,
            .transport_type = IBV_TRANSPORT_IB,
            .name = "ibemu0",
            .dev_name = "uverbs-ibemu0",
            .dev_path = "/nonexistent/ibemu0/uverbs",
            .ibdev_path = "/nonexistent/ibemu0"},
};

static struct em_hca hca;
static struct em_config config;
static int config_error;
static pthread_once_t config_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER; /* one opens or closes at a time */

static void read_config(void)
{
    config_error = em_config_read(&config);
    if (config_error != 0)
        return;
    em_hca_init(&hca);
    hca.num_ports = config.num_ports;
    hca.faults.drop = config.drop;
    hca.faults.seed = config.seed;
    hca.joins = config.joins;
    for (int i = 0; i < config.num_ports; i++) {
        hca.ports[i] = config.ports[i];
        em_port_assign(&hca.ports[i]);
    }
    hca.guid = hca.ports[0].gid.global.interface_id;
    ((uint8_t *) &hca.guid)[3] = 0;
}

struct em_hca *em_device_hca(void)
{
    pthread_once(&config_once, read_config);
    errno = config_error;
    return config_error == 0 ? &hca : NULL;
}

struct ibv_device *em_device_get(void)
{
    return &device.ibv;
}

struct ibv_device **ibv_get_device_list(int *num)
{
    struct ibv_device **list;

    if (num != NULL)
        *num = 0;
    if (em_device_hca() == NULL)
        return NULL;
    list = calloc(2, sizeof(struct ibv_device *));
    if (list == NULL)
        return NULL;
    list[0] = &device.ibv;
    if (num != NULL)
        *num = 1;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *d)
{
    return d->name;
}

int ibv_get_device_index(struct ibv_device *d)
{
    (void) d;
    return -1;
}

__be64 ibv_get_device_guid(struct ibv_device *d)
{
    (void) d;
    return em_device_hca() != NULL ? hca.guid : 0;
}

static int query_port(struct ibv_context *context, uint8_t num, struct ibv_port_attr *attr,
                      size_t len)
{
    struct em_hca *h = em_context_of(context)->hca;
    const struct em_port *port = em_hca_port(h, num);
    struct ibv_port_attr a = {0};

    if (port == NULL)
        return EINVAL;
    pthread_mutex_lock(&h->lock);
    a.state = port->up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
    a.phys_state = port->up ? 5 : 2; /* LinkUp, Polling */
    pthread_mutex_unlock(&h->lock);
    a.max_mtu = IBV_MTU_4096;
    a.active_mtu = port->mtu;
    a.gid_tbl_len = EM_GIDS;
    a.port_cap_flags = IBV_PORT_AUTO_MIGR_SUP | IBV_PORT_CM_SUP | IBV_PORT_SYS_IMAGE_GUID_SUP;
    a.max_msg_sz = EM_MESSAGE_MAX;
    a.pkey_tbl_len = EM_PKEYS;
    a.lid = port->lid;
    a.lmc = port->lmc;
    a.sm_lid = 1;
    a.max_vl_num = 1;
    a.subnet_timeout = 18;
    a.active_width = 2; /* 4X */
    a.active_speed = 4; /* 10 Gbit/s a lane */
    a.link_layer = IBV_LINK_LAYER_INFINIBAND;
    memcpy(attr, &a, len < sizeof(a) ? len : sizeof(a));
    return 0;
}

/* What programs call that were built before struct ibv_port_attr grew. */
int ibv_query_port(struct ibv_context *context, uint8_t num, struct _compat_ibv_port_attr *attr)
{
    return query_port(context, num, (struct ibv_port_attr *) attr,
                      offsetof(struct ibv_port_attr, port_cap_flags2));
}

int em_context_init(struct em_context *ctx, struct em_hca *h)
{
    struct verbs_context *v = &ctx->verbs;
    int e = em_fdqueue_init(&ctx->async);

    if (e != 0)
        return e;
    ctx->hca = h;
    v->sz = sizeof(*v);
    v->query_port = query_port;
    v->context.device = &device.ibv;
    v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    v->context.cmd_fd = -1;
    v->context.async_fd = ctx->async.fd;
    v->context.num_comp_vectors = 1;
    v->context.ops.poll_cq = em_cq_poll;
    v->context.ops.req_notify_cq = em_cq_request_notify;
    v->context.ops.post_srq_recv = em_srq_post;
    v->context.ops.post_send = em_qp_post_send;
    v->context.ops.post_recv = em_qp_post_recv;
    pthread_mutex_init(&v->context.mutex, NULL);
    return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
    struct em_context *ctx;
    int e;

    if (d != &device.ibv || em_device_hca() == NULL) {
        errno = ENODEV;
        return NULL;
    }
    ctx = calloc(1, sizeof(*ctx));
    if (ctx == NULL)
        return NULL;
    e = em_context_init(ctx, &hca);
    if (e != 0)
        goto fail_context;
    pthread_mutex_lock(&open_lock);
    if (TAILQ_EMPTY(&hca.contexts))
        e = em_engine_start(&hca, config.udp_port, config.control);
    if (e == 0) {
        pthread_mutex_lock(&hca.lock);
        TAILQ_INSERT_TAIL(&hca.contexts, ctx, link);
        pthread_mutex_unlock(&hca.lock);
    }
    pthread_mutex_unlock(&open_lock);
    if (e != 0)
        goto fail_engine;
    return &ctx->verbs.context;

fail_engine:
    em_fdqueue_fini(&ctx->async);
fail_context:
    free(ctx);
    errno = e;
    return NULL;
}

int ibv_close_device(struct ibv_context *context)
{
    struct em_context *ctx = em_context_of(context);

    pthread_mutex_lock(&open_lock);
    pthread_mutex_lock(&hca.lock);
    TAILQ_REMOVE(&hca.contexts, ctx, link);
    pthread_mutex_unlock(&hca.lock);
    if (TAILQ_EMPTY(&hca.contexts))
        em_engine_stop(&hca);
    pthread_mutex_unlock(&open_lock);
    em_fdqueue_fini(&ctx->async);
    free(ctx);
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *a)
{
    const struct em_hca *h = em_context_of(context)->hca;

    *a = (struct ibv_device_attr){
        .fw_ver = "0.0.0",
        .node_guid = h->guid,
        .sys_image_guid = h->guid,
        .max_mr_size = UINT64_MAX,
        .page_size_cap = 0xfffff000u,
        .vendor_id = 0x021be0,
        .max_qp = EM_QPS_MAX,
        .max_qp_wr = EM_WR_MAX,
        .device_cap_flags = IBV_DEVICE_AUTO_PATH_MIG | IBV_DEVICE_CURR_QP_STATE_MOD |
                            IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
                            IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_CHANGE_PHY_PORT |
                            IBV_DEVICE_UD_AV_PORT_ENFORCE,
        .max_sge = EM_SGE_MAX,
        .max_sge_rd = EM_SGE_MAX,
        .max_cq = 65536,
        .max_cqe = EM_CQE_MAX,
        .max_mr = EM_MRS_MAX - 1,
        .max_pd = 65536,
        .max_qp_rd_atom = EM_READS_MAX,
        .max_res_rd_atom = EM_READS_MAX * EM_QPS_MAX,
        .max_qp_init_rd_atom = EM_READS_MAX,
        .atomic_cap = IBV_ATOMIC_NONE,
        .max_mcast_grp = 8192,
        .max_mcast_qp_attach = EM_QPS_MAX,
        .max_total_mcast_qp_attach = 1 << 20,
        .max_ah = 65536,
        .max_srq = 65536,
        .max_srq_wr = EM_WR_MAX,
        .max_srq_sge = EM_SGE_MAX,
        .max_pkeys = EM_PKEYS,
        .local_ca_ack_delay = 15,
        .phys_port_cnt = (uint8_t) h->num_ports,
    };
    return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t num, int index, union ibv_gid *gid)
{
    const struct em_port *port = em_hca_port(em_context_of(context)->hca, num);

    if (port == NULL || index < 0 || index >= EM_GIDS) {
        errno = EINVAL;
        return -1;
    }
    *gid = port->gid;
    return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t num, uint32_t index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
    const struct em_port *port = em_hca_port(em_context_of(context)->hca, (int) num);
    struct ibv_gid_entry e;

    if (flags != 0 || size < sizeof(e))
        return EINVAL;
    if (port == NULL || index >= EM_GIDS)
        return EINVAL;
    e = (struct ibv_gid_entry){port->gid, index, num, IBV_GID_TYPE_IB, 0};
    memcpy(entry, &e, sizeof(e));
    return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
                             uint32_t flags, size_t size)
{
    int ports = em_context_of(context)->hca->num_ports;
    ssize_t n = 0;

    if (flags != 0 || size < sizeof(*entries) || max < (size_t) ports * EM_GIDS)
        return -EINVAL;
    for (int num = 1; num <= ports; num++)
        if (_ibv_query_gid_ex(context, (uint32_t) num, 0,
                              (struct ibv_gid_entry *) ((char *) entries + (size_t) n * size), 0,
                              size) == 0)
            n++;
    return n;
}

/* Of ibv_devinfo: 0 is a GID of InfiniBand. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t num, unsigned index, int *type)
{
    (void) context;
    (void) num;
    (void) index;
    *type = 0;
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t num, int index, __be16 *pkey)
{
    if (em_hca_port(em_context_of(context)->hca, num) == NULL || index < 0 || index >= EM_PKEYS) {
        errno = EINVAL;
        return -1;
    }
    *pkey = htobe16(EM_PKEY_DEFAULT);
    return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t num, __be16 pkey)
{
    if (em_hca_port(em_context_of(context)->hca, num) == NULL ||
        (be16toh(pkey) & 0x7fffu) != (EM_PKEY_DEFAULT & 0x7fffu)) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}
