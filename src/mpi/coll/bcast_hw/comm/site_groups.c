/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * site_groups: see site_groups.h.
 */

#include "comm.h"
#include "../core/base/prng.h"
#include "../process/process.h"

#define KEYS UINT64_C(0x7369746573) /* tells their keys from those of other groups */

/* What a rank tells: the payload of a datagram where multicast works, or one of these. */
#define NO_MATTER INT_MAX /* it takes no part, or its site has trees */
#define FAILED 0          /* set-up of one of its groups has failed */

#define INSIDE HWMC_SITE_GATEWAYS /* the part that is no part between sites */

/* One of the groups, as a part of the leader group's. */
struct part {
    const struct hwmc_group *all;
    uint32_t which; /* of those between sites; or INSIDE */
    uint32_t site;  /* this rank's */
};

bool hwmc_site_groups_wanted(const struct hwmc_shape *shape)
{
    return shape->frag_bytes == 0 && shape->sites > 1 && shape->sites < shape->ranks;
}

uint32_t hwmc_site_gateway(const struct hwmc_sites *sites, uint32_t site, uint32_t which)
{
    const uint32_t size = sites->first[site + 1] - sites->first[site];

    return MPL_MIN(which, size - 1);
}

static uint32_t part_size(const struct part *p)
{
    const struct hwmc_sites *sites = &p->all->sites;

    return p->which == INSIDE ? sites->first[p->site + 1] - sites->first[p->site] : sites->n;
}

/* This rank's place among the members of its site. */
static uint32_t own_place(const struct part *p)
{
    return p->all->sites.at[p->all->cfg.rank] - p->all->sites.first[p->site];
}

/* The member of the leader group's group at place `i`. */
static uint32_t part_member(const struct part *p, uint32_t i)
{
    const struct hwmc_sites *sites = &p->all->sites;

    if (p->which == INSIDE)
        return sites->ranks[sites->first[p->site] + i];
    return sites->ranks[sites->first[i] + hwmc_site_gateway(sites, i, p->which)];
}

/* Without memory for it: all members get to know. */
static void part_decline(const struct part *p, const struct hwmc_group_cfg *cfg)
{
    const uint32_t *world = p->all->world;
    struct hwmc_decline_cfg d = {.context = cfg->context,
                                 .size = cfg->size,
                                 .rank = cfg->rank,
                                 .fanout = cfg->fanout,
                                 .key = cfg->key,
                                 .leader = world[part_member(p, 0)]};

    hwmc_decline_list(&d);
    for (uint32_t i = 0; i < d.num_neighbours; i++)
        d.world[i] = world[part_member(p, d.neighbour[i])];
    (void) hwmc_decline_begin(&hwmc_process_engine()->groups, &d, hwmc_now());
}

/* Begins set-up. NULL: it is declined. */
static struct hwmc_group *part_begin(const struct hwmc_comm *c, const struct part *p)
{
    const uint32_t size = part_size(p);
    struct hwmc_group_cfg cfg = {.context = p->all->cfg.context,
                                 .size = size,
                                 .rank = p->which == INSIDE ? own_place(p) : p->site,
                                 .apart = p->which != INSIDE,
                                 .key =
                                     hwmc_prng(hwmc_prng(p->all->cfg.key, KEYS),
                                               p->which == INSIDE ? INSIDE + p->site : p->which)};
    uint32_t *world = MPL_malloc(size * sizeof(*world), MPL_MEM_COMM);
    uint64_t *site = MPL_malloc(size * sizeof(*site), MPL_MEM_COMM);
    struct hwmc_group *g = NULL;

    if (p->which == INSIDE)
        hwmc_configure_site(&cfg, c->twin.bytes, c->twin.by_all);
    else
        hwmc_configure_group(&cfg, c->twin.bytes, c->twin.by_all);
    hwmc_lock();
    if (world && site) {
        for (uint32_t i = 0; i < size; i++) {
            world[i] = p->all->world[part_member(p, i)];
            site[i] = i;
        }
        cfg.world = world;
        cfg.site = p->which == INSIDE ? NULL : site;
        g = hwmc_group_create(&hwmc_process_engine()->groups, &cfg, hwmc_now());
    }
    if (!g)
        part_decline(p, &cfg);
    hwmc_unlock();
    MPL_free(world);
    MPL_free(site);
    return g;
}

