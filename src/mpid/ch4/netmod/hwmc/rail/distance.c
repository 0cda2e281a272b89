/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The kernel's own table, from which hwloc has its distances too: read here so that a rail needs no
 * hwloc, of which MPICH may carry its own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif

#include "rail.h"

#include <sched.h>
#include <stdio.h>

#define NODES_MAX 64 /* NUMA nodes looked at */

/* Whether this process may run on a core of NUMA node `node`; false also when it is not there. */
static bool runs_on(int node, const cpu_set_t *cpus)
{
    char path[64];
    unsigned first, last;
    bool found = false;
    int c;
    FILE *f;

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
    f = fopen(path, "re");
    if (f == NULL)
        return false;
    do { /* "0-3,8-11" */
        if (fscanf(f, "%u", &first) != 1)
            break;
        last = first;
        c = fgetc(f);
        if (c == '-') {
            if (fscanf(f, "%u", &last) != 1)
                break;
            c = fgetc(f);
        }
        for (unsigned cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            found = found || CPU_ISSET(cpu, cpus);
    } while (c == ',' && !found);
    fclose(f);
    return found;
}

int hwmc_rail_distance(int numa)
{
    char path[64];
    cpu_set_t cpus;
    int best = -1, distance;
    FILE *f;

    if (numa < 0 || sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
        return -1;
    snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/distance", numa);
    f = fopen(path, "re");
    if (f == NULL)
        return -1;
    /* One number a node, in the order of the nodes. */
    for (int node = 0; node < NODES_MAX && fscanf(f, "%d", &distance) == 1; node++)
        if ((best < 0 || distance < best) && runs_on(node, &cpus))
            best = distance;
    fclose(f);
    return best;
}
