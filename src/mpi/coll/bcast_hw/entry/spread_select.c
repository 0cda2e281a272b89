/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_select: see spread_select.h.
 */

#include "spread_select.h"

#include "../select/choose.h"
#include "../select/network.h"
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

bool hwmc_spread_goes(const struct hwmc_spread *s)
{
    const struct hwmc_coll_case c = hwmc_spread_case(s);
    bool goes = !s->ops->fits || s->ops->fits(s);

    if (goes && !hwmc_spread_is_said(&c, &goes))
        goes = s->c->by_hosts && s->ops->wins ? s->ops->wins(s, hwmc_leaders_num(&s->c->leaders))
                                              : hwmc_spread_is_ours(&c);
    hwmc_note_spread(goes);
    return goes;
}

bool hwmc_spread_pays(const struct hwmc_spread *s)
{
    struct hwmc_coll_case c;
    struct hwmc_shape shape;
    bool goes;

    if (s->c->worth != HWMC_WORTH_YES)
        return true; /* no memory to know it: as others may */
    hwmc_expect_shape(s->c->hosts, &shape);
    c = case_of(s, s->c->hosts, &shape);
    if (hwmc_spread_is_said(&c, &goes))
        return goes;
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
