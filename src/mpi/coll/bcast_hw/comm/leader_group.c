/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "shm.h"
#include "../core/base/prng.h"
#include "../engine/seen.h"
#include "../op/wait.h"
#include "../op/wait_failure.h"
#include "../process/hosts.h"
#include "../process/sites.h"
#include "../select/choose.h"
#include "../stats/counters.h"
#include "../settings/settings.h"

static uint64_t setup_after(void)
{
    int n = hwmc_settings.tune.setup_after;

    return n >= 0 ? (uint64_t) n : hwmc_is_forced() ? 0 : 4;
}

static uint64_t setup_ahead(void)
{
    int n = hwmc_settings.tune.setup_ahead;

    return n >= 0 ? (uint64_t) n : hwmc_is_forced() ? 0 : 16;
}

/* How many leader groups with each hash have begun set-up in this process. Has an entry for each
 * different pair of members and context id; both recur in a program's loops. */
static struct hwmc_seen seen;

void hwmc_forget_seen(void)
{
    hwmc_seen_free(&seen);
}

uint32_t hwmc_leader_group_at(const struct hwmc_comm *c, uint32_t which, uint32_t host)
{
    return hwmc_leaders_at(&c->leaders, which, host);
}

static bool is_on(const struct hwmc_comm *c, uint32_t which, uint32_t rank)
{
    return !c->by_hosts || hwmc_leader_group_at(c, which, c->leaders.host_of[rank]) == rank;
}

/* How many members a leader group has, and which of them this rank is, or is represented
 * by. */
static void find_size(MPIR_Comm *comm, const struct hwmc_comm *c, struct hwmc_group_cfg *cfg)
{
    cfg->size = c->by_hosts ? c->leaders.hosts : (uint32_t) comm->local_size;
    cfg->rank = c->by_hosts ? c->leaders.host_of[comm->rank] : (uint32_t) comm->rank;
}

/* Rank in MPI_COMM_WORLD of a member of the leader group's group. False: it is of another
 * MPI_COMM_WORLD. */
static bool find_member(MPIR_Comm *comm, const struct hwmc_comm *c, uint32_t which, uint32_t member,
                        uint32_t *world)
{
    const uint32_t rank = c->by_hosts ? hwmc_leader_group_at(c, which, member) : member;

    return hwmc_world_rank(comm, (int) rank, world);
}

/* Sets *hash by context id and members. False: one of them is not of MPI_COMM_WORLD. */
static bool hash_members(MPIR_Comm *comm, const struct hwmc_comm *c, uint32_t which,
                         const struct hwmc_group_cfg *cfg, uint64_t *hash)
{
    uint32_t world;

    *hash = hwmc_prng(comm->context_id, cfg->size);
    for (uint32_t i = 0; i < cfg->size; i++) {
        if (!find_member(comm, c, which, i, &world))
            return false;
        *hash = hwmc_prng(*hash, world);
    }
    return true;
}

/* Lists the members, and their sites. All are of MPI_COMM_WORLD. False: no memory. */
static bool list_members(MPIR_Comm *comm, const struct hwmc_comm *c, uint32_t which, uint32_t size,
                         uint32_t **world, uint64_t **site)
{
    *world = MPL_malloc(size * sizeof(**world), MPL_MEM_COMM);
    *site = MPL_malloc(size * sizeof(**site), MPL_MEM_COMM);
    if (!*world || !*site)
        return false;
    for (uint32_t i = 0; i < size; i++) {
        (void) find_member(comm, c, which, i, &(*world)[i]);
        (*site)[i] = hwmc_site_of((*world)[i]);
    }
    return true;
}

/* What is needed to decline the group of `cfg`, but its key. */
static void find_neighbours(MPIR_Comm *comm, const struct hwmc_comm *c, uint32_t which,
                            const struct hwmc_group_cfg *cfg, struct hwmc_decline_cfg *d)
{
    *d = (struct hwmc_decline_cfg){
        .context = cfg->context, .size = cfg->size, .rank = cfg->rank, .fanout = cfg->fanout};
    (void) find_member(comm, c, which, 0, &d->leader);
    hwmc_decline_list(d);
    for (uint32_t i = 0; i < d->num_neighbours; i++)
        (void) find_member(comm, c, which, d->neighbour[i], &d->world[i]);
}

