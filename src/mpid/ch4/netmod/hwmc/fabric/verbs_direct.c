/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_direct: see verbs_direct.h.
 */
#include "verbs_impl.h"

#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "../verbs/pages.h"

#define DIRECT (UINT64_C(1) << 63)
#define GENERATIONS 0x7fffffffu
#define BATCH 16u

static unsigned char *slot_at(const struct hwmc_verbs_direct *d, uint32_t i)
{
    return d->data + i * d->slot_bytes;
}

static size_t body_bytes(const struct hwmc_verbs_direct *d, uint32_t number)
{
    const size_t at = number * d->expected.body, rest = d->expected.bytes - at;

    return rest < d->expected.body ? rest : d->expected.body;
}

static unsigned char *body_at(const struct hwmc_verbs_direct *d, uint32_t number)
{
    return d->expected.at + number * d->expected.body;
}

int hwmc_verbs_direct_open(struct hwmc_verbs_direct *d, struct hwmc_verbs_recv *r, uint32_t num,
                           size_t max_datagram)
{
    struct rdma_cm_id *id = d->port.id;

    d->r = r;
    d->num = num;
    d->max_datagram = max_datagram;
    d->slot_bytes = hwmc_verbs_slot_bytes(max_datagram);
    d->data = hwmc_pages_open(num * d->slot_bytes);
    d->slot = calloc(num, sizeof(*d->slot));
    d->free = calloc(num, sizeof(*d->free));
    d->given = calloc(num, sizeof(*d->given));
    if (d->data == NULL || d->slot == NULL || d->free == NULL || d->given == NULL)
        return HWMC_ERR_NOMEM;
    d->mr = ibv_reg_mr(id->qp->pd, d->data, num * d->slot_bytes, IBV_ACCESS_LOCAL_WRITE);
    if (d->mr == NULL)
        return HWMC_ERR_LIMIT;
    for (uint32_t i = 0; i < num; i++)
        d->free[d->num_free++] = num - 1 - i;
    d->qp = id->qp;
    return HWMC_OK;
}

static uint32_t next_generation(const struct hwmc_verbs_direct *d)
{
    return (d->generation + 1) & GENERATIONS;
}

static uint64_t wr_id_of(uint32_t generation, uint32_t slot)
{
    return DIRECT | (uint64_t) generation << 32 | slot;
}

static void set_free(struct hwmc_verbs_direct *d, uint32_t i)
{
    d->lists -= d->slot[i].use == HWMC_VERBS_LIST;
    d->wholes -= d->slot[i].use == HWMC_VERBS_WHOLE;
    d->slot[i].use = HWMC_VERBS_FREE;
    d->free[d->num_free++] = i;
}

/* Nothing is written any more. A queue pair goes only once it is in no group. */
static void destroy_queue(struct hwmc_verbs_direct *d)
{
    hwmc_verbs_members_withdraw(d->members);
    if (d->port.id->qp != NULL)
        rdma_destroy_qp(d->port.id);
    d->qp = NULL;
}

/* Receive requests in a row. */
struct chain {
    struct ibv_recv_wr wr[BATCH];
    struct ibv_sge sge[BATCH][HWMC_VERBS_LIST_SGES];
    uint32_t slot[BATCH];
    uint32_t n;
};

static struct ibv_sge slot_part(const struct hwmc_verbs_direct *d, uint32_t i, size_t from,
                                size_t end)
{
    return (struct ibv_sge){.addr = (uintptr_t) (slot_at(d, i) + from),
                            .length = (uint32_t) (end - from),
                            .lkey = d->mr->lkey};
}

/* Where a datagram with that body goes. Returns of how many parts that is. */
static int scatter_datagram(const struct hwmc_verbs_direct *d, struct ibv_sge *sge, uint32_t i,
                            uint32_t number)
{
    const size_t head = HWMC_VERBS_GRH + d->expected.head, len = body_bytes(d, number);
    const size_t end = HWMC_VERBS_GRH + d->max_datagram;

    sge[0] = slot_part(d, i, 0, head);
    sge[1] = (struct ibv_sge){.addr = (uintptr_t) body_at(d, number),
                              .length = (uint32_t) len,
                              .lkey = hwmc_verbs_registration_key(d->registered)};
    if (head + len == end)
        return 2;
    sge[2] = slot_part(d, i, head + len, end);
    return 3;
}

