/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hwmc_info --live PID --json: docs/counters.md.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "info.h"
#include "info_page.h"
#include "../../../../../mpi/coll/bcast_hw/stats/json_add.h"
#include "../../../../../mpi/coll/bcast_hw/core/path/session.h"

#include <stdio.h>

static uint32_t num_rails(const struct hwmc_export *live)
{
    const uint32_t num = atomic_load_explicit(&live->num_rails, memory_order_acquire);

    return num < HWMC_RAILS_MAX ? num : HWMC_RAILS_MAX;
}

static struct json_object *rails_of(const struct hwmc_export *live)
{
    struct json_object *all = json_object_new_array();

    for (uint32_t i = 0; i < num_rails(live); i++) {
        const struct hwmc_export_rail *r = &live->rail[i];
        struct json_object *one = json_object_new_object();
        char subnet[HWMC_ADDR_SUBNET_MAX];

        hwmc_info_format_subnet(&r->port, subnet);
        hwmc_json_number(one, "number", r->number);
        hwmc_json_text(one, "port", r->port.name);
        hwmc_json_text(one, "address", subnet);
        hwmc_json_number(one, "mbit", r->port.mbit);
        hwmc_json_text(one, "multicast", r->fabric);
        json_object_array_add(all, one);
    }
    return all;
}

static struct json_object *comms_of(const struct hwmc_export *live)
{
    struct json_object *all = json_object_new_array();
    struct hwmc_export_comm c;

    for (uint32_t i = 0; i < HWMC_EXPORT_COMMS; i++) {
        struct json_object *one;

        if (!hwmc_info_page_read(&live->comm[i].turn, &c, sizeof(c)) || c.ranks == 0)
            continue;
        one = json_object_new_object();
        hwmc_json_number(one, "context", c.context);
        hwmc_json_number(one, "ranks", c.ranks);
        hwmc_json_number(one, "rank", c.rank);
        hwmc_json_text(one, "network", c.network);
        hwmc_json_text(one, "host", c.host);
        hwmc_json_text(one, "name", c.name);
        json_object_array_add(all, one);
    }
    return all;
}

/* A group's multicast on a rail. */
static struct json_object *state_of(const struct hwmc_export *live,
                                    const struct hwmc_export_cast *c, uint32_t rail)
{
    const struct hwmc_rail_state *s = &c->stand[rail];
    struct json_object *one = json_object_new_object();

    hwmc_json_number(one, "context", c->context);
    hwmc_json_number(one, "part", c->part);
    hwmc_json_number(one, "rail", rail);
    hwmc_json_text(one, "port", hwmc_info_page_rail(live, rail));
    hwmc_json_text(one, "state", hwmc_info_page_state(c, rail));
    hwmc_json_number(one, "from_broadcast", s->since);
    if (c->broken)
        hwmc_json_number(one, "lost_rank", c->lost);
    else if (s->since > 0)
        hwmc_json_text(one, "why", hwmc_rail_reason_texts[s->reason % HWMC_RAIL_REASON_LIMIT]);
    return one;
}

static struct json_object *casts_of(const struct hwmc_export *live)
{
    struct json_object *all = json_object_new_array();
    struct hwmc_export_cast c;

    for (uint32_t i = 0; i < HWMC_EXPORT_CASTS; i++) {
        if (!hwmc_info_page_read(&live->cast[i].turn, &c, sizeof(c)) || c.ranks == 0)
            continue;
        for (uint32_t k = 0; k < num_rails(live); k++)
            json_object_array_add(all, state_of(live, &c, live->rail[k].number));
    }
    return all;
}

static void add_sessions(struct json_object *one, const struct hwmc_lane_state *s)
{
    struct json_object *lost = json_object_new_array();

    hwmc_json_number(one, "good", s->peers[HWMC_SESSION_GOOD]);
    hwmc_json_number(one, "suspect", s->peers[HWMC_SESSION_SUSPECTED]);
    hwmc_json_number(one, "dead", s->peers[HWMC_SESSION_DEAD]);
    hwmc_json_number(one, "off", s->peers[HWMC_SESSION_OFF]);
    hwmc_json_number(one, "streams", s->streams);
    hwmc_json_number(one, "moved", s->moved);
    for (uint32_t i = 0; i < s->num_lost && i < HWMC_LANE_STATE_LOST; i++)
        json_object_array_add(lost, json_object_new_int64(s->lost[i]));
    json_object_object_add(one, "lost_to", lost);
}

static struct json_object *lanes_of(const struct hwmc_export *live)
{
    struct json_object *all = json_object_new_array();
    struct hwmc_export_lane l;

    for (uint32_t i = 0; i < HWMC_EXPORT_LANES; i++) {
        struct json_object *one;

        if (!hwmc_info_page_read(&live->lane[i].turn, &l, sizeof(l)) || !l.open)
            continue;
        one = json_object_new_object();
        hwmc_json_number(one, "number", i);
        if (l.rail >= 0)
            hwmc_json_number(one, "rail", (uint64_t) l.rail);
        hwmc_json_text(one, "kind", l.kind);
        if (l.sessions)
            add_sessions(one, &l.stand);
        else
            hwmc_json_text(one, "carries", l.carries);
        json_object_array_add(all, one);
    }
    return all;
}

static struct json_object *counters_of(const struct hwmc_export *live)
{
    struct json_object *all = json_object_new_object();
    uint64_t value[HWMC_EXPORT_COUNTERS];
    const uint32_t num = hwmc_info_page_counters(live, value);

    for (uint32_t i = 0; i < num; i++)
        hwmc_json_number(all, live->name[i], value[i]);
    return all;
}

void hwmc_info_live_json(const struct hwmc_info_page *p)
{
    const struct hwmc_export *live = p->live;
    struct json_object *all = json_object_new_object();

    hwmc_json_text(all, "hwmc", live->version);
    hwmc_json_text(all, "process", p->pid);
    hwmc_json_number(all, "rank", live->rank);
    hwmc_json_number(all, "ranks", live->size);
    json_object_object_add(all, "rails", rails_of(live));
    json_object_object_add(all, "communicators", comms_of(live));
    json_object_object_add(all, "multicast", casts_of(live));
    json_object_object_add(all, "lanes", lanes_of(live));
    json_object_object_add(all, "counters", counters_of(live));
    hwmc_json_print(all);
}
