/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * buffers: the registered memory of the rc lane. See rc_impl.h.
 *
 * Every connection adds RC_BUFFERS receive buffers to the shared queue, which stay when it goes:
 * the most connections there were at a time say how many there are. Buffers are named by number in
 * work requests, never by address, so that a completion that a device should not have made does no
 * harm.
 *
 * Fork: a child has none of this memory (verbs/pages). Of the program's memory, which bodies are
 * sent from, a child's pages are its own since Linux 5.12, also where it is registered. Before, a
 * program that forks calls ibv_fork_init first, as for anything of verbs.
 */
#include <stdlib.h>

#include "rc_impl.h"
#include "../../verbs/pages.h"

#define RECEIVED (UINT64_C(1) << 32) /* in the id of a request that receives */

int rc_buffers_open(struct hwmc_lane_rc *l)
{
    struct rc_buffers *b = &l->buffers;

    b->slab = calloc(l->max_conns, sizeof(uint8_t *));
    b->slab_mr = calloc(l->max_conns, sizeof(struct ibv_mr *));
    b->bounce = hwmc_pages_open(RC_BOUNCE * RC_FRAGMENT);
    if (b->slab == NULL || b->slab_mr == NULL || b->bounce == NULL)
        return HWMC_ERR_NOMEM;
    b->bounce_mr = ibv_reg_mr(l->pd, b->bounce, RC_BOUNCE * RC_FRAGMENT, 0);
    if (b->bounce_mr == NULL)
        return HWMC_ERR_LIMIT;
    for (uint32_t i = 0; i < RC_BOUNCE; i++)
        b->free_slot[i] = RC_BOUNCE - 1 - i;
    b->num_free = RC_BOUNCE;
    return HWMC_OK;
}

void rc_buffers_close(struct hwmc_lane_rc *l)
{
    struct rc_buffers *b = &l->buffers;

    for (uint32_t i = 0; i < b->num_slabs; i++) {
        ibv_dereg_mr(b->slab_mr[i]);
        hwmc_pages_close(b->slab[i], RC_BUFFERS * RC_FRAGMENT);
    }
    if (b->bounce_mr != NULL)
        ibv_dereg_mr(b->bounce_mr);
    hwmc_pages_close(b->bounce, RC_BOUNCE * RC_FRAGMENT);
    free(b->slab);
    free(b->slab_mr);
}

static int add_slab(struct hwmc_lane_rc *l)
{
    struct rc_buffers *b = &l->buffers;
    uint8_t *slab = hwmc_pages_open(RC_BUFFERS * RC_FRAGMENT);
    uint64_t ids[RC_BUFFERS];

    if (slab == NULL)
        return HWMC_ERR_NOMEM;
    b->slab_mr[b->num_slabs] =
        ibv_reg_mr(l->pd, slab, RC_BUFFERS * RC_FRAGMENT, IBV_ACCESS_LOCAL_WRITE);
    if (b->slab_mr[b->num_slabs] == NULL) {
        hwmc_pages_close(slab, RC_BUFFERS * RC_FRAGMENT);
        return HWMC_ERR_DEVICE;
    }
    b->slab[b->num_slabs] = slab;
    for (uint32_t i = 0; i < RC_BUFFERS; i++)
        ids[i] = RECEIVED | ((uint64_t) b->num_slabs * RC_BUFFERS + i);
    b->num_slabs++;
    rc_buffers_post(l, ids, (int) RC_BUFFERS);
    return HWMC_OK;
}

int rc_buffers_grow(struct hwmc_lane_rc *l, uint32_t conns)
{
    while (l->buffers.num_slabs < conns) {
        int err = add_slab(l);

        if (err != HWMC_OK)
            return err;
    }
    return HWMC_OK;
}

bool rc_buffers_is_received(const struct hwmc_lane_rc *l, uint64_t id)
{
    return (id & RECEIVED) != 0 && (id ^ RECEIVED) < (uint64_t) l->buffers.num_slabs * RC_BUFFERS;
}

uint8_t *rc_buffers_received(const struct hwmc_lane_rc *l, uint64_t id)
{
    uint64_t i = id ^ RECEIVED;

    return l->buffers.slab[i / RC_BUFFERS] + i % RC_BUFFERS * RC_FRAGMENT;
}

/* The device has room for all buffers, so it refuses none while it works at all. */
void rc_buffers_post(struct hwmc_lane_rc *l, const uint64_t *ids, int n)
{
    struct ibv_recv_wr wr[RC_BUFFERS], *bad;
    struct ibv_sge sge[RC_BUFFERS];

    if (n == 0)
        return;
    for (int i = 0; i < n; i++) {
        uint64_t slab = (ids[i] ^ RECEIVED) / RC_BUFFERS;

        sge[i] = (struct ibv_sge){.addr = (uintptr_t) rc_buffers_received(l, ids[i]),
                                  .length = RC_FRAGMENT,
                                  .lkey = l->buffers.slab_mr[slab]->lkey};
        wr[i] = (struct ibv_recv_wr){.wr_id = ids[i],
                                     .next = i + 1 < n ? &wr[i + 1] : NULL,
                                     .sg_list = &sge[i],
                                     .num_sge = 1};
    }
    if (ibv_post_srq_recv(l->srq, wr, &bad) != 0)
        rc_paths_lose(l);
}
