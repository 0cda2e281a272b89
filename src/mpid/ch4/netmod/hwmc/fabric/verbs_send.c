/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_send: see verbs_send.h.
 */
#include "verbs_send.h"
#include "../verbs/pages.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 16
#define MULTICAST_QPN 0xffffffu /* InfiniBand specification 3.5.11 */

int hwmc_verbs_send_open(struct hwmc_verbs_send *s, struct ibv_pd *pd, uint32_t num,
                         size_t slot_bytes)
{
    s->num = num;
    s->slot_bytes = slot_bytes;
    s->data = hwmc_pages_open(num * slot_bytes);
    s->len = malloc(num * sizeof(*s->len));
    if (s->data == NULL || s->len == NULL)
        return HWMC_ERR_NOMEM;
    s->mr = ibv_reg_mr(pd, s->data, num * slot_bytes, 0);
    return s->mr != NULL ? HWMC_OK : HWMC_ERR_LIMIT;
}

/* Those that nothing posted needs: the list ends with them. */
static void free_retired(struct hwmc_verbs_send *s, uint64_t done)
{
    struct hwmc_verbs_target **at = &s->retired;

    while (*at != NULL && (*at)->last > done)
        at = &(*at)->next;
    while (*at != NULL) {
        struct hwmc_verbs_target *to = *at;

        *at = to->next;
        ibv_destroy_ah(to->ah);
        free(to);
    }
}

static void on_done(struct hwmc_verbs_send *s, const struct ibv_wc *wc)
{
    if (wc->status != IBV_WC_SUCCESS)
        s->broken = true;
    for (; s->done < wc->wr_id; s->done++)
        s->queued -= s->len[s->done % s->num];
}

void hwmc_verbs_send_reap(struct hwmc_verbs_send *s)
{
    struct ibv_wc wc[BATCH];
    int n;

    do {
        n = s->done < s->posted ? ibv_poll_cq(s->cq, BATCH, wc) : 0;
        for (int i = 0; i < n; i++)
            on_done(s, &wc[i]);
    } while (n == BATCH);
    free_retired(s, s->done);
    hwmc_verbs_loans_end(&s->loans, s->done);
}

void hwmc_verbs_send_retire(struct hwmc_verbs_send *s, struct hwmc_verbs_target *to)
{
    to->last = s->posted;
    to->next = s->retired;
    s->retired = to;
    free_retired(s, s->done);
}

/* Datagrams as work requests in a row. */
struct chain {
    struct ibv_send_wr wr[BATCH];
    struct ibv_sge sge[BATCH][HWMC_VERBS_SGES];
};

/* Puts a datagram, or its header where its body is lent, into the slot of the one with that number.
 * Returns how many elements it is gathered from. */
static int gather_datagram(struct hwmc_verbs_send *s, struct ibv_sge *sge, uint64_t number,
                           const struct hwmc_out *out, struct hwmc_verbs_loan *loan)
{
    unsigned char *data = s->data + (number % s->num) * s->slot_bytes;
    const size_t copied = loan != NULL ? 0 : out->body_len;

    memcpy(data, out->head, out->head_len);
    if (copied > 0)
        memcpy(data + out->head_len, out->body, copied);
    sge[0] = (struct ibv_sge){.addr = (uintptr_t) data,
                              .length = (uint32_t) (out->head_len + copied),
                              .lkey = s->mr->lkey};
    s->sent.copied += copied;
    if (loan == NULL)
        return 1;
    sge[1] = (struct ibv_sge){.addr = (uintptr_t) out->body,
                              .length = (uint32_t) out->body_len,
                              .lkey = hwmc_verbs_registration_key(loan->registered)};
    s->sent.lent += out->body_len;
    loan->last = number + 1;
    return 2;
}