static void begin_part(struct hwmc_comm *c, const struct part *p, struct hwmc_group **g)
{
    *g = part_begin(c, p);
    if (!*g)
        c->site_groups.own = FAILED;
}

void hwmc_site_groups_begin(MPIR_Comm *comm, struct hwmc_comm *c, int tag)
{
    struct hwmc_site_groups *s = &c->site_groups;
    struct part p = {.all = c->leader_group[0].group, .which = INSIDE};

    s->messages = hwmc_messages_of(comm, tag);
    s->state = HWMC_SITE_GROUPS_GROUPS;
    s->own = NO_MATTER;
    if (!p.all)
        return;
    p.site = hwmc_sites_of(&p.all->sites, p.all->cfg.rank);
    if (part_size(&p) > 1)
        begin_part(c, &p, &s->inside);
    for (p.which = 0; p.which < HWMC_SITE_GATEWAYS; p.which++)
        if (hwmc_site_gateway(&p.all->sites, p.site, p.which) == own_place(&p))
            begin_part(c, &p, &s->between[p.which]);
}

/* Whether set-up of `g` has ended; what this rank tells of it. */
static bool has_settled(struct hwmc_group *g, struct hwmc_site_groups *s, struct hwmc_await *a)
{
    enum hwmc_group_state state;

    if (!g)
        return true;
    hwmc_lock();
    state = g->state;
    if (state != HWMC_GROUP_SETUP && state != HWMC_GROUP_ON)
        s->own = FAILED;
    else if (state == HWMC_GROUP_ON && g->casts)
        s->own = MPL_MIN(s->own, (int) g->negotiation.agreed.frag_bytes);
    hwmc_unlock();
    if (state == HWMC_GROUP_SETUP)
        *a = (struct hwmc_await){.kind = HWMC_AWAIT_GROUP, .group = g};
    return state != HWMC_GROUP_SETUP;
}

static bool step_agree(struct hwmc_site_groups *s, struct hwmc_shape *shape, struct hwmc_await *a,
                       int *mpi_errno)
{
    if (*mpi_errno == MPI_SUCCESS && !hwmc_messages_over(&s->messages, mpi_errno)) {
        *a = (struct hwmc_await){.kind = HWMC_AWAIT_MESSAGES, .messages = &s->messages};
        return false;
    }
    s->state = HWMC_SITE_GROUPS_ENDED;
    if (*mpi_errno == MPI_SUCCESS && s->least != FAILED && s->least != NO_MATTER)
        shape->site_frag_bytes = (uint32_t) s->least;
    else
        hwmc_site_groups_drop(s);
    return true;
}

bool hwmc_site_groups_step(struct hwmc_comm *c, struct hwmc_shape *shape, struct hwmc_await *a,
                           int *mpi_errno)
{
    struct hwmc_site_groups *s = &c->site_groups;

    if (s->state == HWMC_SITE_GROUPS_GROUPS && *mpi_errno == MPI_SUCCESS) {
        if (!has_settled(s->inside, s, a) || !has_settled(s->between[0], s, a) ||
            !has_settled(s->between[1], s, a))
            return false;
        *mpi_errno = hwmc_messages_least(&s->messages, &s->own, &s->least);
        s->state = HWMC_SITE_GROUPS_AGREE;
    }
    return step_agree(s, shape, a, mpi_errno);
}

void hwmc_site_groups_drop(struct hwmc_site_groups *s)
{
    hwmc_drop_group(&s->inside);
    for (uint32_t i = 0; i < HWMC_SITE_GATEWAYS; i++)
        hwmc_drop_group(&s->between[i]);
}
