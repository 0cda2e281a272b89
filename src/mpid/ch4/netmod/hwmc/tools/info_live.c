/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The reading side of bcast_hw/stats/export.h. The process is named by its directory in /proc,
 * which is opened once: its number may be another's by the time it is looked at again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_PATH */
#endif

#include "info.h"
#include "version.h"
#include "../../../../../mpi/coll/bcast_hw/core/path/session.h"
#include "../../../../../mpi/coll/bcast_hw/stats/export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINK_TEXT "/memfd:" HWMC_EXPORT_FILE " "
#define TRIES 1000 /* to read a place that is being written */

struct process {
    const char *pid;
    int dir;       /* in /proc */
    char file[32]; /* "fd/7" */
    const struct hwmc_export *live;
};

static int fail(const struct process *p, const char *why)
{
    fprintf(stderr, "hwmc_info: process %s %s\n", p->pid, why);
    return 1;
}

/* Why the process cannot be looked at. */
static int fail_errno(const struct process *p)
{
    if (errno == EACCES || errno == EPERM)
        return fail(p, "may not be looked at: it is another user's, or protected");
    if (errno == ENOENT || errno == ESRCH)
        return fail(p, "does not exist");
    return fail(p, strerror(errno));
}

/* The file is still among its descriptors. */
static bool is_there(const struct process *p)
{
    char text[sizeof(LINK_TEXT)];

    return readlinkat(p->dir, p->file, text, sizeof(text)) >= (ssize_t) strlen(LINK_TEXT) &&
           strncmp(text, LINK_TEXT, strlen(LINK_TEXT)) == 0;
}

/* Looks for the file among the descriptors. */
static int find(struct process *p)
{
    int fd = openat(p->dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *fds = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = false;

    if (!fds)
        return fail_errno(p);
    for (struct dirent *e; !found && (e = readdir(fds)) != NULL;) {
        snprintf(p->file, sizeof(p->file), "fd/%.24s", e->d_name);
        found = is_there(p);
    }
    closedir(fds);
    return found ? 0 : fail(p, "does not run MPI with hwmc, or is about to start or end");
}

/* What stands before `rank` is alike in all versions. */
static int check_version(const struct process *p, int fd)
{
    struct hwmc_export head = {0};
    const size_t bytes = offsetof(struct hwmc_export, rank);
    char why[128];

    if (pread(fd, &head, bytes, 0) < (ssize_t) bytes || head.magic != HWMC_EXPORT_MAGIC)
        return fail(p, "is about to start");
    head.version[sizeof(head.version) - 1] = '\0';
    if (strcmp(head.version, HWMC_VERSION) != 0) {
        snprintf(why, sizeof(why), "runs hwmc %s, this is hwmc_info %s", head.version,
                 HWMC_VERSION);
        return fail(p, why);
    }
    return head.bytes == sizeof(head) ? 0 : fail(p, "runs another build of hwmc " HWMC_VERSION);
}

static int map(struct process *p)
{
    int fd = openat(p->dir, p->file, O_RDONLY | O_CLOEXEC);
    int status;
    void *m;

    if (fd < 0)
        return fail_errno(p);
    status = check_version(p, fd);
    if (status == 0) {
        m = mmap(NULL, sizeof(*p->live), PROT_READ, MAP_SHARED, fd, 0);
        status = m == MAP_FAILED ? fail_errno(p) : 0;
        p->live = m;
    }
    close(fd);
    return status;
}

static void print_rails(const struct hwmc_export *live)
{
    const uint32_t num = atomic_load_explicit(&live->num_rails, memory_order_acquire);

    printf("\nrails: %u\n", num);
    if (num > 0)
        printf("%-8s %-16s %-19s %8s  %s\n", "number", "port", "address", "Mbit/s", "multicast");
    for (uint32_t i = 0; i < num && i < HWMC_RAILS_MAX; i++) {
        const struct hwmc_export_rail *r = &live->rail[i];
        char subnet[20], speed[16] = "-";

        hwmc_info_format_subnet(&r->port, subnet);
        if (r->port.mbit > 0)
            snprintf(speed, sizeof(speed), "%u", r->port.mbit);
        printf("%-8u %-16s %-19s %8s  %s\n", r->number, r->port.name, subnet, speed,
               *r->fabric ? r->fabric : "-");
    }
}

/* A place, which begins with `turn`. False: it was being written for too long. */
static bool read_place(const _Atomic uint32_t *turn, void *to, size_t bytes)
{
    for (int i = 0; i < TRIES; i++) {
        const uint32_t before = atomic_load_explicit(turn, memory_order_acquire);

        memcpy(to, (const void *) turn, bytes);
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 == 0 && atomic_load_explicit(turn, memory_order_relaxed) == before)
            return true;
    }
    return false;
}