/* Begins set-up, at who is in the leader group; without memory for the group, declines it. */
static void begin_group(MPIR_Comm *comm, struct hwmc_comm *c, uint32_t which)
{
    struct hwmc_leader_group *s = &c->leader_group[which];
    /* Before the first broadcast nothing is in a hurry: connections are not made in MPI_Init. */
    struct hwmc_group_cfg cfg = {
        .context = comm->context_id, .part = which, .later = s->counted == 0};
    struct hwmc_decline_cfg decline;
    uint32_t *world = NULL;
    uint64_t *site = NULL;
    uint64_t hash, before;
    bool listed;

    find_size(comm, c, &cfg);
    if (!hash_members(comm, c, which, &cfg, &hash)) {
        s->state = HWMC_LEADER_GROUP_OFF;
        hwmc_note_reason(HWMC_REASON_SPAWNED);
        return;
    }
    hwmc_configure_group(&cfg);
    find_neighbours(comm, c, which, &cfg, &decline);
    listed = list_members(comm, c, which, cfg.size, &world, &site);
    cfg.world = world;
    cfg.site = hwmc_several_sites() ? site : NULL;

    hwmc_lock();
    if (hwmc_seen_again(&seen, hash, &before)) {
        cfg.key = decline.key = hwmc_prng(hash, before);
        if (listed)
            s->group = hwmc_group_create(&hwmc_process_engine()->groups, &cfg, hwmc_now());
        if (!s->group)
            s->declined = hwmc_decline_begin(&hwmc_process_engine()->groups, &decline, hwmc_now());
    }
    hwmc_unlock();
    MPL_free(world);
    MPL_free(site);
}

/* Begins the group of who is in it. A rank that cannot even decline its group must not go on as if
 * nothing were wrong, as others wait for it: its next broadcast is an error. Over several hosts the
 * ranks of its host learn that when set-up ends. */
static void begin_members(MPIR_Comm *comm, struct hwmc_comm *c, uint32_t which)
{
    struct hwmc_leader_group *s = &c->leader_group[which];

    if (!is_on(c, which, (uint32_t) comm->rank))
        return;
    begin_group(comm, c, which);
    if (s->state == HWMC_LEADER_GROUP_SETUP && !s->group && !s->declined && !c->by_hosts)
        s->state = HWMC_LEADER_GROUP_BROKEN;
}

/* A communicator may go after all groups were closed: when in MPI_Finalize the last message of it
 * is complete. */
void hwmc_leader_group_drop(struct hwmc_leader_group *s)
{
    if (s->group && hwmc_registered() && !hwmc_drains()) {
        hwmc_lock();
        hwmc_export_forget(s->group);
        hwmc_group_close(s->group, hwmc_now());
        hwmc_unlock();
    }
    s->group = NULL;
}

static enum hwmc_leader_group_state state_by(const struct hwmc_group *g)
{
    switch (g->state) {
        case HWMC_GROUP_ON:
            return HWMC_LEADER_GROUP_ON;
        case HWMC_GROUP_BROKEN:
            return HWMC_LEADER_GROUP_BROKEN;
        default:
            return HWMC_LEADER_GROUP_OFF;
    }
}

/* The outcome of set-up, at who is in the leader group; it has settled. */
static struct hwmc_outcome find_outcome(const struct hwmc_comm *c, uint32_t which)
{
    const struct hwmc_leader_group *s = &c->leader_group[which];
    struct hwmc_outcome outcome = {.state = HWMC_LEADER_GROUP_OFF};
    struct hwmc_group *g = s->group;