/* Makes the request of the datagram with that number. */
static void add_request(struct hwmc_verbs_send *s, struct chain *c, int i, uint64_t number,
                        const struct hwmc_out *out)
{
    const uint32_t len = (uint32_t) (out->head_len + out->body_len);
    const bool is_inline = len <= s->inline_max;
    struct hwmc_verbs_loan *loan = is_inline || out->body_len == 0
                                       ? NULL
                                       : hwmc_verbs_loans_of(&s->loans, out->body, out->body_len);

    s->len[number % s->num] = len;
    c->wr[i] = (struct ibv_send_wr){
        .wr_id = number + 1, /* what is done when this is */
        .next = &c->wr[i + 1],
        .sg_list = c->sge[i],
        .num_sge = gather_datagram(s, c->sge[i], number, out, loan),
        .opcode = IBV_WR_SEND,
        .send_flags = (number % HWMC_VERBS_SIGNAL == 0 ? IBV_SEND_SIGNALED : 0) |
                      (is_inline ? IBV_SEND_INLINE : 0),
    };
}

/* Posts n <= BATCH datagrams, for which there are slots; how many were taken. `last`: nothing
 * follows in this call. */
static int post_chain(struct hwmc_verbs_send *s, const struct hwmc_verbs_target *to,
                      const struct hwmc_out *out, int n, bool last)
{
    struct ibv_send_wr *refused;
    struct chain c;
    int taken = n;

    for (int i = 0; i < n; i++) {
        add_request(s, &c, i, s->posted + (uint64_t) i, &out[i]);
        c.wr[i].wr.ud.ah = to->ah;
        c.wr[i].wr.ud.remote_qpn = MULTICAST_QPN;
        c.wr[i].wr.ud.remote_qkey = to->qkey;
    }
    c.wr[n - 1].next = NULL;
    if (last)
        c.wr[n - 1].send_flags |= IBV_SEND_SIGNALED;
    if (ibv_post_send(s->qp, c.wr, &refused) != 0)
        taken = (int) (refused - c.wr);
    for (int i = 0; i < taken; i++) {
        s->queued += s->len[s->posted++ % s->num];
        s->sent.signaled += (c.wr[i].send_flags & IBV_SEND_SIGNALED) != 0;
    }
    s->sent.requests += (uint64_t) taken;
    s->sent.doorbells++;
    return taken;
}

int hwmc_verbs_send_post(struct hwmc_verbs_send *s, const struct hwmc_verbs_target *to,
                         const struct hwmc_out *out, int n)
{
    uint64_t room;
    int sent = 0, end;

    hwmc_verbs_send_reap(s);
    s->blocked = false;
    if (s->broken)
        return HWMC_ERR_DEVICE;
    room = s->num - (s->posted - s->done);
    end = (uint64_t) n < room ? n : (int) room;
    while (sent < end) {
        int batch = end - sent < BATCH ? end - sent : BATCH;
        int taken = post_chain(s, to, out + sent, batch, sent + batch == end);

        sent += taken;
        if (taken < batch)
            break;
    }
    s->blocked = sent < n;
    s->broken = sent < end && s->done == s->posted; /* refused though nothing is on its way */
    return sent;
}

bool hwmc_verbs_send_lend(struct hwmc_verbs_send *s, const void *memory, size_t bytes)
{
    return !s->broken && hwmc_verbs_loans_add(&s->loans, s->qp->pd, memory, bytes);
}

/* What is posted is completed with errors. */
static void give_up(struct hwmc_verbs_send *s)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    s->broken = true;
    ibv_modify_qp(s->qp, &attr, IBV_QP_STATE);
}

bool hwmc_verbs_send_returned(struct hwmc_verbs_send *s, const void *memory, uint64_t now)
{
    hwmc_verbs_loans_ask(&s->loans, memory, now);
    hwmc_verbs_send_reap(s);
    if (!hwmc_verbs_loans_have(&s->loans, memory))
        return true;
    if (!s->broken && now - hwmc_verbs_loans_asked(&s->loans) >= HWMC_VERBS_RETURN_NS)
        give_up(s);
    return false;
}

void hwmc_verbs_send_close(struct hwmc_verbs_send *s)
{
    free_retired(s, UINT64_MAX);
    hwmc_verbs_loans_close(&s->loans);
    if (s->mr != NULL)
        ibv_dereg_mr(s->mr);
    free(s->len);
    hwmc_pages_close(s->data, s->num * s->slot_bytes);
}
