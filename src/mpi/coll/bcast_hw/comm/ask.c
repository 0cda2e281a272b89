/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ask: see ask.h.
 */

#include "shm.h"
#include "../op/wait.h"
#include "../process/hosts.h"
#include "../select/choose.h"
#include "../settings/settings.h"

static uint64_t setup_after(const struct hwmc_comm *c)
{
    int n = hwmc_settings.tune.setup_after;

    return c->twin.is ? 0 : n >= 0 ? (uint64_t) n : hwmc_is_forced() ? 0 : 4;
}

static uint64_t setup_ahead(const struct hwmc_comm *c)
{
    int n = hwmc_settings.tune.setup_ahead;

    return c->twin.is ? 0 : n >= 0 ? (uint64_t) n : hwmc_is_forced() ? 0 : 16;
}

/* A persistent broadcast of its own group is not weighed: the first start sets it up. */
static bool by_weight(const struct hwmc_comm *c, uint32_t which)
{
    return which == 0 && !c->twin.is && !hwmc_is_forced() && hwmc_settings.tune.setup_after < 0 &&
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

    if (!by_weight(c, q->which))
        return q->number >= setup_after(c) && s->state == HWMC_LEADER_GROUP_COUNTING;
    cost = hwmc_setup_cost(c->hosts);
    weight = MPL_MIN(hwmc_weight(c->hosts, q->bytes), cost);
    s->weight += weight;
    if (s->state != HWMC_LEADER_GROUP_COUNTING || (s->weight < cost && q->number < setup_after(c)))
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
        hwmc_leader_group_begin(comm, c, q->which);
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
        hwmc_leader_group_begin(comm, c, q->which);
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
    if (!by_weight(c, q->which)) {
        due = q->number >= setup_after(c) + setup_ahead(c);
        return due ? HWMC_ASK_SETTLE : ask_answer(s, q, false);
    }
    q->number -= s->begun;
    if (s->weight >= hwmc_setup_cost(c->hosts) || q->number >= setup_ahead(c))
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

/* The outcome is known here. Where multicast ends with a site, each site may have its own. */
static enum hwmc_ask_state ask_outcome_known(MPIR_Comm *comm, struct hwmc_comm *c,
                                             struct hwmc_ask *q)
{
    struct hwmc_outcome *outcome = &q->told.outcome;
    int mpi_errno = MPI_SUCCESS;

    if (q->which == 0 && outcome->state == HWMC_LEADER_GROUP_ON &&
        hwmc_site_groups_wanted(&outcome->shape)) {
        if (q->tag < 0)
            mpi_errno = hwmc_messages_tag(comm, &q->tag);
        if (mpi_errno == MPI_SUCCESS) {
            hwmc_site_groups_begin(comm, c, q->tag);
            return HWMC_ASK_SITES;
        }
        outcome->state = HWMC_LEADER_GROUP_BROKEN;
    }
    hwmc_leader_group_end(&c->leader_group[q->which], q->which, outcome);
    return ask_answer(&c->leader_group[q->which], q, true);
}

static enum hwmc_ask_state ask_settle(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_ask *q,
                                      struct hwmc_await *a)
{
    struct hwmc_leader_group *s = &c->leader_group[q->which];

    q->told.outcome = (struct hwmc_outcome){.state = HWMC_LEADER_GROUP_OFF};
    if (hwmc_leader_group_has(c, q->which, (uint32_t) comm->rank)) {
        if (ask_awaits_group(s, a))
            return HWMC_ASK_SETTLE;
        q->told.outcome = hwmc_leader_group_outcome(c, q->which);
    }
    if (c->by_hosts) {
        hwmc_outcome_begin(c, q->which, &q->told);
        return HWMC_ASK_TELL;
    }
    return ask_outcome_known(comm, c, q);
}

static enum hwmc_ask_state ask_tell(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_ask *q,
                                    struct hwmc_await *a, int mpi_errno)
{
    if (mpi_errno == MPI_SUCCESS && !hwmc_outcome_step(c, &q->told, a))
        return HWMC_ASK_TELL;
    if (mpi_errno == MPI_SUCCESS && q->told.shm.err != HWMC_OK)
        mpi_errno = hwmc_shm_failed(&c->shm->host, q->told.shm.err);
    if (mpi_errno)
        q->told.outcome.state = HWMC_LEADER_GROUP_BROKEN;
    return ask_outcome_known(comm, c, q);
}

static enum hwmc_ask_state ask_sites(struct hwmc_comm *c, struct hwmc_ask *q, struct hwmc_await *a,
                                     int mpi_errno)
{
    struct hwmc_leader_group *s = &c->leader_group[q->which];

    if (!hwmc_site_groups_step(c, &q->told.outcome.shape, a, &mpi_errno))
        return HWMC_ASK_SITES;
    if (mpi_errno)
        q->told.outcome.state = HWMC_LEADER_GROUP_BROKEN;
    hwmc_leader_group_end(s, q->which, &q->told.outcome);
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
            return ask_tell(comm, c, q, a, mpi_errno);
        case HWMC_ASK_SITES:
            return ask_sites(c, q, a, mpi_errno);
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
    if (by_weight(c, 0)) {
        c->leader_group[0].state = HWMC_LEADER_GROUP_SETUP;
        hwmc_leader_group_begin(comm, c, 0);
    }
}
