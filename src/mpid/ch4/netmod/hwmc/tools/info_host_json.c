/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hwmc_info --all, --rails and --limits with --json: docs/counters.md.
 */
#include "info.h"
#include "../../../../../mpi/coll/bcast_hw/stats/json_add.h"
#include "version.h"

#include <stdio.h>

static struct json_object *rail_of(const struct hwmc_rail *rails, int num, int i, bool *works)
{
    const struct hwmc_rail *r = &rails[i];
    const char *left_out = hwmc_rail_left_out(rails, num, i);
    struct json_object *one = json_object_new_object();
    char what[64] = "", subnet[HWMC_ADDR_SUBNET_MAX], path[160];
    int err = r->up ? hwmc_info_probe(r, what, sizeof(what)) : HWMC_ERR_DEVICE;

    hwmc_info_format_subnet(r, subnet);
    hwmc_json_text(one, "port", r->name);
    hwmc_json_text(one, "address", subnet);
    hwmc_json_bool(one, "up", r->up);
    hwmc_json_number(one, "mbit", r->mbit);
    hwmc_json_number(one, "mtu", r->mtu);
    if (r->numa >= 0)
        hwmc_json_number(one, "numa", (uint64_t) r->numa);
    hwmc_json_bool(one, "multicast", err == HWMC_OK);
    hwmc_json_text(one, "fabric", what);
    hwmc_json_bool(one, "rail", left_out == NULL);
    if (left_out)
        hwmc_json_text(one, "left_out", left_out);
    if (r->up) {
        hwmc_info_path(r, path, sizeof(path));
        hwmc_json_text(one, "dying_path", path);
    }
    *works = *works || err == HWMC_OK;
    return one;
}

static struct json_object *limit_of(const struct hwmc_rail *r, uint64_t *most)
{
    struct json_object *one = json_object_new_object();
    struct hwmc_info_seen seen;
    uint64_t asked;

    hwmc_json_text(one, "port", r->name);
    hwmc_info_look_at(r, &seen);
    if (seen.err != HWMC_OK) {
        hwmc_json_text(one, "error", hwmc_err_text(seen.err));
        return one;
    }
    asked = (uint64_t) hwmc_udp_buffer_for(HWMC_FABRIC_WINDOW, seen.datagram);
    *most = asked > *most ? asked : *most;
    hwmc_json_number(one, "datagram", seen.datagram);
    hwmc_json_number(one, "asks_for", asked);
    hwmc_json_number(one, "can_wait", seen.window);
    hwmc_json_number(one, "wanted", HWMC_FABRIC_WINDOW);
    hwmc_json_bool(one, "came_back", seen.came > 0);
    hwmc_json_bool(one, "sent_in_one_piece", seen.sends_together);
    hwmc_json_bool(one, "received_in_one_piece", seen.together > 1);
    return one;
}

static void add_setting(struct json_object *to, const char *name, uint64_t asked)
{
    struct json_object *one = json_object_new_object();
    const long is = hwmc_info_setting(name);

    if (is >= 0)
        hwmc_json_number(one, "is", (uint64_t) is);
    hwmc_json_number(one, "asked_for", asked);
    json_object_object_add(to, name, one);
}

static struct json_object *limits_of(const struct hwmc_rail *rails, int num)
{
    struct json_object *all = json_object_new_object(), *ports = json_object_new_array();
    uint64_t most = 0;

    for (int i = 0; i < num; i++)
        if (rails[i].up)
            json_object_array_add(ports, limit_of(&rails[i], &most));
    add_setting(all, "rmem_max", most);
    add_setting(all, "wmem_max", HWMC_UDP_SEND_BUFFER);
    json_object_object_add(all, "ports", ports);
    return all;
}

int hwmc_info_host_json(bool with_rails, bool with_limits)
{
    struct hwmc_rail rails[HWMC_RAIL_PORTS_MAX];
    const int num = hwmc_rail_discover(rails, HWMC_RAIL_PORTS_MAX);
    struct json_object *all, *ports;
    bool works = false;

    if (num < 0) {
        fprintf(stderr, "hwmc_info: network ports: %s\n", hwmc_err_text(num));
        return 1;
    }
    hwmc_rail_locate(rails, num);
    all = json_object_new_object();
    hwmc_json_text(all, "hwmc", HWMC_VERSION);
    if (with_rails) {
        ports = json_object_new_array();
        for (int i = 0; i < num; i++)
            json_object_array_add(ports, rail_of(rails, num, i, &works));
        json_object_object_add(all, "rails", ports);
    }
    if (with_limits)
        json_object_object_add(all, "limits", limits_of(rails, num));
    hwmc_json_print(all);
    return with_rails && !works ? 1 : 0;
}