/* Adds a request for which there is a slot: a scatter list, or for a whole datagram. */
static void add_request(struct hwmc_verbs_direct *d, struct chain *c, bool list)
{
    const uint32_t i = d->free[--d->num_free], n = c->n++;

    d->slot[i].use = list ? HWMC_VERBS_LIST : HWMC_VERBS_WHOLE;
    d->slot[i].number = list ? d->next++ : 0;
    d->lists += list;
    d->wholes += !list;
    c->slot[n] = i;
    c->sge[n][0] = slot_part(d, i, 0, HWMC_VERBS_GRH + d->max_datagram);
    c->wr[n] = (struct ibv_recv_wr){
        .wr_id = wr_id_of(d->generation, i),
        .sg_list = c->sge[n],
        .num_sge = list ? scatter_datagram(d, c->sge[n], i, d->slot[i].number) : 1,
    };
    if (n > 0)
        c->wr[n - 1].next = &c->wr[n];
}

/* False: not all were taken; the others are free, and their bodies are due. */
static bool post_chain(struct hwmc_verbs_direct *d, struct chain *c)
{
    struct ibv_recv_wr *refused;
    uint32_t taken;

    if (c->n == 0 || ibv_post_recv(d->qp, c->wr, &refused) == 0) {
        c->n = 0;
        return true;
    }
    taken = (uint32_t) (refused - c->wr);
    for (uint32_t k = c->n; k > taken; k--) {
        d->next -= d->slot[c->slot[k - 1]].use == HWMC_VERBS_LIST;
        set_free(d, c->slot[k - 1]);
    }
    return false;
}

static void post_wholes(struct hwmc_verbs_direct *d)
{
    struct chain c;

    do {
        c.n = 0;
        while (c.n < BATCH && d->num_free > 0)
            add_request(d, &c, false);
    } while (c.n > 0 && post_chain(d, &c));
}

/* A datagram's body is copied to its slot, unless it is there. */
static void move_aside(struct hwmc_verbs_direct *d, uint32_t i, uint32_t byte_len)
{
    const size_t head = HWMC_VERBS_GRH + d->expected.head;
    const size_t came = byte_len > head ? byte_len - head : 0;
    const size_t len = body_bytes(d, d->slot[i].number);

    memcpy(slot_at(d, i) + head, body_at(d, d->slot[i].number), came < len ? came : len);
    d->count.aside++;
}

/* The slot that a completion is of; false: of none any more. */
static bool find_slot(const struct hwmc_verbs_direct *d, const struct ibv_wc *wc, uint32_t *i)
{
    *i = (uint32_t) wc->wr_id;
    return wc->wr_id == wr_id_of(d->generation, *i);
}

/* A slot that was posted holds a whole datagram. */
static void set_came(struct hwmc_verbs_direct *d, uint32_t i, uint32_t byte_len)
{
    if (d->slot[i].use == HWMC_VERBS_LIST)
        move_aside(d, i, byte_len);
    d->lists -= d->slot[i].use == HWMC_VERBS_LIST;
    d->wholes -= d->slot[i].use == HWMC_VERBS_WHOLE;
    d->slot[i].use = HWMC_VERBS_CAME;
}

/* Flush: the completion says that a slot is not posted any more. It is of the next generation if
 * something came. */
static void settle_slot(struct hwmc_verbs_direct *d, struct ibv_wc *wc)
{
    uint32_t i;

    if (!hwmc_verbs_is_direct(wc) || !find_slot(d, wc, &i))
        return;
    if (d->slot[i].use == HWMC_VERBS_CAME) { /* of an earlier flush, and not handed over yet */
        wc->wr_id = wr_id_of(next_generation(d), i);
        return;
    }
    if (wc->status != IBV_WC_SUCCESS) {
        set_free(d, i);
        return;
    }
    set_came(d, i, wc->byte_len);
    wc->wr_id = wr_id_of(next_generation(d), i);
}

