/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * relay: see relay.h.
 */

#include "relay.h"

enum { LENGTHS, UP, ACROSS, DOWN, STAGES };

static uint32_t ranks_of(const struct hwmc_relay *r)
{
    return r->spread->c->leaders.ranks;
}

static bool is_at(const struct hwmc_relay *r, int root)
{
    return hwmc_spread_own_member(r->spread) == hwmc_spread_member(r->spread, root);
}

static bool leads_at(const struct hwmc_relay *r, int root)
{
    return hwmc_spread_leader(r->spread, hwmc_spread_member(r->spread, root)) == (uint32_t) root;
}

static bool is_alone(const struct hwmc_relay *r)
{
    return hwmc_spread_host(r->spread)->group.size == 1;
}

/* The ranks of this host give something, other than a leader that is the root of a scatter. */
static bool goes_up(const struct hwmc_relay *r)
{
    if (is_alone(r))
        return false;
    return r->from_root < 0 || (is_at(r, r->from_root) && !leads_at(r, r->from_root));
}

/* They get something, other than a leader that is the root of a gather. */
static bool goes_down(const struct hwmc_relay *r)
{
    if (is_alone(r))
        return false;
    return r->to_root < 0 || (is_at(r, r->to_root) && !leads_at(r, r->to_root));
}

/* This host sends a block to another one; it gets one of it. */

static bool sends_to(const struct hwmc_relay *r, uint32_t host)
{
    return (r->to_root < 0 || host == hwmc_spread_member(r->spread, r->to_root)) &&
           (r->from_root < 0 || is_at(r, r->from_root));
}

static bool gets_from(const struct hwmc_relay *r, uint32_t host)
{
    return (r->from_root < 0 || host == hwmc_spread_member(r->spread, r->from_root)) &&
           (r->to_root < 0 || is_at(r, r->to_root));
}

/* Of a part, what goes in the round. */
static struct hwmc_move slice_of(const struct hwmc_relay *r, const struct hwmc_move *part)
{
    const uint64_t at = r->rounds > 1 ? r->round * r->slice : 0;
    const uint64_t left = part->bytes > at ? part->bytes - at : 0;

    return (struct hwmc_move){
        .memory = part->bytes > 0 ? (char *) part->memory + at : NULL,
        .bytes = left < r->slice ? left : r->slice,
    };
}

/* Sets the bytes of each part, by rank, and of all; *lies: where they lie if they follow each
 * other, else NULL. */
static uint64_t measure(const struct hwmc_relay *r, const struct hwmc_move *parts,
                        uint64_t *lengths, unsigned char **lies)
{
    uint64_t all = 0;
    bool follow = true;

    *lies = NULL;
    for (uint32_t i = 0; i < ranks_of(r); i++) {
        const struct hwmc_move part = slice_of(r, &parts[i]);

        lengths[i] = part.bytes;
        if (part.bytes == 0)
            continue;
        if (all == 0)
            *lies = part.memory;
        follow = follow && (unsigned char *) part.memory == *lies + all;
        all += part.bytes;
    }
    if (!follow)
        *lies = NULL;
    return all;
}

/* Memory for parts that do not follow each other lasts for all rounds: the first is the longest.
 * False without it. */
static bool find_piece(const struct hwmc_relay *r, const struct hwmc_move *parts, uint64_t *lengths,
                       struct hwmc_relay_piece *p)
{
    unsigned char *lies;

    p->bytes = measure(r, parts, lengths, &lies);
    if (!lies && p->bytes > 0 && !p->made)
        p->made = MPL_malloc(p->bytes, MPL_MEM_COLL);
    p->memory = lies ? lies : p->made;
    return p->memory || p->bytes == 0;
}

/* Between parts and the piece they are copied to. */
static void copy_parts(const struct hwmc_relay *r, const struct hwmc_move *parts,
                       const struct hwmc_relay_piece *p, bool to_piece)
{
    unsigned char *at = p->memory;

    if (p->bytes == 0 || p->memory != p->made)
        return;
    for (uint32_t i = 0; i < ranks_of(r); i++) {
        const struct hwmc_move part = slice_of(r, &parts[i]);

        if (part.bytes == 0)
            continue;
        memcpy(to_piece ? at : part.memory, to_piece ? part.memory : at, part.bytes);
        at += part.bytes;
    }
}

static struct hwmc_op_stage *by_host(struct hwmc_relay *r, struct hwmc_shm_op *op)
{
    hwmc_shm_stage_begin(&r->host_stage, op);
    return &r->host_stage.stage;
}

