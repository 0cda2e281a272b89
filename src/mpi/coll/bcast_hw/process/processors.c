/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which processes share a thread's processor, for all its waits (core/wait/wait_policy), and how
 * the netmod waits for MPICH's messages.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RUSAGE_THREAD */
#endif
#include "mpiimpl.h"
#include "processors.h"
#include "hosts.h"
#include "process.h"
#include "../core/base/msg.h"
#include "../core/wait/wait_policy.h"
#include "../shm/topo/quota.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

static struct {
    bool alone, rationed; /* presumed */
    uint32_t sharers;     /* processes of the job for each processor */
} host;
static const struct hwmc_waiter *waiter;

struct hwmc_wait_policy *hwmc_processor_wait_policy(void)
{
    static __thread struct hwmc_wait_policy policy __attribute__((tls_model("initial-exec")));

    if (unlikely(policy.late_ns == 0))
        hwmc_wait_policy_init(&policy, host.alone, host.rationed, MPL_MAX(host.sharers, 1));
    return &policy;
}

/* How often the processor of this thread went to another one, though it wanted to go on or yielded;
 * negative: nobody says. */
static long times_taken(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : -1;
}

bool hwmc_processor_was_taken(void)
{
    static __thread long known __attribute__((tls_model("initial-exec"))) = -1;
    const long before = known;

    known = times_taken();
    return before >= 0 && known > before;
}

uint64_t hwmc_processor_yield(struct hwmc_wait *w, uint64_t now)
{
    struct hwmc_wait_policy *const policy = hwmc_processor_wait_policy();
    const bool counts = hwmc_wait_counts(policy);
    const long taken = counts ? times_taken() : -1;
    struct hwmc_wait_yield y = {.before = now, .found = HWMC_WAIT_UNCOUNTED};

    sched_yield();
    if (taken >= 0)
        y.found = times_taken() == taken ? HWMC_WAIT_NOBODY : HWMC_WAIT_SOMEBODY;
    y.after = hwmc_now();
    hwmc_wait_yielded(policy, w, &y);
    return y.after;
}

/* Processes of the job on this host. */
static int num_mates(void)
{
    int mates = 0;

    for (int i = 0; i < MPIR_Process.size; i++)
        mates += hwmc_same_host((uint32_t) i);
    return mates;
}

/* Processors that this process may run on; 0: nobody says. */
static int num_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

bool hwmc_has_processors_left(void)
{
    return num_processors() > num_mates();
}

/* A process that is bound to some of the host's processors shares them with no other one of the
 * job, if those are bound likewise and there are enough processors for that. */
void hwmc_presume_processors(void)
{
    const int64_t mates = num_mates(), own = num_processors();
    const int64_t all = sysconf(_SC_NPROCESSORS_CONF);
    const int64_t quota = hwmc_shm_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    struct hwmc_wait_policy *policy = hwmc_processor_wait_policy();

    host.rationed = quota > 0 && mates * 1000 > quota;
    host.alone = !host.rationed && own > 0 && (mates <= own || (own < all && mates * own <= all));
    host.sharers = host.alone || own == 0 ? 1 : (uint32_t) ((mates + own - 1) / own);
    hwmc_wait_policy_init(policy, host.alone, host.rationed, host.sharers);
}

static void (*find_distances)(int *distance);
static int distances[HWMC_RAIL_BITS];
static bool found; /* `distances` are known */
static pthread_mutex_t distances_lock = PTHREAD_MUTEX_INITIALIZER;

void hwmc_register_distances(void (*find)(int *distance))
{
    find_distances = find;
    found = false;
}

void hwmc_distances(int *distance)
{
    pthread_mutex_lock(&distances_lock);
    if (!found) {
        for (int i = 0; i < (int) HWMC_RAIL_BITS; i++)
            distances[i] = -1;
        if (find_distances)
            find_distances(distances);
        for (int i = 0; i < (int) HWMC_RAIL_BITS; i++)
            distances[i] = distances[i] < 0 ? INT_MAX : distances[i];
        found = true;
    }
    memcpy(distance, distances, sizeof(distances));
    pthread_mutex_unlock(&distances_lock);
}

void hwmc_register_waiter(const struct hwmc_waiter *w)
{
    waiter = w;
}

void hwmc_wait_begins(void)
{
    if (waiter)
        waiter->begin();
}

bool hwmc_wait_polled(void)
{
    return waiter ? waiter->polled() : true;
}

void hwmc_wait_ends(void)
{
    if (waiter)
        waiter->end();
}

void hwmc_wait_started(void)
{
    if (waiter)
        waiter->started();
}
