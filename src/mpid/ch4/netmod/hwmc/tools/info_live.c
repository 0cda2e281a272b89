/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hwmc_info --live: what a process shows, as text; as JSON: info_live_json.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_PATH */
#endif

#include "info.h"
#include "info_page.h"
#include "../../../../../mpi/coll/bcast_hw/core/path/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void print_rails(const struct hwmc_export *live)
{
    const uint32_t num = atomic_load_explicit(&live->num_rails, memory_order_acquire);

    printf("\nrails: %u\n", num);
    if (num > 0)
        printf("%-8s %-16s %-19s %8s  %s\n", "number", "port", "address", "Mbit/s", "multicast");
    for (uint32_t i = 0; i < num && i < HWMC_RAILS_MAX; i++) {
        const struct hwmc_export_rail *r = &live->rail[i];
        char subnet[HWMC_ADDR_SUBNET_MAX], speed[16] = "-";

        hwmc_info_format_subnet(&r->port, subnet);
        if (r->port.mbit > 0)
            snprintf(speed, sizeof(speed), "%u", r->port.mbit);
        printf("%-8u %-16s %-19s %8s  %s\n", r->number, r->port.name, subnet, speed,
               *r->fabric ? r->fabric : "-");
    }
}

/* A group's row for a rail: whether its broadcasts are multicast there, since which, and why. */
static void print_cast(const struct hwmc_export *live, const struct hwmc_export_cast *c,
                       uint32_t rail)
{
    const struct hwmc_rail_state *s = &c->stand[rail];
    const char *state = hwmc_info_page_state(c, rail);

    printf("%-8x %4u  %-4u %-16s %-8s %15" PRIu64 "  ", c->context, c->part, rail,
           hwmc_info_page_rail(live, rail), state, s->since);
    if (c->broken)
        printf("rank %u of MPI_COMM_WORLD cannot be reached\n", c->lost);
    else if (s->since == 0)
        printf("set-up\n");
    else if (s->reason == HWMC_RAIL_REASON_SILENT || s->reason == HWMC_RAIL_REASON_LOSSY)
        printf("%s (rank %u of it)\n", hwmc_rail_reason_texts[s->reason], s->culprit);
    else
        printf("%s\n", hwmc_rail_reason_texts[s->reason % HWMC_RAIL_REASON_LIMIT]);
}

static void print_casts(const struct hwmc_export *live)
{
    const uint32_t num = atomic_load_explicit(&live->num_casts, memory_order_relaxed);
    const uint32_t rails = atomic_load_explicit(&live->num_rails, memory_order_acquire);
    struct hwmc_export_cast c;
    uint32_t shown = 0;

    printf("\nmulticast by rails: %u\n", num);
    if (num > 0)
        printf("%-8s %4s  %-4s %-16s %-8s %15s  %s\n", "context", "part", "rail", "port", "state",
               "from broadcast", "why");
    for (uint32_t i = 0; i < HWMC_EXPORT_CASTS; i++) {
        if (!hwmc_info_page_read(&live->cast[i].turn, &c, sizeof(c)) || c.ranks == 0)
            continue;
        for (uint32_t k = 0; k < rails && k < HWMC_RAILS_MAX; k++)
            print_cast(live, &c, live->rail[k].number);
        shown++;
    }
    if (shown < num)
        printf("and %u more\n", num - shown);
}

/* To how many peers the lane is good, suspected, dead or off; streams by it, and moved from it;
 * lost to. */
static void print_lane_state(const struct hwmc_lane_state *s)
{
    printf("%6u %7u %6u %6u %8u %6u  ", s->peers[HWMC_SESSION_GOOD],
           s->peers[HWMC_SESSION_SUSPECTED], s->peers[HWMC_SESSION_DEAD],
           s->peers[HWMC_SESSION_OFF], s->streams, s->moved);
    for (uint32_t i = 0; i < s->num_lost && i < HWMC_LANE_STATE_LOST; i++)
        printf("%s%u", i > 0 ? "," : "", s->lost[i]);
    printf("%s\n", s->num_lost == 0 ? "-" : s->num_lost == HWMC_LANE_STATE_LOST ? ",..." : "");
}

static void print_lane(const struct hwmc_export *live, const struct hwmc_export_lane *l,
                       uint32_t number)
{
    char rail[12] = "-";

    if (l->rail >= 0)
        snprintf(rail, sizeof(rail), "%d", l->rail);
    printf("%-6u %-4s %-16s %-5s ", number, rail,
           l->rail >= 0 ? hwmc_info_page_rail(live, (uint32_t) l->rail) : "-", l->kind);
    if (l->sessions)
        print_lane_state(&l->stand);
    else
        printf("%s\n", l->carries);
}