/* Takes what came from the completion queue. Whether all that was posted has completed. */
static bool drain_queue(struct hwmc_verbs_direct *d)
{
    struct hwmc_verbs_recv *r = d->r;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    const uint64_t end = hwmc_verbs_now() + HWMC_VERBS_FLUSH_NS;
    int from = r->wc_at;

    ibv_modify_qp(d->qp, &attr, IBV_QP_STATE);
    do {
        for (; from < r->wc_num; from++)
            settle_slot(d, &r->wc[from]);
        if (d->lists + d->wholes == 0)
            return true;
        hwmc_verbs_recv_gather(r);
    } while (from < r->wc_num || hwmc_verbs_now() < end);
    return false;
}

static bool make_ready(struct hwmc_verbs_direct *d, const struct ibv_qp_attr *was)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .pkey_index = was->pkey_index,
                               .port_num = was->port_num,
                               .qkey = was->qkey};

    if (ibv_modify_qp(d->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) !=
        0)
        return false;
    attr.qp_state = IBV_QPS_RTR;
    if (ibv_modify_qp(d->qp, &attr, IBV_QP_STATE) != 0)
        return false;
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = 0;
    return ibv_modify_qp(d->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0;
}

/* Takes all back that is posted: when it returns, nothing is written. */
static void flush_queue(struct hwmc_verbs_direct *d)
{
    struct ibv_qp_attr was, attr = {.qp_state = IBV_QPS_RESET};
    struct ibv_qp_init_attr init;
    bool ready;

    if (d->lists + d->wholes == 0 || d->qp == NULL)
        return;
    d->count.flushes++;
    ready = ibv_query_qp(d->qp, &was, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, &init) == 0;
    ready = drain_queue(d) && ready;
    if (!ready || ibv_modify_qp(d->qp, &attr, IBV_QP_STATE) != 0 || !make_ready(d, &was))
        destroy_queue(d);
    for (uint32_t i = 0; i < d->num; i++)
        if (d->slot[i].use == HWMC_VERBS_LIST || d->slot[i].use == HWMC_VERBS_WHOLE)
            set_free(d, i);
    d->generation = next_generation(d);
}

static bool has_registrations(struct hwmc_verbs_direct *d)
{
    if (d->registrations == NULL && d->qp != NULL)
        d->registrations = hwmc_verbs_registrations_open(d->qp->pd);
    return d->registrations != NULL;
}

static void forget_memory(struct hwmc_verbs_direct *d)
{
    hwmc_verbs_registrations_put(d->registrations, d->registered);
    d->registered = NULL;
}

uint64_t hwmc_verbs_direct_begin(struct hwmc_verbs_direct *d, const struct hwmc_expected *e)
{
    if (d->run || d->qp == NULL || e->head + e->body > d->max_datagram || !has_registrations(d))
        return 0;
    d->registered = hwmc_verbs_registrations_get_writable(d->registrations, e->at, e->bytes);
    if (d->registered == NULL)
        return 0;
    flush_queue(d);
    d->wants_wholes = false;
    if (d->qp == NULL) {
        forget_memory(d);
        return 0;
    }
    d->run = true;
    d->expected = *e;
    d->next = d->due = 0;
    return ++d->runs;
}

static bool is_under_way(const struct hwmc_verbs_direct *d, uint64_t run)
{
    return d->run && d->runs == run;
}

size_t hwmc_verbs_direct_extend(struct hwmc_verbs_direct *d, uint64_t run, size_t bytes)
{
    const size_t body = d->expected.body;
    struct chain c;
    bool all = true;

    if (!is_under_way(d, run))
        return 0;
    bytes = bytes < d->expected.bytes ? bytes : d->expected.bytes;
    while (all && d->num_free > 0 && d->next * body < bytes) {
        for (c.n = 0; c.n < BATCH && d->num_free > 0 && d->next * body < bytes;)
            add_request(d, &c, true);
        all = post_chain(d, &c);
    }
    return d->next * body < d->expected.bytes ? d->next * body : d->expected.bytes;
}