/* A leader: its own lengths are those of all its mates, but for what is for, or of, a root. */
static void know_lengths(struct hwmc_relay *r)
{
    const int root = r->to_root >= 0 ? r->to_root : r->from_root;
    const uint64_t left = r->alike - r->round * r->slice;
    const uint64_t slice = left < r->slice ? left : r->slice;
    const uint32_t p = ranks_of(r);

    for (uint32_t mate = 0; mate < r->plan.mates; mate++) {
        const uint32_t rank =
            r->plan.by_host[r->spread->c->leaders.first[hwmc_spread_own_member(r->spread)] + mate];
        uint64_t *gives = hwmc_relay_gives(&r->plan, mate);

        if (is_alone(r) || root < 0) {
            memcpy(gives, r->lengths, 2 * (size_t) p * sizeof(*gives));
            continue;
        }
        for (uint32_t i = 0; i < p; i++) {
            const bool between = (rank == (uint32_t) root) != (i == (uint32_t) root);
            const bool to_root = between && i == (uint32_t) root;

            gives[i] = between && to_root == (r->to_root >= 0) ? slice : 0;
            gives[p + i] = between && to_root == (r->from_root >= 0) ? slice : 0;
        }
    }
}

/* A round begins. */
static struct hwmc_op_stage *begin_lengths(struct hwmc_relay *r)
{
    const size_t bytes = 2 * (size_t) ranks_of(r) * sizeof(*r->lengths);
    struct hwmc_shm_host *n = hwmc_spread_host(r->spread);
    const struct hwmc_shm_vector rows = {.stride = bytes, .bytes = bytes};

    if (!find_piece(r, r->give, r->lengths, &r->sent) ||
        !find_piece(r, r->get, r->lengths + ranks_of(r), &r->got))
        return hwmc_spread_leave_host(n, &r->host_stage.stage, HWMC_ERR_NOMEM);
    copy_parts(r, r->give, &r->sent, true);
    if (r->alike != UINT64_MAX || is_alone(r)) {
        if (r->leads)
            know_lengths(r);
        return NULL;
    }
    hwmc_shm_choose(n, HWMC_SHM_KIND_GATHER, 0);
    hwmc_shm_gather_begin(&r->up, &n->group, hwmc_spread_leader_number(r->spread), r->lengths,
                          bytes, r->plan.lengths, &rows);
    return by_host(r, &r->up.op);
}

/* Where nobody else of the host gives anything, or gets any, the leader's own memory serves. */
static struct hwmc_op_stage *begin_up(struct hwmc_relay *r)
{
    struct hwmc_shm_host *n = hwmc_spread_host(r->spread);
    const struct hwmc_shm_vector parts = {.each = r->plan.gives};
    const bool up = goes_up(r);

    if (hwmc_spread_lost_host(n))
        return hwmc_spread_leave_host(n, &r->host_stage.stage, HWMC_ERR_PEER);
    if (r->leads && !hwmc_relay_plan_lay(&r->plan, up ? NULL : r->sent.memory,
                                         goes_down(r) ? NULL : r->got.memory))
        return hwmc_spread_leave_host(n, &r->host_stage.stage, HWMC_ERR_NOMEM);
    if (!up)
        return NULL;
    hwmc_shm_choose(n, HWMC_SHM_KIND_GATHER, 0);
    hwmc_shm_gather_begin(&r->up, &n->group, hwmc_spread_leader_number(r->spread), r->sent.memory,
                          r->sent.bytes, r->plan.gathered, &parts);
    return by_host(r, &r->up.op);
}

/* After an error this leader has blocks of no bytes: other hosts find another length, and end with
 * an error too. */
static struct hwmc_op_stage *begin_across(struct hwmc_relay *r)
{
    const struct hwmc_relay_block none = {.bytes = 0};
    const uint32_t hosts = r->spread->c->leaders.hosts, own = hwmc_spread_own_member(r->spread);
    struct hwmc_move *in = r->rows, *out = r->rows + hosts;
    const bool failed = r->spread->chain.stage.err != HWMC_OK;
    uint32_t num_in = 0, num_out = 0;

    if (!r->leads)
        return NULL;
    for (uint32_t i = 1; i < hosts; i++) {
        const uint32_t before = (own + hosts - i) % hosts, after = (own + i) % hosts;

        if (gets_from(r, before)) {
            const struct hwmc_relay_block b = failed ? none : hwmc_relay_plan_in(&r->plan, before);

            in[num_in++] = (struct hwmc_move){before, b.memory, b.bytes};
        }
        if (sends_to(r, after)) {
            const struct hwmc_relay_block b = failed ? none : hwmc_relay_plan_out(&r->plan, after);

            out[num_out++] = (struct hwmc_move){after, b.memory, b.bytes};
        }
    }
    if (!failed && !hwmc_relay_plan_own(&r->plan))
        hwmc_stage_note(&r->spread->chain.stage, HWMC_ERR_INVAL, true);
    hwmc_spread_begin_moves(r->spread, &r->across, in, num_in, out, num_out, HWMC_PLAN_USUAL);
    return &r->across.stage;
}

