/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Address handles.
 */
#include "device.h"
#include "qp.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    struct em_hca *hca = em_context_of(pd->context)->hca;
    const struct em_port *port = em_hca_port(hca, attr->port_num);
    struct em_ah *ah;

    if (port == NULL || attr->dlid == 0 || attr->src_path_bits >> port->lmc != 0 ||
        (attr->is_global && attr->grh.sgid_index >= EM_GIDS)) {
        errno = EINVAL;
        return NULL;
    }
    /* 9.8.1: a multicast packet has a GRH. */
    if (attr->dlid >= EM_MLID_FIRST && !attr->is_global) {
        errno = EINVAL;
        return NULL;
    }
    ah = calloc(1, sizeof(*ah));
    if (ah == NULL)
        return NULL;
    ah->ibv.context = pd->context;
    ah->ibv.pd = pd;
    ah->attr = *attr;
    pthread_mutex_lock(&hca->lock);
    ((struct em_pd *) pd)->users++;
    pthread_mutex_unlock(&hca->lock);
    return &ah->ibv;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    struct em_hca *hca = em_context_of(ah->context)->hca;

    pthread_mutex_lock(&hca->lock);
    ((struct em_pd *) ah->pd)->users--;
    pthread_mutex_unlock(&hca->lock);
    free(ah);
    return 0;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
                        struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
    (void) context;
    *attr = (struct ibv_ah_attr){
        .dlid = wc->slid, .sl = wc->sl, .src_path_bits = wc->dlid_path_bits, .port_num = port_num};
    if (wc->wc_flags & IBV_WC_GRH) {
        uint32_t first = be32toh(grh->version_tclass_flow);

        attr->is_global = 1;
        attr->grh.dgid = grh->sgid;
        attr->grh.hop_limit = 0xff;
        attr->grh.traffic_class = (uint8_t) (first >> 20);
        attr->grh.flow_label = first & 0xfffffu;
    }
    return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
                                     uint8_t port_num)
{
    struct ibv_ah_attr attr;

    ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr);
    return ibv_create_ah(pd, &attr);
}