void hwmc_verbs_direct_end(struct hwmc_verbs_direct *d, uint64_t run, bool goes_on)
{
    if (!is_under_way(d, run))
        return;
    if (d->lists > 0)
        flush_queue(d);
    d->run = false;
    forget_memory(d);
    d->wants_wholes = goes_on && d->qp != NULL;
    if (d->wants_wholes)
        post_wholes(d);
}

/* It came where it belongs. */
static bool is_in_place(const struct hwmc_verbs_direct *d, uint32_t i, uint32_t byte_len)
{
    const uint32_t number = d->slot[i].number;

    return number == d->due &&
           byte_len == HWMC_VERBS_GRH + d->expected.head + body_bytes(d, number) &&
           d->expected.is_next(d->expected.ctx, slot_at(d, i) + HWMC_VERBS_GRH, number);
}

static void give_slot(struct hwmc_verbs_direct *d, uint32_t i)
{
    d->slot[i].use = HWMC_VERBS_GIVEN;
    d->given[d->num_given++] = i;
}

static void take_in_place(struct hwmc_verbs_direct *d, uint32_t i, struct hwmc_in *in)
{
    in->len = d->expected.head;
    in->body = body_at(d, d->due);
    in->body_len = body_bytes(d, d->due);
    d->due++;
    d->lists--;
    d->count.placed++;
    give_slot(d, i);
}

/* A receive failed, so the queue pair takes nothing any more. */
static void on_error(struct hwmc_verbs_direct *d, uint32_t i)
{
    set_free(d, i);
    if (d->run)
        hwmc_verbs_direct_end(d, d->runs, true);
    else
        flush_queue(d);
}

bool hwmc_verbs_direct_take(struct hwmc_verbs_direct *d, const struct ibv_wc *wc, bool wanted,
                            struct hwmc_in *in)
{
    const uint32_t i = (uint32_t) wc->wr_id;
    const bool is_list = d->slot[i].use == HWMC_VERBS_LIST;

    *in = (struct hwmc_in){.data = slot_at(d, i) + HWMC_VERBS_GRH,
                           .len = wc->byte_len - HWMC_VERBS_GRH};
    if (is_list && wanted && is_in_place(d, i, wc->byte_len)) {
        take_in_place(d, i, in);
        return true;
    }
    set_came(d, i, wc->byte_len);
    if (is_list)
        hwmc_verbs_direct_end(d, d->runs, true);
    give_slot(d, i);
    return wanted;
}

bool hwmc_verbs_direct_next(struct hwmc_verbs_direct *d, const struct ibv_wc *wc,
                            struct hwmc_verbs_came *came)
{
    uint32_t i;

    if (!find_slot(d, wc, &i))
        return false;
    if (wc->status != IBV_WC_SUCCESS) {
        on_error(d, i);
        return false;
    }
    *came = hwmc_verbs_came_to(slot_at(d, i), wc);
    return true;
}

void hwmc_verbs_direct_give_back(struct hwmc_verbs_direct *d)
{
    if (d->num_given == 0)
        return;
    while (d->num_given > 0)
        set_free(d, d->given[--d->num_given]);
    if (d->wants_wholes && d->qp != NULL)
        post_wholes(d);
}

void hwmc_verbs_direct_close(struct hwmc_verbs_direct *d)
{
    if (d->members != NULL)
        destroy_queue(d);
    if (d->registered != NULL)
        hwmc_verbs_registrations_put(d->registrations, d->registered);
    hwmc_verbs_registrations_close(d->registrations);
    if (d->mr != NULL)
        ibv_dereg_mr(d->mr);
    hwmc_pages_close(d->data, d->num * d->slot_bytes);
    free(d->slot);
    free(d->free);
    free(d->given);
}
