/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Entry points of both libraries that programs may link against and that are not emulated: they
 * fail with EOPNOTSUPP. Some have nothing to do here, and succeed.
 */
#include "device.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

/* Of libmlx5 and its like, whose devices there are none of. */
void verbs_register_driver_34(const void *ops);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
const char *ibv_get_sysfs_path(void);

void verbs_register_driver_34(const void *ops)
{
    (void) ops;
}

/* There is nothing of the device in sysfs. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
    (void) dir;
    (void) file;
    (void) buf;
    (void) size;
    errno = ENOENT;
    return -1;
}

const char *ibv_get_sysfs_path(void)
{
    return "/sys";
}

/* Memory is never pinned, so that a fork does it no harm. */
int ibv_fork_init(void)
{
    return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    (void) qp;
    return NULL;
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    (void) qp;
    (void) op;
    (void) flags;
    return 0;
}

static void *no_object(void)
{
    errno = EOPNOTSUPP;
    return NULL;
}

static int no_cm(void)
{
    errno = EOPNOTSUPP;
    return -1;
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
                 int access)
{
    (void) mr;
    (void) flags;
    (void) pd;
    (void) addr;
    (void) length;
    (void) access;
    errno = EOPNOTSUPP;
    return IBV_REREG_MR_ERR_INPUT;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
                                 int fd, int access)
{
    (void) pd;
    (void) offset;
    (void) length;
    (void) iova;
    (void) fd;
    (void) access;
    return no_object();
}

struct ibv_context *ibv_import_device(int fd)
{
    (void) fd;
    return no_object();
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void) qp;
    (void) ece;
    return EOPNOTSUPP;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void) qp;
    (void) ece;
    return EOPNOTSUPP;
}

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
                                uint8_t mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
    (void) context;
    (void) attr;
    (void) mac;
    (void) vid;
    errno = EOPNOTSUPP;
    return -1;
}

int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
                   struct ibv_qp_init_attr *init)
{
    (void) id;
    (void) res;
    (void) pd;
    (void) init;
    return no_cm();
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *init)
{
    if (init->comp_mask & ~(uint32_t) IBV_QP_INIT_ATTR_PD)
        return no_cm();
    return rdma_create_qp(id, init->comp_mask != 0 ? init->pd : NULL,
                          (struct ibv_qp_init_attr *) init);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
    (void) id;
    (void) timeout_ms;
    return no_cm();
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    (void) id;
    (void) param;
    return no_cm();
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    (void) id;
    (void) backlog;
    return no_cm();
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    (void) id;
    (void) param;
    return no_cm();
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
    (void) id;
    (void) data;
    (void) len;
    return no_cm();
}

int rdma_disconnect(struct rdma_cm_id *id)
{
    (void) id;
    return no_cm();
}

int rdma_establish(struct rdma_cm_id *id)
{
    (void) id;
    return no_cm();
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
    (void) id;
    (void) event;
    return no_cm();
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
    (void) id;
    (void) channel;
    return no_cm();
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t len)
{
    (void) id;
    (void) level;
    (void) name;
    (void) value;
    (void) len;
    return no_cm();
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    (void) id;
    (void) attr;
    (void) mask;
    return no_cm();
}

int rsocket(int domain, int type, int protocol)
{
    (void) domain;
    (void) type;
    (void) protocol;
    return no_cm();
}

/* Without sockets of librdmacm, all descriptors are the system's. */
int rpoll(struct pollfd *fds, nfds_t num, int timeout)
{
    return poll(fds, num, timeout);
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
    return id->route.addr.src_sin.sin_port;
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
    return id->route.addr.dst_sin.sin_port;
}
