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

#define UNKNOWN_AS                                                                                 \
    1024u /* bytes: for what a trial of calls of any length is expected to take, all ways alike */

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
        .part = hwmc_pace_of(hwmc_network_now()).part,
        .shape = *shape,
    };
}

struct hwmc_coll_case hwmc_spread_case(const struct hwmc_spread *s)
{
    return case_of(s, hwmc_spread_members(s), &s->c->leader_group[0].shape);
}

/* Ranks of the host that has most, where one of each host takes part. */
static uint32_t most_ranks(const struct hwmc_spread *s)
{
    return s->c->by_hosts ? hwmc_leaders_num(&s->c->leaders) : 1;
}

/* Rather than MPICH as it chooses: by the table of docs/collectives.md, or the cost model. */
static bool is_expected_fastest(const struct hwmc_spread *s, const struct hwmc_coll_case *c,
                                uint32_t most)
{
    return most > 1 && s->ops->wins ? s->ops->wins(s, most) : hwmc_spread_is_ours(c);
}

static bool is_of_any_length(const struct hwmc_spread *s)
{
    return s->length == HWMC_LENGTH_UNKNOWN;
}

static bool can_go_directly(const struct hwmc_spread *s)
{
    if (!s->ops->directly || !s->ops->fits_directly(s))
        return false;
    return is_of_any_length(s) ||
           hwmc_coll_direct_fits(s->coll, (uint64_t) s->comm->local_size, s->length);
}

static struct hwmc_trials_key key_of(const struct hwmc_spread *s)
{
    return (struct hwmc_trials_key){.coll = s->coll,
                                    .tries = s->tries,
                                    .commutative = s->commutative,
                                    .directly = can_go_directly(s),
                                    .bytes = s->length};
}

/* Of calls of any length one trial must do, which short ones may decide. So it is between ways that
 * lose little at any length: MPICH's, a message for each part; by leaders the direct one, if there
 * is one, where that is so for long parts; else hwmc's, as long as it is in use over one rail. One
 * that is left then is not tried again, and a call in place, which has no direct way, is no part of
 * one. Without leaders the direct way has MPICH's messages for short parts. */
static bool can_be_tried(const struct hwmc_spread *s, enum hwmc_way used)
{
    if (!hwmc_settings.tune.trials || s->tries == HWMC_TRIES_NOTHING)
        return false;
    if (s->tries == HWMC_TRIES_BESIDE)
        return s->length <= HWMC_REHEARSE_MOST;
    if (!is_of_any_length(s))
        return true;
    return can_go_directly(s) ? s->c->by_hosts : used == HWMC_WAY_HWMC && !hwmc_network_has_rails();
}

/* There is room for it. NULL: nothing is known of the network, or there is no memory. */
static struct hwmc_trials_entry *make_trial(const struct hwmc_spread *s,
                                            const struct hwmc_coll_case *c, enum hwmc_way used)
{
    const struct hwmc_network *net = hwmc_network_now();
    const bool directly = can_go_directly(s);
    struct hwmc_coll_case of = *c;
    uint64_t cost[HWMC_TRIAL_WAYS] = {HWMC_TRIAL_NO_WAY, HWMC_TRIAL_NO_WAY, HWMC_TRIAL_NO_WAY};

    MPL_COMPILE_TIME_ASSERT(HWMC_WAY_DIRECT + 1 == HWMC_TRIAL_WAYS);
    if (is_of_any_length(s))
        of.bytes = UNKNOWN_AS;
    cost[HWMC_WAY_HWMC] = hwmc_coll_ours_ns(net, &of);
    cost[HWMC_WAY_MPICH] = hwmc_coll_mpich_ns(net, &of);
    if (directly && is_of_any_length(s)) { /* short parts go as hwmc's do */
        cost[HWMC_WAY_DIRECT] = cost[HWMC_WAY_HWMC];
        cost[HWMC_WAY_HWMC] = HWMC_TRIAL_NO_WAY;
    } else if (directly) {
        cost[HWMC_WAY_DIRECT] = hwmc_coll_direct_ns(net, &of);
    }
    return hwmc_trials_make(s->comm, s->c, key_of(s), cost, used);
}

/* Before anything is tried. */
static enum hwmc_way expected_way(const struct hwmc_spread *s, const struct hwmc_coll_case *c)
{
    if (is_of_any_length(s) && can_go_directly(s))
        return HWMC_WAY_DIRECT;
    return hwmc_coll_way(hwmc_network_now(), c, is_expected_fastest(s, c, most_ranks(s)));
}

/* Nobody says which way. */
static enum hwmc_way fastest_way(const struct hwmc_spread *s, const struct hwmc_coll_case *c)
{
    struct hwmc_trials_entry *e = hwmc_trials_find(&s->c->trials, key_of(s));
    enum hwmc_way way = e ? (enum hwmc_way) e->trial.used : expected_way(s, c);