/* After an error the leader has no bytes for anybody: those that are to get some end with an error
 * too. */
static struct hwmc_op_stage *begin_down(struct hwmc_relay *r)
{
    struct hwmc_shm_host *n = hwmc_spread_host(r->spread);
    const bool failed = r->spread->chain.stage.err != HWMC_OK;
    struct hwmc_shm_vector parts = {.each = r->plan.gets};

    if (hwmc_spread_lost_host(n))
        return hwmc_spread_leave_host(n, &r->host_stage.stage, HWMC_ERR_PEER);
    for (uint32_t host = 0; r->leads && !failed && host < r->spread->c->leaders.hosts; host++)
        if (host != hwmc_spread_own_member(r->spread) && gets_from(r, host))
            hwmc_relay_plan_came(&r->plan, host);
    hwmc_spread_keep_host(r->spread);
    if (!goes_down(r))
        return NULL;
    if (failed)
        parts = (struct hwmc_shm_vector){.each = NULL};
    hwmc_shm_choose(n, HWMC_SHM_KIND_SCATTER, 0);
    hwmc_shm_scatter_begin(&r->down, &n->group, hwmc_spread_leader_number(r->spread),
                           r->plan.spread, &parts, r->got.memory, r->got.bytes);
    return by_host(r, &r->down.op);
}

/* What came in the round that is over goes where it belongs. */
static void end_round(struct hwmc_relay *r)
{
    if (r->spread->chain.stage.err == HWMC_OK)
        copy_parts(r, r->get, &r->got, false);
}

struct hwmc_op_stage *hwmc_relay_stage(struct hwmc_relay *r, uint32_t i)
{
    switch (i % STAGES) {
        case LENGTHS:
            if (i > 0)
                end_round(r);
            r->round = i / STAGES;
            return begin_lengths(r);
        case UP:
            return begin_up(r);
        case ACROSS:
            return begin_across(r);
        default:
            return begin_down(r);
    }
}

/* Alike on all ranks: the bytes of each part that go in a round, so that no host's ranks give, or
 * get, more than HWMC_RELAY_BYTES together. A root that leads needs no copy of what it has. */
static uint64_t slice_for(const struct hwmc_relay *r)
{
    const struct hwmc_leaders *l = &r->spread->c->leaders;
    const int root = r->to_root >= 0 ? r->to_root : r->from_root;
    const uint64_t parts = root < 0 ? (uint64_t) hwmc_leaders_num(l) * l->ranks : l->ranks;
    const uint64_t slice = MPL_MAX(HWMC_RELAY_BYTES / parts, HWMC_RELAY_SLICE);

    if (r->alike <= slice || r->alike == UINT64_MAX || (root >= 0 && leads_at(r, root)))
        return r->alike;
    return slice;
}

static bool make_rows(struct hwmc_relay *r)
{
    const struct hwmc_leaders *l = &r->spread->c->leaders;

    r->lengths = MPL_malloc(2 * (size_t) l->ranks * sizeof(*r->lengths), MPL_MEM_COLL);
    r->rows = NULL;
    if (!r->lengths || !r->leads)
        return r->lengths != NULL;
    r->rows = MPL_malloc(2 * (size_t) l->hosts * sizeof(*r->rows), MPL_MEM_COLL);
    return r->rows && hwmc_relay_plan_init(&r->plan, l, hwmc_spread_own_member(r->spread));
}

int hwmc_relay_begin(struct hwmc_relay *r, struct hwmc_spread *s, const struct hwmc_move *give,
                     const struct hwmc_move *get, int root, bool to_root, uint64_t alike)
{
    int mpi_errno = MPI_SUCCESS;

    r->spread = s;
    r->give = give;
    r->get = get;
    r->to_root = to_root ? root : -1;
    r->from_root = to_root ? -1 : root;
    r->alike = alike;
    r->slice = slice_for(r);
    r->rounds = alike == UINT64_MAX || alike == 0 ? 1 : (alike - 1) / r->slice + 1;
    r->round = 0;
    r->sent = r->got = (struct hwmc_relay_piece){.made = NULL};
    r->leads = hwmc_spread_leads(s);
    r->plan = (struct hwmc_relay_plan){.mates = 0};
    if (!make_rows(r)) {
        MPL_free(r->lengths);
        MPL_free(r->rows);
        MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_OTHER, "**nomem");
    }

fn_fail:
    return mpi_errno;
}

uint32_t hwmc_relay_stages(const struct hwmc_relay *r)
{
    return (uint32_t) (STAGES * r->rounds);
}

void hwmc_relay_end(struct hwmc_relay *r)
{
    end_round(r);
    MPL_free(r->sent.made);
    MPL_free(r->got.made);
    MPL_free(r->lengths);
    MPL_free(r->rows);
    if (r->leads)
        hwmc_relay_plan_free(&r->plan);
}
