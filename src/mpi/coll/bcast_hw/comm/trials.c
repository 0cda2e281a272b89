/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trials: see trials.h.
 */

#include "comm.h"
#include "../select/choose.h"
#include "../select/network.h"
#include "../settings/settings.h"

static bool same_key(const struct hwmc_trials_key *a, const struct hwmc_trials_key *b)
{
    return a->coll == b->coll && a->tries == b->tries && a->commutative == b->commutative &&
           a->directly == b->directly && a->bytes == b->bytes;
}

struct hwmc_trials_entry *hwmc_trials_find(struct hwmc_trials *t, struct hwmc_trials_key key)
{
    struct hwmc_trials_entry **at = &t->first, *e;

    while (*at && !same_key(&(*at)->key, &key))
        at = &(*at)->next;
    e = *at;
    if (e && e != t->first) {
        *at = e->next;
        e->next = t->first;
        t->first = e;
    }
    return e;
}

static struct hwmc_trials_entry *add_entry(struct hwmc_trials *t, struct hwmc_trials_key key)
{
    struct hwmc_trials_entry *e = MPL_malloc(sizeof(*e), MPL_MEM_COMM);

    if (e) {
        e->key = key;
        e->ended = 0;
        e->next = t->first;
        t->first = e;
        t->num++;
    }
    return e;
}

/* What ranks take to agree on how long a block took: an allreduce of a number. */
static uint64_t agreement_ns(const MPIR_Comm *comm, const struct hwmc_comm *c)
{
    const uint32_t ranks = (uint32_t) comm->local_size,
                   members = hwmc_leader_group_members(comm, c);
    const struct hwmc_coll_case agreement = {
        .coll = HWMC_COLL_ALLREDUCE,
        .commutative = true,
        .members = members,
        .each = (ranks - 1) / members + 1,
        .bytes = sizeof(uint64_t),
        .part = hwmc_pace_of(hwmc_network_now()).part,
        .shape = c->leader_group[0].shape,
    };

    return hwmc_coll_ours_ns(hwmc_network_now(), &agreement);
}

/* HWMC_COLL_LIMIT: a broadcast. */
static bool has_root(enum hwmc_coll coll)
{
    return coll == HWMC_COLL_REDUCE || coll == HWMC_COLL_GATHER || coll == HWMC_COLL_SCATTER ||
           coll == HWMC_COLL_LIMIT;
}

static enum hwmc_trial_kind kind_of(const struct hwmc_trials_key *key)
{
    if (key->tries == HWMC_TRIES_BESIDE)
        return HWMC_TRIAL_BESIDE;
    return has_root(key->coll) ? HWMC_TRIAL_SETTLED : HWMC_TRIAL_OF_CALLS;
}

struct hwmc_trials_entry *hwmc_trials_make(const MPIR_Comm *comm, struct hwmc_comm *c,
                                           struct hwmc_trials_key key,
                                           const uint64_t cost[HWMC_TRIAL_WAYS], uint32_t used)
{
    struct hwmc_trials_entry *e;

    if (!hwmc_trials_have_room(&c->trials) || cost[used] == HWMC_TRIAL_NO_WAY)
        return NULL;
    e = add_entry(&c->trials, key);
    if (!e) {
        hwmc_leader_groups_break(c);
        return NULL;
    }
    hwmc_trial_init(&e->trial, cost, used, agreement_ns(comm, c), kind_of(&key));
    return e;
}

uint32_t hwmc_trials_begin(struct hwmc_trials *t, struct hwmc_trials_entry *e)
{
    uint32_t way;

    if (hwmc_trial_watches(&e->trial) && e->ended > 0)
        hwmc_trial_follows(&e->trial, hwmc_now() - e->ended);
    way = hwmc_trial_begin(&e->trial);
    t->watched = hwmc_trial_watches(&e->trial) ? e : NULL;
    t->under_way = e->trial.trying ? e : NULL;
    if (!e->trial.trying)
        hwmc_trial_end(&e->trial, 0);
    return way;
}