    if (!e && hwmc_trials_have_room(&s->c->trials))
        e = make_trial(s, c, way);
    if (e && can_be_tried(s, way))
        way = (enum hwmc_way) hwmc_trials_begin(&s->c->trials, e);
    return s->c->leader_group[0].state == HWMC_LEADER_GROUP_BROKEN ? HWMC_WAY_HWMC : way;
}

enum hwmc_way hwmc_spread_way(const struct hwmc_spread *s)
{
    const struct hwmc_coll_case c = hwmc_spread_case(s);
    enum hwmc_way way = HWMC_WAY_MPICH;

    if ((!s->ops->fits || s->ops->fits(s)) && !hwmc_spread_is_said(&c, &way))
        way = fastest_way(s, &c);
    if (way == HWMC_WAY_DIRECT && !can_go_directly(s)) /* as variable or file may say */
        way = s->coll == HWMC_COLL_ALLREDUCE ? HWMC_WAY_HWMC : HWMC_WAY_MPICH;
    hwmc_note_spread(hwmc_way_is_hwmcs(s->coll, way) ||
                     (way == HWMC_WAY_DIRECT && is_of_any_length(s))); /* in part: split.h */
    return way;
}

/* Of the ways of a collective that is not waited for, one of hwmc's is the fastest, as found. */
static bool found_ours(const struct hwmc_trials_entry *e)
{
    const struct hwmc_trial *t = &e->trial;

    if (t->used == HWMC_WAY_DIRECT && !hwmc_way_is_hwmcs(e->key.coll, HWMC_WAY_DIRECT))
        return t->cost[HWMC_WAY_HWMC] <= t->cost[HWMC_WAY_MPICH];
    return t->used != HWMC_WAY_MPICH;
}

/* Variable, file or resilient mode say so. A word that is of blocking calls says nothing. */
static bool is_said(const struct hwmc_coll_case *c, enum hwmc_way *way)
{
    return hwmc_spread_is_said(c, way) &&
           (*way != HWMC_WAY_DIRECT || hwmc_way_is_hwmcs(c->coll, HWMC_WAY_DIRECT));
}

/* Of one that hwmc runs, where nothing is said: by blocks, as was found, or as the model has it. */
static bool blocks_are_faster(const struct hwmc_spread *s, const struct hwmc_coll_case *c,
                              const struct hwmc_trials_entry *e)
{
    const struct hwmc_network *net = hwmc_network_now();

    if (s->coll != HWMC_COLL_ALLREDUCE || !can_go_directly(s))
        return false;
    if (e)
        return e->trial.cost[HWMC_WAY_DIRECT] < e->trial.cost[HWMC_WAY_HWMC];
    return hwmc_coll_direct_ns(net, c) < hwmc_coll_ours_ns(net, c);
}

/* Of one that is not waited for: one of hwmc's ways is the fastest, as was found, or as is expected
 * of a call of any length that nothing was found of. */
static bool is_ours(const struct hwmc_spread *s, const struct hwmc_coll_case *c,
                    const struct hwmc_trials_entry *e)
{
    if (!e || (e->trial.trials == 0 && is_of_any_length(s)))
        return is_expected_fastest(s, c, most_ranks(s));
    return found_ours(e);
}

bool hwmc_spread_goes(struct hwmc_spread *s)
{
    const struct hwmc_coll_case c = hwmc_spread_case(s);
    bool goes = !s->ops->fits || s->ops->fits(s);
    enum hwmc_way way;

    s->by_blocks = false;
    if (goes && is_said(&c, &way)) {
        goes = hwmc_way_is_hwmcs(c.coll, way);
        s->by_blocks = way == HWMC_WAY_DIRECT && can_go_directly(s);
    } else if (goes) {
        const struct hwmc_trials_entry *e = hwmc_trials_find(&s->c->trials, key_of(s));

        goes = is_ours(s, &c, e) || s->c->leader_group[0].state == HWMC_LEADER_GROUP_BROKEN;
        s->by_blocks = blocks_are_faster(s, &c, e);
    }
    hwmc_note_spread(goes);
    return goes;
}

bool hwmc_spread_pays(const struct hwmc_spread *s)
{
    struct hwmc_coll_case c;
    const struct hwmc_trials_entry *found;
    struct hwmc_shape shape;
    enum hwmc_way way;

    if (s->c->worth != HWMC_WORTH_YES)
        return true; /* no memory to know it: as others may */
    hwmc_expect_shape(s->c->hosts, &shape);
    c = case_of(s, s->c->hosts, &shape);
    if (is_said(&c, &way))
        return hwmc_way_is_hwmcs(c.coll, way);
    found = hwmc_trials_find(&s->c->trials, key_of(s));
    if (found && found->trial.trials > 0)
        return found_ours(found);
    return is_expected_fastest(s, &c, c.each);
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