static void print_lanes(const struct hwmc_export *live)
{
    struct hwmc_export_lane l;
    uint32_t num = 0;

    for (uint32_t i = 0; i < HWMC_EXPORT_LANES; i++) {
        if (!hwmc_info_page_read(&live->lane[i].turn, &l, sizeof(l)) || !l.open)
            continue;
        if (num++ == 0 && l.sessions)
            printf("\nlanes, with the sessions to other processes: good, suspect, dead, off\n"
                   "%-6s %-4s %-16s %-5s %6s %7s %6s %6s %8s %6s  %s\n",
                   "number", "rail", "port", "kind", "good", "suspect", "dead", "off", "streams",
                   "moved", "lost to ranks");
        else if (num == 1)
            printf("\nlanes\n%-6s %-4s %-16s %-5s %s\n", "number", "rail", "port", "kind",
                   "carries");
        print_lane(live, &l, i);
    }
}

static void print_comms(const struct hwmc_export *live)
{
    const uint32_t num = atomic_load_explicit(&live->num_comms, memory_order_relaxed);
    struct hwmc_export_comm c;
    uint32_t shown = 0;

    printf("\ncommunicators that hwmc looked at: %u\n", num);
    if (num > 0)
        printf("%-8s %6s %6s  %-20s %-20s %s\n", "context", "ranks", "rank", "over the network",
               "inside a host", "name");
    for (uint32_t i = 0; i < HWMC_EXPORT_COMMS; i++) {
        if (!hwmc_info_page_read(&live->comm[i].turn, &c, sizeof(c)) || c.ranks == 0)
            continue;
        printf("%-8x %6u %6u  %-20s %-20s %s\n", c.context, c.ranks, c.rank, c.network, c.host,
               c.name);
        shown++;
    }
    if (shown < num)
        printf("and %u more\n", num - shown);
}

static void print_counters(const struct hwmc_export *live)
{
    uint64_t value[HWMC_EXPORT_COUNTERS];
    const uint32_t num = hwmc_info_page_counters(live, value);

    printf("\ncounters that are not 0\n");
    for (uint32_t i = 0; i < num; i++)
        if (value[i] > 0)
            printf("%-40s %20" PRIu64 "\n", live->name[i], value[i]);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* What changed from `before` to now, which is `before` for the next time. */
static void print_changes(const struct hwmc_export *live, uint64_t *before, double seconds)
{
    uint64_t value[HWMC_EXPORT_COUNTERS];
    const uint32_t num = hwmc_info_page_counters(live, value);

    printf("\nin %.1f s\n", seconds);
    for (uint32_t i = 0; i < num; i++) {
        if (value[i] == before[i])
            continue;
        printf("%-40s %20" PRIu64, live->name[i], value[i]);
        if (live->kind[i] != HWMC_COUNTER)
            printf("\n");
        else
            printf(" %14.1f/s\n", (double) (value[i] - before[i]) / seconds);
    }
    memcpy(before, value, sizeof(value[0]) * num);
    fflush(stdout);
}

static int watch(struct hwmc_info_page *p, double seconds)
{
    uint64_t before[HWMC_EXPORT_COUNTERS] = {0};
    const struct timespec nap = {(time_t) seconds, (long) ((seconds - (time_t) seconds) * 1e9)};
    double last = now();

    hwmc_info_page_counters(p->live, before);
    fflush(stdout);
    for (bool there = true; there;) {
        nanosleep(&nap, NULL);
        there = hwmc_info_page_is_there(p);
        const double at = now();
        hwmc_info_page_again(p);
        print_changes(p->live, before, at - last);
        last = at;
    }
    printf("\nprocess %s has ended\n", p->pid);
    return 0;
}

bool hwmc_info_seconds(const char *text, double *seconds)
{
    char *end;

    *seconds = strtod(text, &end);
    return end != text && *end == '\0' && *seconds >= 0.01 && *seconds <= 1e6;
}

int hwmc_info_live(const char *pid, const char *interval, bool json)
{
    struct hwmc_info_page p;
    double seconds = 0;
    int status;

    if (interval && !hwmc_info_seconds(interval, &seconds)) {
        fprintf(stderr, "hwmc_info: not understood: %s %s\n", pid, interval);
        return 2;
    }
    status = hwmc_info_page_open(&p, pid, true);
    if (status != 0)
        return status;
    if (json) {
        hwmc_info_live_json(&p);
        hwmc_info_page_close(&p);
        return 0;
    }
    printf("process %s: rank %u of %u, hwmc %s\n", pid, p.live->rank, p.live->size,
           p.live->version);
    print_rails(p.live);
    print_comms(p.live);
    print_casts(p.live);
    print_lanes(p.live);
    print_counters(p.live);
    status = interval ? watch(&p, seconds) : 0;
    hwmc_info_page_close(&p);
    return status;
}