void hwmc_trials_ended(struct hwmc_trials *t)
{
    t->watched->ended = hwmc_now();
    t->watched = NULL;
}

/* MPICH's algorithms are one way: it chooses between them. */
static void bcast_costs(const struct hwmc_shape *shape, MPI_Aint bytes,
                        uint64_t cost[HWMC_TRIAL_WAYS])
{
    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        cost[w] = HWMC_TRIAL_NO_WAY;
    for (uint32_t a = 0; a < HWMC_ALGORITHM_LIMIT; a++) {
        const uint64_t ns =
            hwmc_model_ns(hwmc_network_now(), shape, (enum hwmc_algorithm) a, (uint64_t) bytes);
        const uint32_t w = MPL_MIN(a, HWMC_ALGORITHM_BINOMIAL);

        cost[w] = MPL_MIN(cost[w], ns);
    }
}

static struct hwmc_trials_key bcast_key(MPI_Aint bytes)
{
    return (struct hwmc_trials_key){
        .coll = HWMC_COLL_LIMIT, .commutative = true, .bytes = (uint64_t) bytes};
}

bool hwmc_trials_bcast_found(struct hwmc_trials *t, MPI_Aint bytes, enum hwmc_algorithm *a)
{
    const struct hwmc_trials_entry *e = hwmc_trials_find(t, bcast_key(bytes));

    if (!e || e->trial.trials == 0)
        return false;
    *a = (enum hwmc_algorithm) e->trial.used;
    return true;
}

enum hwmc_algorithm hwmc_trials_bcast(const MPIR_Comm *comm, struct hwmc_comm *c, MPI_Aint bytes,
                                      bool blocking)
{
    const bool tries = blocking && hwmc_settings.tune.trials && !hwmc_bcast_is_said() &&
                       !hwmc_settings.ways.resilient;
    const struct hwmc_shape *shape = &c->leader_group[0].shape;
    struct hwmc_trials_entry *e = hwmc_trials_find(&c->trials, bcast_key(bytes));
    uint64_t cost[HWMC_TRIAL_WAYS];
    enum hwmc_algorithm a;

    MPL_COMPILE_TIME_ASSERT(HWMC_ALGORITHM_BINOMIAL + 1 == HWMC_TRIAL_WAYS);
    a = e ? (enum hwmc_algorithm) e->trial.used : hwmc_choose(shape, bytes, hwmc_is_forced());
    if (!e && tries && hwmc_trials_have_room(&c->trials)) {
        bcast_costs(shape, bytes, cost);
        e = hwmc_trials_make(comm, c, bcast_key(bytes), cost, MPL_MIN(a, HWMC_ALGORITHM_BINOMIAL));
    }
    if (e && blocking)
        a = (enum hwmc_algorithm) hwmc_trials_begin(&c->trials, e);
    return a;
}

bool hwmc_trials_inherit(struct hwmc_trials *to, const struct hwmc_trials *from)
{
    for (const struct hwmc_trials_entry *e = from->first; e; e = e->next) {
        struct hwmc_trials_entry *copy;

        if (e->trial.trials == 0)
            continue;
        copy = add_entry(to, e->key);
        if (!copy)
            return false;
        copy->trial = e->trial;
    }
    return true;
}

void hwmc_trials_free(struct hwmc_trials *t)
{
    while (t->first) {
        struct hwmc_trials_entry *e = t->first;

        t->first = e->next;
        MPL_free(e);
    }
    t->num = 0;
}

bool hwmc_trials_stand_aside(MPIR_Comm *comm)
{
    struct hwmc_comm *c = hwmc_comm_state(comm);
    const bool aside = c && c->trials.stands_aside;

    if (aside)
        c->trials.stands_aside = false;
    return aside;
}
