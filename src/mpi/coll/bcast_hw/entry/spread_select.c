/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_select: see spread_select.h.
 */

#include "spread_select.h"

#include "rehearse.h"
#include "../select/choose.h"
#include "../select/network.h"
#include "../settings/settings.h"
#include "../stats/counters.h"

static struct hwmc_coll_case case_of(const struct hwmc_spread *s, uint32_t members,
                                     const struct hwmc_shape *shape)
{
    const uint32_t ranks = (uint32_t) s->comm->local_size;

    return (struct hwmc_coll_case){
        .coll = s->coll,
        .commutative = s->commutative,
        .members = members,
        .each = (ranks - 1) / members + 1,
        .bytes = s->length,
        .part = hwmc_coll_part(hwmc_network_now()),
        .shape = *shape,
    };
}

struct hwmc_coll_case hwmc_spread_case(const struct hwmc_spread *s)
{
    const uint32_t ranks = (uint32_t) s->comm->local_size;

    return case_of(s, s->c->by_hosts ? s->c->hosts : ranks, &s->c->leader_group[0].shape);
}

static struct hwmc_trials_key key_of(const struct hwmc_spread *s)
{
    return (struct hwmc_trials_key){
        .coll = s->coll, .tries = s->tries, .commutative = s->commutative, .bytes = s->length};
}

/* By the table of docs/collectives.md, or the cost model. */
static bool is_expected_fastest(const struct hwmc_spread *s, const struct hwmc_coll_case *c)
{
    return s->c->by_hosts && s->ops->wins ? s->ops->wins(s, hwmc_leaders_num(&s->c->leaders))
                                          : hwmc_spread_is_ours(c);
}

/* NULL: it is not tried. */
static struct hwmc_trials_entry *make_trial(const struct hwmc_spread *s,
                                            const struct hwmc_coll_case *c, bool goes)
{
    const uint64_t most = s->tries == HWMC_TRIES_BESIDE ? HWMC_REHEARSE_MOST : UINT64_MAX - 1;
    uint64_t cost[HWMC_TRIAL_WAYS] = {HWMC_TRIAL_NO_WAY, HWMC_TRIAL_NO_WAY, HWMC_TRIAL_NO_WAY};

    /* HWMC_LENGTH_UNKNOWN is more. */
    if (!hwmc_settings.tune.trials || s->tries == HWMC_TRIES_NOTHING || s->length > most)
        return NULL;
    cost[HWMC_WAY_HWMC] = hwmc_coll_ours_ns(hwmc_network_now(), c);
    cost[HWMC_WAY_MPICH] = hwmc_coll_mpich_ns(hwmc_network_now(), c);
    return hwmc_trials_make(s->comm, s->c, key_of(s), cost, goes ? HWMC_WAY_HWMC : HWMC_WAY_MPICH);
}

/* Nobody says who runs it. */
static bool is_fastest(const struct hwmc_spread *s, const struct hwmc_coll_case *c, bool blocking)
{
    struct hwmc_trials_entry *e = hwmc_trials_find(&s->c->trials, key_of(s));
    bool goes = e ? e->trial.used == HWMC_WAY_HWMC : is_expected_fastest(s, c);

    if (!e && blocking)
        e = make_trial(s, c, goes);
    if (e && blocking)
        goes = hwmc_trials_begin(&s->c->trials, e) == HWMC_WAY_HWMC;
    return goes || s->c->leader_group[0].state == HWMC_LEADER_GROUP_BROKEN;
}

bool hwmc_spread_goes(const struct hwmc_spread *s, bool blocking)
{
    const struct hwmc_coll_case c = hwmc_spread_case(s);
    bool goes = !s->ops->fits || s->ops->fits(s);

    if (goes && !hwmc_spread_is_said(&c, &goes))
        goes = is_fastest(s, &c, blocking);
    hwmc_note_spread(goes);
    return goes;
}

bool hwmc_spread_pays(const struct hwmc_spread *s)
{
    struct hwmc_coll_case c;
    const struct hwmc_trials_entry *found;
    struct hwmc_shape shape;
    bool goes;

    if (s->c->worth != HWMC_WORTH_YES)
        return true; /* no memory to know it: as others may */
    hwmc_expect_shape(s->c->hosts, &shape);
    c = case_of(s, s->c->hosts, &shape);
    if (hwmc_spread_is_said(&c, &goes))
        return goes;
    found = hwmc_trials_find(&s->c->trials, key_of(s));
    if (found && found->trial.trials > 0)
        return found->trial.used == HWMC_WAY_HWMC;
    return c.each > 1 && s->ops->wins ? s->ops->wins(s, c.each) : hwmc_spread_is_ours(&c);
}

/* Bytes of a message that is multicast. */
static MPI_Aint cast_bytes(const struct hwmc_spread *s)
{
    const bool casts = s->coll == HWMC_COLL_ALLREDUCE || s->coll == HWMC_COLL_ALLGATHER;

    return casts && s->length > 0 ? (MPI_Aint) s->length : 1;
}

struct hwmc_comm *hwmc_spread_twin(const struct hwmc_spread *s)
{
    return hwmc_twin_hosts(s->comm, s->c, s->root, cast_bytes(s), s->coll == HWMC_COLL_ALLGATHER);
}