    if (!g) {
        outcome.state = s->declined ? HWMC_LEADER_GROUP_OFF : HWMC_LEADER_GROUP_BROKEN;
        if (which == 0 && s->declined)
            hwmc_note_reason(HWMC_REASON_NOMEM);
        return outcome;
    }
    hwmc_lock();
    outcome.state = state_by(g);
    hwmc_unlock();
    hwmc_shape_of(c->hosts, g, &outcome.shape);
    if (which == 0 && !g->casts)
        hwmc_note_reason(g->reason);
    /* Whatever the first can do: which algorithm it is to be follows from its shape. */
    if (which > 0 && outcome.shape.frag_bytes == 0 && c->leader_group[0].shape.frag_bytes > 0 &&
        outcome.state == HWMC_LEADER_GROUP_ON)
        outcome.state = HWMC_LEADER_GROUP_OFF;
    return outcome;
}

/* All members know it. */
static void end_setup(struct hwmc_leader_group *s, uint32_t which,
                      const struct hwmc_outcome *outcome)
{
    s->state = outcome->state;
    s->shape = outcome->shape;
    if (s->state == HWMC_LEADER_GROUP_OFF)
        hwmc_leader_group_drop(s);
    if (which > 0)
        hwmc_note_leader_group(s->state == HWMC_LEADER_GROUP_ON);
}

static bool by_weight(uint32_t which)
{
    return which == 0 && !hwmc_is_forced() && hwmc_settings.tune.setup_after < 0 &&
           hwmc_settings.tune.setup_ahead < 0;
}

/* The states of a question. */

static bool ask_awaits_group(const struct hwmc_leader_group *s, struct hwmc_await *a)
{
    bool settled;

    if (!s->group)
        return false;
    hwmc_lock();
    settled = s->group->state != HWMC_GROUP_SETUP;
    hwmc_unlock();
    if (!settled)
        *a = (struct hwmc_await){.kind = HWMC_AWAIT_GROUP, .group = s->group};
    return !settled;
}

static enum hwmc_ask_state ask_answer(const struct hwmc_leader_group *s, struct hwmc_ask *q,
                                      bool due)
{
    q->goes = (due || s->state == HWMC_LEADER_GROUP_BROKEN) && s->state != HWMC_LEADER_GROUP_OFF;
    return HWMC_ASK_ANSWERED;
}

/* Whether set-up begins with this broadcast. */
static bool ask_begins(struct hwmc_comm *c, struct hwmc_ask *q)
{
    struct hwmc_leader_group *s = &c->leader_group[q->which];
    uint64_t cost, weight;

    if (!by_weight(q->which))
        return q->number >= setup_after() && s->state == HWMC_LEADER_GROUP_COUNTING;
    cost = hwmc_setup_cost(c->hosts);
    weight = MPL_MIN(hwmc_weight(c->hosts, q->bytes), cost);
    s->weight += weight;
    if (s->state != HWMC_LEADER_GROUP_COUNTING || (s->weight < cost && q->number < setup_after()))
        return false;
    s->begun = q->number;
    s->weight = weight;
    return true;
}

static enum hwmc_ask_state ask_new(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_ask *q)
{
    struct hwmc_leader_group *s = &c->leader_group[q->which];
    int mpi_errno = MPI_SUCCESS;

    if (s->state >= HWMC_LEADER_GROUP_ON)
        return ask_answer(s, q, true);
    q->number = s->counted++;
    if (!ask_begins(c, q))
        return s->state == HWMC_LEADER_GROUP_COUNTING ? ask_answer(s, q, false) : HWMC_ASK_BEGUN;
    s->state = HWMC_LEADER_GROUP_SETUP;
    if (q->which > 0) {
        begin_members(comm, c, q->which);
        return HWMC_ASK_BEGUN;
    }
    if (q->tag < 0)
        mpi_errno = hwmc_messages_tag(comm, &q->tag);
    if (mpi_errno == MPI_SUCCESS)
        mpi_errno = hwmc_hierarchy_begin(comm, c, q->tag);
    if (mpi_errno == MPI_SUCCESS)
        return HWMC_ASK_HIERARCHY;
    s->state = HWMC_LEADER_GROUP_BROKEN;
    return ask_answer(s, q, false);
}

