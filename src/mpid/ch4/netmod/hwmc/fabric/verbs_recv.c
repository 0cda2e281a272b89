/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_recv: see verbs_recv.h.
 */
#include "verbs_recv.h"
#include "../verbs/pages.h"

#include <stdlib.h>

#define POST_BATCH 16u /* so many idle slots, or half of all, are posted at once; fewer wait */

static void add_idle(struct hwmc_verbs_recv *r, struct ibv_recv_wr *wr)
{
    wr->next = r->idle;
    r->idle = wr;
    r->num_idle++;
}

int hwmc_verbs_recv_open(struct hwmc_verbs_recv *r, struct ibv_pd *pd, uint32_t num,
                         size_t max_datagram, uint32_t others)
{
    r->num = num;
    r->wc_most = (int) (2 * (num + others) + HWMC_VERBS_RECV_BATCH);
    r->wc = calloc((size_t) r->wc_most, sizeof(*r->wc));
    r->slot_bytes = hwmc_verbs_slot_bytes(max_datagram);
    r->data = hwmc_pages_open(num * r->slot_bytes);
    r->wr = calloc(num, sizeof(*r->wr));
    r->sge = calloc(num, sizeof(*r->sge));
    if (r->data == NULL || r->wr == NULL || r->sge == NULL || r->wc == NULL)
        return HWMC_ERR_NOMEM;
    r->mr = ibv_reg_mr(pd, r->data, num * r->slot_bytes, IBV_ACCESS_LOCAL_WRITE);
    if (r->mr == NULL)
        return HWMC_ERR_LIMIT;
    for (uint32_t i = 0; i < num; i++) {
        r->sge[i] = (struct ibv_sge){.addr = (uintptr_t) (r->data + i * r->slot_bytes),
                                     .length = (uint32_t) (HWMC_VERBS_GRH + max_datagram),
                                     .lkey = r->mr->lkey};
        r->wr[i] = (struct ibv_recv_wr){.wr_id = i, .sg_list = &r->sge[i], .num_sge = 1};
        add_idle(r, &r->wr[i]);
    }
    return HWMC_OK;
}

int hwmc_verbs_recv_post(struct hwmc_verbs_recv *r, bool all)
{
    struct ibv_recv_wr *posted = r->idle, *refused;

    if (r->num_idle == 0 || (!all && r->num_idle < POST_BATCH && 2 * r->num_idle < r->num))
        return HWMC_OK;
    r->idle = NULL;
    r->num_idle = 0;
    if (ibv_post_recv(r->qp, posted, &refused) == 0)
        return HWMC_OK;
    r->idle = refused;
    for (const struct ibv_recv_wr *wr = refused; wr != NULL; wr = wr->next)
        r->num_idle++;
    return refused == posted ? HWMC_ERR_DEVICE : HWMC_OK;
}

bool hwmc_verbs_recv_look(struct hwmc_verbs_recv *r)
{
    int n;

    if (r->wc_at < r->wc_num)
        return true;
    n = ibv_poll_cq(r->cq, HWMC_VERBS_RECV_BATCH, r->wc);
    r->wc_at = 0;
    r->wc_num = n > 0 ? n : 0;
    return n > 0;
}

void hwmc_verbs_recv_gather(struct hwmc_verbs_recv *r)
{
    int n;

    do {
        n = ibv_poll_cq(r->cq, r->wc_most - r->wc_num, r->wc + r->wc_num);
        r->wc_num += n > 0 ? n : 0;
    } while (n > 0 && r->wc_num < r->wc_most);
}

bool hwmc_verbs_recv_next(struct hwmc_verbs_recv *r, struct ibv_wc *wc)
{
    if (r->wc_at == r->wc_num)
        return false;
    *wc = r->wc[r->wc_at++];
    return true;
}

bool hwmc_verbs_recv_take(struct hwmc_verbs_recv *r, const struct ibv_wc *wc,
                          struct hwmc_verbs_came *came)
{
    struct ibv_recv_wr *wr = &r->wr[wc->wr_id];

    wr->next = r->given;
    r->given = wr;
    if (wc->status != IBV_WC_SUCCESS) {
        r->broken = true;
        return false;
    }
    *came = hwmc_verbs_came_to(r->data + wc->wr_id * r->slot_bytes, wc);
    return true;
}

void hwmc_verbs_recv_give_back(struct hwmc_verbs_recv *r)
{
    while (r->given != NULL) {
        struct ibv_recv_wr *wr = r->given;

        r->given = wr->next;
        add_idle(r, wr);
    }
    if (!r->broken)
        hwmc_verbs_recv_post(r, false);
}

void hwmc_verbs_recv_close(struct hwmc_verbs_recv *r)
{
    if (r->mr != NULL)
        ibv_dereg_mr(r->mr);
    free(r->wc);
    free(r->sge);
    free(r->wr);
    hwmc_pages_close(r->data, r->num * r->slot_bytes);
}
