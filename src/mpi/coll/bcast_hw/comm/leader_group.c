/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "shm.h"
#include "../core/base/prng.h"
#include "../engine/seen.h"
#include "../op/host_loss.h"
#include "../op/wait.h"
#include "../op/wait_failure.h"
#include "../process/errors.h"
#include "../process/hosts.h"
#include "../process/sites.h"
#include "../select/choose.h"
#include "../stats/counters.h"
#include "../settings/settings.h"

/* How many leader groups with each hash have begun set-up in this process, and how many persistent
 * collectives were initialized. Has an entry for each different pair of members and context id;
 * both recur in a program's loops. */
static struct hwmc_seen seen;

#define PERSISTENT UINT64_C(0x70657273697374) /* tells their hashes from those of leader groups */

void hwmc_forget_seen(void)
{
    hwmc_seen_free(&seen);
}

uint32_t hwmc_leader_group_at(const struct hwmc_comm *c, uint32_t which, uint32_t host)
{
    return hwmc_leaders_at(&c->leaders, which, host);
}

uint32_t hwmc_leader_group_members(const MPIR_Comm *comm, const struct hwmc_comm *c)
{
    return c->by_hosts ? c->leaders.hosts : (uint32_t) comm->local_size;
}

bool hwmc_leader_group_has(const struct hwmc_comm *c, uint32_t which, uint32_t rank)
{
    return !c->by_hosts || hwmc_leader_group_at(c, which, c->leaders.host_of[rank]) == rank;
}

/* How many members a leader group has, and which of them this rank is, or is represented
 * by. */
