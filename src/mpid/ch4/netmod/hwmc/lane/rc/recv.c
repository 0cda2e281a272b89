/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * recv: completions, and fragments to messages. See rc_impl.h.
 */
#include <stdlib.h>
#include <string.h>

#include "rc_impl.h"

static void deliver_message(struct hwmc_lane_rc *l, const uint8_t *bytes, uint32_t head_len,
                            uint32_t total)
{
    l->params.lane.recv(l->params.lane.ctx, bytes, head_len, bytes + head_len, total - head_len);
}

/* A fragment of a message of several. False: it does not go on where the last one ended, or there
 * is no memory. */
static bool add_to_whole(struct hwmc_lane_rc *l, struct rc_conn *c, const struct rc_fragment *f,
                         const uint8_t *bytes, uint32_t len)
{
    struct rc_whole *w = &c->whole;

    if (w->bytes == NULL) {
        if (f->offset != 0)
            return false;
        *w = (struct rc_whole){malloc(f->total), f->head_len, f->total, 0};
        if (w->bytes == NULL)
            return false;
    }
    if (f->total != w->total || f->head_len != w->head_len || f->offset != w->got)
        return false;
    memcpy(w->bytes + w->got, bytes, len);
    w->got += len;
    if (w->got == w->total) {
        struct rc_whole whole = *w;

        memset(w, 0, sizeof(*w));
        deliver_message(l, whole.bytes, whole.head_len, whole.total);
        free(whole.bytes);
    }
    return true;
}

/* What came on the connection. False: no peer of this kind sends that. */
static bool take_fragment(struct hwmc_lane_rc *l, struct rc_conn *c, const uint8_t *bytes,
                          uint32_t len)
{
    struct rc_fragment f;

    if (!rc_wire_read_fragment(bytes, len, &f) || f.credits > c->credits_max - c->credits)
        return false;
    c->credits += f.credits;
    if (f.type == RC_CREDIT)
        return true;
    c->used++;
    if (c->whole.bytes == NULL && len - RC_HEADER == f.total) {
        deliver_message(l, bytes + RC_HEADER, f.head_len, f.total);
        return true;
    }
    return add_to_whole(l, c, &f, bytes + RC_HEADER, len - RC_HEADER);
}

static void on_received(struct hwmc_lane_rc *l, const struct ibv_wc *wc)
{
    struct rc_conn *c = rc_conns_of_qp(l, wc->qp_num);

    if (c == NULL || c->spoiled || wc->status != IBV_WC_SUCCESS)
        return;
    c->proven = true;
    if (!take_fragment(l, c, rc_buffers_received(l, wc->wr_id), wc->byte_len)) {
        c->spoiled = true;
        l->params.counts->bad++;
        rc_peer_fail(l, c, true);
    }
}

static void on_sent(struct hwmc_lane_rc *l, const struct ibv_wc *wc)
{
    struct rc_conn *c = wc->wr_id < RC_BOUNCE ? l->buffers.slot[wc->wr_id].conn : NULL;

    if (c == NULL || c->apm.qp->qp_num != wc->qp_num)
        return;
    if (wc->status == IBV_WC_SUCCESS)
        c->proven = true;
    else
        rc_peer_fail(l, c, true);
    rc_send_done(l, (uint32_t) wc->wr_id);
}

/* Credits go back once the buffers do. */
static void return_credits(struct hwmc_lane_rc *l, const struct ibv_wc *wc, int n)
{
    for (int i = 0; i < n; i++) {
        struct rc_conn *c = rc_conns_of_qp(l, wc[i].qp_num);

        if (c == NULL)
            continue;
        c->owed += c->used;
        c->used = 0;
        rc_send_pump(l, c);
    }
}

int rc_recv_batch(struct hwmc_lane_rc *l)
{
    struct ibv_wc wc[RC_BATCH];
    uint64_t ids[RC_BATCH];
    int n = l->num_wc, num_ids = 0;

    memcpy(wc, l->wc, (size_t) n * sizeof(*wc));
    l->num_wc = 0;
    if (n == 0)
        n = ibv_poll_cq(l->cq, RC_BATCH, wc);
    if (n < 0) {
        rc_paths_lose(l);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        if (rc_buffers_is_received(l, wc[i].wr_id)) {
            ids[num_ids++] = wc[i].wr_id;
            on_received(l, &wc[i]);
        } else {
            on_sent(l, &wc[i]);
        }
    }
    rc_buffers_post(l, ids, num_ids);
    return_credits(l, wc, n);
    return n;
}