static enum hwmc_ask_state ask_hierarchy(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_ask *q,
                                         struct hwmc_await *a, int mpi_errno)
{
    struct hwmc_leader_group *s = &c->leader_group[q->which];

    if (!hwmc_hierarchy_step(comm, c, a, &mpi_errno))
        return HWMC_ASK_HIERARCHY;
    if (mpi_errno == MPI_SUCCESS) {
        begin_members(comm, c, q->which);
        return HWMC_ASK_BEGUN;
    }
    s->state = HWMC_LEADER_GROUP_BROKEN;
    return ask_answer(s, q, false);
}

/* Set-up has begun with this broadcast, or before: whether the broadcast is to know its end. */
static enum hwmc_ask_state ask_begun(struct hwmc_comm *c, struct hwmc_ask *q)
{
    struct hwmc_leader_group *s = &c->leader_group[q->which];
    bool due;

    if (s->state != HWMC_LEADER_GROUP_SETUP)
        return ask_answer(s, q, false);
    if (!by_weight(q->which)) {
        due = q->number >= setup_after() + setup_ahead();
        return due ? HWMC_ASK_SETTLE : ask_answer(s, q, false);
    }
    q->number -= s->begun;
    if (s->weight >= hwmc_setup_cost(c->hosts) || q->number >= setup_ahead())
        return HWMC_ASK_SETTLE;
    return c->by_hosts || !s->group ? ask_answer(s, q, false) : HWMC_ASK_OUTCOME;
}

/* At who is in the leader group: whether the broadcast goes by the outcome. Waits for it where
 * others may go by it. */
static enum hwmc_ask_state ask_outcome(struct hwmc_comm *c, struct hwmc_ask *q,
                                       struct hwmc_await *a)
{
    struct hwmc_leader_group *s = &c->leader_group[q->which];
    struct hwmc_group *g = s->group;
    enum hwmc_negotiation_turn turn;
    bool settled;

    hwmc_lock();
    settled = g->state != HWMC_GROUP_SETUP;
    turn = hwmc_negotiation_enter(&g->negotiation, (uint32_t) q->number);
    if (turn == HWMC_NEGOTIATION_AWAIT && settled) /* it is an error */
        turn = HWMC_NEGOTIATION_TAKE;
    hwmc_unlock();
    if (turn == HWMC_NEGOTIATION_AWAIT) {
        *a = (struct hwmc_await){.kind = HWMC_AWAIT_GROUP, .group = g};
        return HWMC_ASK_OUTCOME;
    }
    return turn == HWMC_NEGOTIATION_TAKE ? HWMC_ASK_SETTLE : ask_answer(s, q, false);
}

static enum hwmc_ask_state ask_settle(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_ask *q,
                                      struct hwmc_await *a)
{
    struct hwmc_leader_group *s = &c->leader_group[q->which];

    q->told.outcome = (struct hwmc_outcome){.state = HWMC_LEADER_GROUP_OFF};
    if (is_on(c, q->which, (uint32_t) comm->rank)) {
        if (ask_awaits_group(s, a))
            return HWMC_ASK_SETTLE;
        q->told.outcome = find_outcome(c, q->which);
    }
    if (c->by_hosts) {
        hwmc_outcome_begin(c, q->which, &q->told);
        return HWMC_ASK_TELL;
    }
    end_setup(s, q->which, &q->told.outcome);
    return ask_answer(s, q, true);
}

static enum hwmc_ask_state ask_tell(struct hwmc_comm *c, struct hwmc_ask *q, struct hwmc_await *a,
                                    int mpi_errno)
{
    struct hwmc_leader_group *s = &c->leader_group[q->which];

    if (mpi_errno == MPI_SUCCESS && !hwmc_outcome_step(c, &q->told, a))
        return HWMC_ASK_TELL;
    if (mpi_errno == MPI_SUCCESS && q->told.shm.err != HWMC_OK)
        mpi_errno = hwmc_shm_failed(&c->shm->host, q->told.shm.err);
    if (mpi_errno)
        q->told.outcome.state = HWMC_LEADER_GROUP_BROKEN;
    end_setup(s, q->which, &q->told.outcome);
    return ask_answer(s, q, true);
}