static void find_size(MPIR_Comm *comm, const struct hwmc_comm *c, struct hwmc_group_cfg *cfg)
{
    cfg->size = hwmc_leader_group_members(comm, c);
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

/* Where one of the ranks is not of MPI_COMM_WORLD there will be no group, and any name does. */
bool hwmc_leader_group_name(MPIR_Comm *comm, uint64_t *name)
{
    uint64_t hash = hwmc_prng(comm->context_id, (uint64_t) comm->local_size), before;
    uint32_t world;
    bool counted;

    for (int i = 0; i < comm->local_size; i++) {
        if (!hwmc_world_rank(comm, i, &world))
            return true;
        hash = hwmc_prng(hash, world);
    }
    hash = hwmc_prng(hash, PERSISTENT);
    hwmc_lock();
    counted = hwmc_seen_again(&seen, hash, &before);
    hwmc_unlock();
    *name = hwmc_prng(hash, before);
    return counted;
}

/* The key of a group whose members and context id have this hash. False: no memory. */
static bool find_key(const struct hwmc_comm *c, uint32_t which, uint64_t hash, uint64_t *key)
{
    uint64_t before;

    if (c->twin.is) {
        *key = hwmc_prng(c->twin.name, which);
        return true;
    }
    if (!hwmc_seen_again(&seen, hash, &before))
        return false;
    *key = hwmc_prng(hash, before);
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
    uint64_t hash;
    bool listed;

    find_size(comm, c, &cfg);
    if (!hash_members(comm, c, which, &cfg, &hash)) {
        s->state = HWMC_LEADER_GROUP_OFF;
        hwmc_note_reason(HWMC_REASON_SPAWNED);
        return;
    }
    hwmc_configure_group(&cfg, c->twin.bytes, c->twin.by_all);
    find_neighbours(comm, c, which, &cfg, &decline);
    listed = list_members(comm, c, which, cfg.size, &world, &site);
    cfg.world = world;
    cfg.site = hwmc_several_sites() ? site : NULL;
    cfg.apart = hwmc_sites_are_subnets() && listed && hwmc_sites_differ(site, cfg.size);

    hwmc_lock();
    if (find_key(c, which, hash, &cfg.key)) {
        decline.key = cfg.key;
        if (listed)
            s->group = hwmc_group_create(&hwmc_process_engine()->groups, &cfg, hwmc_now());
        if (!s->group)
            s->declined = hwmc_decline_begin(&hwmc_process_engine()->groups, &decline, hwmc_now());
    }
    hwmc_unlock();
    MPL_free(world);
    MPL_free(site);
}

/* A rank that cannot even decline its group must not go on as if
 * nothing were wrong, as others wait for it: its next broadcast is an error. Over several hosts the
 * ranks of its host learn that when set-up ends. */
void hwmc_leader_group_begin(MPIR_Comm *comm, struct hwmc_comm *c, uint32_t which)
{
    struct hwmc_leader_group *s = &c->leader_group[which];

    if (!hwmc_leader_group_has(c, which, (uint32_t) comm->rank))
        return;
    begin_group(comm, c, which);
    if (s->state == HWMC_LEADER_GROUP_SETUP && !s->group && !s->declined && !c->by_hosts)
        s->state = HWMC_LEADER_GROUP_BROKEN;
}

/* A communicator may go after all groups were closed: when in MPI_Finalize the last message of it
 * is complete. */
void hwmc_drop_group(struct hwmc_group **g)
{
    if (*g && hwmc_registered() && !hwmc_drains()) {
        hwmc_lock();
        hwmc_export_forget(*g);
        hwmc_group_close(*g, hwmc_now());
        hwmc_unlock();
    }
    *g = NULL;
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

struct hwmc_outcome hwmc_leader_group_outcome(const struct hwmc_comm *c, uint32_t which)
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

void hwmc_leader_group_end(struct hwmc_leader_group *s, uint32_t which,
                           const struct hwmc_outcome *outcome)
{
    s->state = outcome->state;
    s->shape = outcome->shape;
    if (s->state == HWMC_LEADER_GROUP_OFF)
        hwmc_drop_group(&s->group);
    if (which > 0)
        hwmc_note_leader_group(s->state == HWMC_LEADER_GROUP_ON);
}

int hwmc_leader_group_error(const struct hwmc_leader_group *s)
{
    if (s->state != HWMC_LEADER_GROUP_BROKEN)
        return MPI_SUCCESS;
    return s->group ? hwmc_failure_error(s->group) : hwmc_error_setup();
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
    if (broken && c->by_hosts)
        hwmc_host_loss_note(&c->shm->host, broken);
    hwmc_unlock();
    return broken ? hwmc_failure_error(broken) : MPI_SUCCESS;
}

void hwmc_leader_groups_leave(struct hwmc_comm *c)
{
    hwmc_lock();
    for (uint32_t i = 0; i < HWMC_LEADERS_MAX; i++) {
        struct hwmc_group *g = c->leader_group[i].group;

        if (g && c->leader_group[i].state == HWMC_LEADER_GROUP_ON) {
            if (c->by_hosts)
                hwmc_host_loss_pass(&c->shm->host, g);
            hwmc_group_give_up(g);
            hwmc_group_pump(g, hwmc_now());
        }
    }
    hwmc_unlock();
}

void hwmc_leader_groups_break(struct hwmc_comm *c)
{
    hwmc_leader_groups_leave(c);
    c->leader_group[0].state = HWMC_LEADER_GROUP_BROKEN;
}

void hwmc_leader_groups_settle(struct hwmc_comm *c, enum hwmc_err err)
{
    if (unlikely(err == HWMC_ERR_NOMEM || (c->by_hosts && c->shm->host.broken)))
        hwmc_leader_groups_leave(c);
}

uint32_t hwmc_leader_group_of_root(const struct hwmc_comm *c, int root)
{
    const uint32_t leaders =
        (uint32_t) MPL_MIN(MPL_MAX(hwmc_settings.tune.leaders, 1), (int) HWMC_LEADERS_MAX);
    const uint32_t which = c->leaders.place[root];

    return which < leaders && c->leader_group[0].state != HWMC_LEADER_GROUP_BROKEN &&
                   c->leader_group[0].shape.site_frag_bytes == 0
               ? which
               : 0;
}