static const char *name_of(const struct hwmc_export *live, uint32_t rail)
{
    const uint32_t num = atomic_load_explicit(&live->num_rails, memory_order_acquire);

    for (uint32_t i = 0; i < num && i < HWMC_RAILS_MAX; i++)
        if (live->rail[i].number == rail)
            return live->rail[i].port.name;
    return "-";
}

/* A group's row for a rail: whether its broadcasts are multicast there, since which, and why. */
static void print_cast(const struct hwmc_export *live, const struct hwmc_export_cast *c,
                       uint32_t rail)
{
    const struct hwmc_rail_state *s = &c->stand[rail];
    const char *state = c->broken               ? "broken"
                        : c->rails >> rail & 1  ? "on"
                        : c->agreed >> rail & 1 ? "disabled"
                                                : "off";

    printf("%-8x %4u  %-4u %-16s %-8s %15" PRIu64 "  ", c->context, c->part, rail,
           name_of(live, rail), state, s->since);
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
        if (!read_place(&live->cast[i].turn, &c, sizeof(c)) || c.ranks == 0)
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
           l->rail >= 0 ? name_of(live, (uint32_t) l->rail) : "-", l->kind);
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
        if (!read_place(&live->lane[i].turn, &l, sizeof(l)) || !l.open)
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
        if (!read_place(&live->comm[i].turn, &c, sizeof(c)) || c.ranks == 0)
            continue;
        printf("%-8x %6u %6u  %-20s %-20s %s\n", c.context, c.ranks, c.rank, c.network, c.host,
               c.name);
        shown++;
    }
    if (shown < num)
        printf("and %u more\n", num - shown);
}

static uint32_t read_counters(const struct hwmc_export *live, uint64_t *value)
{
    uint32_t num = atomic_load_explicit(&live->num_counters, memory_order_acquire);

    num = num < HWMC_EXPORT_COUNTERS ? num : HWMC_EXPORT_COUNTERS;
    for (uint32_t i = 0; i < num; i++)
        value[i] = __atomic_load_n(&live->value[i], __ATOMIC_RELAXED);
    return num;
}

static void print_counters(const struct hwmc_export *live)
{
    uint64_t value[HWMC_EXPORT_COUNTERS];
    const uint32_t num = read_counters(live, value);

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
    const uint32_t num = read_counters(live, value);

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

static int watch(const struct process *p, double seconds)
{
    uint64_t before[HWMC_EXPORT_COUNTERS] = {0};
    const struct timespec nap = {(time_t) seconds, (long) ((seconds - (time_t) seconds) * 1e9)};
    double last = now();

    read_counters(p->live, before);
    fflush(stdout);
    for (bool there = true; there;) {
        nanosleep(&nap, NULL);
        there = is_there(p);
        const double at = now();
        print_changes(p->live, before, at - last);
        last = at;
    }
    printf("\nprocess %s has ended\n", p->pid);
    return 0;
}

int hwmc_info_live(const char *pid, const char *interval)
{
    struct process p = {.pid = pid};
    char path[32], *end = NULL;
    double seconds = interval ? strtod(interval, &end) : 0;
    int status;

    if (strspn(pid, "0123456789") != strlen(pid) || strlen(pid) == 0 || strlen(pid) > 16 ||
        (interval && (end == interval || *end != '\0' || !(seconds >= 0.01 && seconds <= 1e6)))) {
        fprintf(stderr, "hwmc_info: not understood: %s%s%s\n", pid, interval ? " " : "",
                interval ? interval : "");
        return 2;
    }
    snprintf(path, sizeof(path), "/proc/%s", pid);
    p.dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (p.dir < 0)
        return fail_errno(&p);
    status = find(&p);
    if (status == 0)
        status = map(&p);
    if (status != 0) {
        close(p.dir);
        return status;
    }
    printf("process %s: rank %u of %u, hwmc %s\n", pid, p.live->rank, p.live->size,
           p.live->version);
    print_rails(p.live);
    print_comms(p.live);
    print_casts(p.live);
    print_lanes(p.live);
    print_counters(p.live);
    status = interval ? watch(&p, seconds) : 0;
    munmap((void *) p.live, sizeof(*p.live));
    close(p.dir);
    return status;
}