static enum hwmc_ask_state ask_step(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_ask *q,
                                    struct hwmc_await *a, int mpi_errno)
{
    switch (q->state) {
        case HWMC_ASK_NEW:
            return ask_new(comm, c, q);
        case HWMC_ASK_HIERARCHY:
            return ask_hierarchy(comm, c, q, a, mpi_errno);
        case HWMC_ASK_BEGUN:
            return ask_begun(c, q);
        case HWMC_ASK_OUTCOME:
            return ask_outcome(c, q, a);
        case HWMC_ASK_SETTLE:
            return ask_settle(comm, c, q, a);
        case HWMC_ASK_TELL:
            return ask_tell(c, q, a, mpi_errno);
        default:
            return HWMC_ASK_ANSWERED;
    }
}

bool hwmc_leader_group_ask(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_ask *q,
                           struct hwmc_await *a, int mpi_errno)
{
    a->kind = HWMC_AWAIT_NOTHING;
    while (q->state != HWMC_ASK_ANSWERED && a->kind == HWMC_AWAIT_NOTHING) {
        q->state = ask_step(comm, c, q, a, mpi_errno);
        mpi_errno = MPI_SUCCESS;
    }
    return q->state == HWMC_ASK_ANSWERED;
}

bool hwmc_leader_group_ready(MPIR_Comm *comm, struct hwmc_comm *c, uint32_t which, MPI_Aint bytes)
{
    struct hwmc_ask q;
    struct hwmc_await a;
    int mpi_errno = MPI_SUCCESS;

    if (likely(c->leader_group[which].state >= HWMC_LEADER_GROUP_ON))
        return c->leader_group[which].state != HWMC_LEADER_GROUP_OFF;
    q = hwmc_ask_of(which, bytes, -1);
    while (!hwmc_leader_group_ask(comm, c, &q, &a, mpi_errno))
        mpi_errno = hwmc_await(&a);
    return q.goes;
}

/* Each host has one rank: nobody is waited for. */
void hwmc_leader_group_prepare(MPIR_Comm *comm, struct hwmc_comm *c)
{
    if (by_weight(0)) {
        c->leader_group[0].state = HWMC_LEADER_GROUP_SETUP;
        begin_members(comm, c, 0);
    }
}

int hwmc_leader_group_error(const struct hwmc_leader_group *s)
{
    int mpi_errno = MPI_SUCCESS;

    if (s->state != HWMC_LEADER_GROUP_BROKEN)
        return MPI_SUCCESS;
    if (s->group)
        return hwmc_failure_error(s->group);
    MPIR_ERR_SETANDJUMP(mpi_errno, MPI_ERR_OTHER, "**hwmc_setup");

fn_fail:
    return mpi_errno;
}

int hwmc_leader_groups_lost(const void *of)
{
    const struct hwmc_comm *c = of;
    const struct hwmc_group *broken = NULL;

    hwmc_lock();
    for (uint32_t i = 0; i < HWMC_LEADERS_MAX && !broken; i++) {
        const struct hwmc_group *g = c->leader_group[i].group;

        if (g && c->leader_group[i].state == HWMC_LEADER_GROUP_ON && g->state == HWMC_GROUP_BROKEN)
            broken = g;
    }
    hwmc_unlock();
    return broken ? hwmc_failure_error(broken) : MPI_SUCCESS;
}

uint32_t hwmc_leader_group_of_root(const struct hwmc_comm *c, int root)
{
    const uint32_t leaders =
        (uint32_t) MPL_MIN(MPL_MAX(hwmc_settings.tune.leaders, 1), (int) HWMC_LEADERS_MAX);
    const uint32_t which = c->leaders.place[root];

    return which < leaders && c->leader_group[0].state != HWMC_LEADER_GROUP_BROKEN ? which : 0;
}
