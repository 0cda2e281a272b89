/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Judges what processes say of their hosts; of what passes between hosts: doctor_judge_net.c.
 * Figures in `cost` were measured: docs/doctor.md says where.
 */
#include "doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MIB ((uint64_t) 1 << 20)
#define MEMLOCK_NEED (256 * MIB) /* the default of MPIR_CVAR_HWMC_MEMORY */
#define FAST_MBIT 5000           /* slower rails do not need bursts in one piece */
#define CLOCK_LEAST 90           /* percent of what the clock could have */

/* Of /dev/shm: UCX takes 4.1 MiB of it for each rank. 1, 2, 4 and 8 ranks of a host started with 6
 * MiB for each, and did not with 4: docs/doctor.md. */
#define SHM_RANK (6 * MIB)

static const struct hwmc_doctor_self *prober_of(const struct hwmc_doctor_case *c, int host)
{
    return &c->self[c->prober[host]];
}

static bool is_on(const struct hwmc_doctor_case *c, int process, int host)
{
    return strcmp(c->self[process].host, hwmc_doctor_name_of(c, host)) == 0;
}

static void judge_start(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    struct hwmc_doctor_finding *f;
    const char *advice;

    snprintf(r->said[HWMC_DOCTOR_START], sizeof(r->said[0]), "%d process%s on %d host%s, hwmc %s",
             c->num, c->num > 1 ? "es" : "", c->num_hosts, c->num_hosts > 1 ? "s" : "",
             c->self[0].version);
    if (c->num > 1 || c->self[0].others[0] == '\0')
        return;
    f = hwmc_doctor_find(r, HWMC_DOCTOR_START, HWMC_DOCTOR_BROKEN, -1);
    hwmc_doctor_blame(f, c, 0);
    advice = strstr(c->self[0].others, ": ");
    snprintf(f->what, sizeof(f->what),
             "a launcher has started several processes (%.*s), and this one finds no other",
             advice ? (int) (advice - c->self[0].others) : 0, c->self[0].others);
    snprintf(f->cost, sizeof(f->cost), "MPI_Init is an error: each would be a job of its own");
    snprintf(f->mend, sizeof(f->mend), "%s", advice ? advice + 2 : c->self[0].others);
}

/* Processes of a host, and the processors that they may run on, all together. */
static void count_on(const struct hwmc_doctor_case *c, int host, uint32_t *ranks, uint32_t *cpus)
{
    uint32_t mask[HWMC_DOCTOR_CPUS / 32] = {0};

    *ranks = *cpus = 0;
    for (int i = 0; i < c->num; i++) {
        if (!is_on(c, i, host))
            continue;
        (*ranks)++;
        for (size_t k = 0; k < HWMC_DOCTOR_CPUS / 32; k++)
            mask[k] |= c->self[i].cpus[k];
    }
    for (size_t k = 0; k < HWMC_DOCTOR_CPUS / 32; k++)
        *cpus += (uint32_t) __builtin_popcount(mask[k]);
}

static void judge_crowd(const struct hwmc_doctor_case *c, int host, struct hwmc_doctor_report *r,
                        uint32_t ranks, uint32_t cpus)
{
    const uint32_t online = prober_of(c, host)->online;
    struct hwmc_doctor_finding *f =
        hwmc_doctor_find(r, HWMC_DOCTOR_PROCESSORS, HWMC_DOCTOR_SLOW, -1);

    hwmc_doctor_blame(f, c, host);
    snprintf(f->what, sizeof(f->what), "%u ranks may run on %u of %u processors", ranks, cpus,
             online);
    snprintf(f->cost, sizeof(f->cost),
             "ranks take turns: each waits for others while it could work (docs/waiting.md)");
    if (online >= ranks)
        snprintf(f->mend, sizeof(f->mend),
                 "give the job %u processors: mpiexec -bind-to none; taskset, cpuset; "
                 "docker --cpuset-cpus=0-%u; sbatch --cpus-per-task",
                 ranks, ranks - 1);
    else
        snprintf(f->mend, sizeof(f->mend), "mpiexec -ppn %u", online);
}

static void judge_processors(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    uint32_t most = 0, least = UINT32_MAX;

    for (int host = 0; host < c->num_hosts; host++) {
        const uint32_t quota = prober_of(c, host)->quota;
        struct hwmc_doctor_finding *f;
        uint32_t ranks, cpus;

        count_on(c, host, &ranks, &cpus);
        most = ranks > most ? ranks : most;
        least = cpus < least ? cpus : least;
        if (ranks > cpus)
            judge_crowd(c, host, r, ranks, cpus);
        if (quota == 0 || (uint64_t) ranks * 1000 <= quota)
            continue;
        f = hwmc_doctor_find(r, HWMC_DOCTOR_PROCESSORS, HWMC_DOCTOR_SLOW, -1);
        hwmc_doctor_blame(f, c, host);
        snprintf(f->what, sizeof(f->what), "%u ranks have the time of %u.%03u processors", ranks,
                 quota / 1000, quota % 1000);
        snprintf(f->cost, sizeof(f->cost),
                 "the kernel stops all ranks of the host for most of each 100 ms in which they "
                 "have used it up");
        snprintf(f->mend, sizeof(f->mend),
                 "docker --cpus=%u, or echo max >cpu.max of the control group", ranks);
    }
    snprintf(r->said[HWMC_DOCTOR_PROCESSORS], sizeof(r->said[0]),
             "%u for at most %u rank%s of a host", least, most, most > 1 ? "s" : "");
}

/* A governor that keeps the clock low whatever the load; drivers that choose by themselves use the
 * name for something else. */
static bool is_slow_governor(const struct hwmc_doctor_self *s)
{
    const bool chooses = strncmp(s->driver, "intel_pstate", 12) == 0 ||
                         strncmp(s->driver, "amd-pstate-epp", 14) == 0;

    return strcmp(s->governor, "conservative") == 0 ||
           (strcmp(s->governor, "powersave") == 0 && !chooses);
}

static void judge_clock(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    int shown = 0;

    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_self *s = prober_of(c, host);
        const bool low = (uint64_t) s->mhz * 100 < (uint64_t) s->mhz_max * CLOCK_LEAST;
        struct hwmc_doctor_finding *f;

        shown += s->governor[0] != '\0';
        if (!is_slow_governor(s) && !low)
            continue;
        f = hwmc_doctor_find(r, HWMC_DOCTOR_CLOCK, HWMC_DOCTOR_SLOW, -1);
        hwmc_doctor_blame(f, c, host);
        if (low)
            snprintf(f->what, sizeof(f->what), "the processor's clock is limited to %u of %u MHz",
                     s->mhz, s->mhz_max);
        else
            snprintf(f->what, sizeof(f->what), "the governor of the processor's clock is %s",
                     s->governor);
        snprintf(f->cost, sizeof(f->cost),
                 "short messages take longer in proportion to the clock, and longer ones on fast "
                 "networks");
        snprintf(f->mend, sizeof(f->mend),
                 low ? "cpupower frequency-set -u %uMHz" : "cpupower frequency-set -g performance",
                 s->mhz_max);
    }
    if (r->level[HWMC_DOCTOR_CLOCK] != HWMC_DOCTOR_SLOW && shown < c->num_hosts)
        r->level[HWMC_DOCTOR_CLOCK] = HWMC_DOCTOR_UNKNOWN;
    snprintf(r->said[HWMC_DOCTOR_CLOCK], sizeof(r->said[0]), "%s",
             shown == 0             ? "not shown here (a virtual machine, mostly)"
             : shown < c->num_hosts ? "not shown on all hosts"
                                    : prober_of(c, 0)->governor);
}

static bool has_rdma(const struct hwmc_doctor_case *c, int host)
{
    for (int i = 0; i < c->ports[host].num; i++)
        if ((c->ports[host].at[i].flags & HWMC_DOCTOR_RDMA) != 0)
            return true;
    return false;
}

static void judge_memlock(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    int with = 0;

    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_self *s = prober_of(c, host);
        struct hwmc_doctor_finding *f;

        if (!has_rdma(c, host))
            continue;
        with++;
        if (s->locks || s->memlock >= MEMLOCK_NEED)
            continue;
        f = hwmc_doctor_find(r, HWMC_DOCTOR_MEMLOCK, HWMC_DOCTOR_BROKEN, -1);
        hwmc_doctor_blame(f, c, host);
        snprintf(f->what, sizeof(f->what), "a process may lock %" PRIu64 " KiB of memory",
                 s->memlock >> 10);
        snprintf(f->cost, sizeof(f->cost),
                 "RDMA devices need locked memory: multicast and connections by verbs do not open");
        snprintf(f->mend, sizeof(f->mend),
                 "ulimit -l unlimited; /etc/security/limits.d: * - memlock unlimited; Slurm: "
                 "PropagateResourceLimitsExcept=MEMLOCK; docker --ulimit memlock=-1");
    }
    snprintf(r->said[HWMC_DOCTOR_MEMLOCK], sizeof(r->said[0]), "%s",
             with > 0 ? "enough for RDMA devices" : "no RDMA device needs it");
}

static void judge_shm(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    uint64_t least = UINT64_MAX;

    for (int host = 0; host < c->num_hosts; host++) {
        const struct hwmc_doctor_self *s = prober_of(c, host);
        struct hwmc_doctor_finding *f;
        uint32_t ranks, cpus;
        uint64_t need;

        count_on(c, host, &ranks, &cpus);
        need = ranks * SHM_RANK;
        least = s->shm_free < least ? s->shm_free : least;
        if (s->shm_free >= need)
            continue;
        f = hwmc_doctor_find(r, HWMC_DOCTOR_SHM, HWMC_DOCTOR_BROKEN, -1);
        hwmc_doctor_blame(f, c, host);
        snprintf(f->what, sizeof(f->what),
                 "/dev/shm has %" PRIu64 " MiB left of %" PRIu64
                 ", %u rank%s of a host want %" PRIu64,
                 s->shm_free / MIB, s->shm / MIB, ranks, ranks > 1 ? "s" : "", need / MIB);
        snprintf(f->cost, sizeof(f->cost),
                 "MPI_Init fails, as UCX gets no memory to share between the ranks of a host");
        snprintf(f->mend, sizeof(f->mend),
                 "rm what is left over in /dev/shm; mount -o remount,size=%" PRIu64
                 "m /dev/shm; docker --shm-size=%" PRIu64
                 "m; or UCX_TLS=tcp,self, with which UCX takes none of it",
                 4 * need / MIB, 4 * need / MIB);
    }
    snprintf(r->said[HWMC_DOCTOR_SHM], sizeof(r->said[0]), "%" PRIu64 " MiB of /dev/shm are free",
             least / MIB);
}

static void judge_ports(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    const uint32_t drawn = hwmc_doctor_job_ports(c->self, 0, c->num_job_ports);
    const uint32_t all = hwmc_doctor_job_ports(c->self, c->num, c->num_job_ports);
    struct hwmc_doctor_finding *f;

    snprintf(r->said[HWMC_DOCTOR_PORTS], sizeof(r->said[0]),
             "%d of %d UDP ports drawn at random are free on all hosts", __builtin_popcount(all),
             c->num_job_ports);
    if (all != 0)
        return;
    f = hwmc_doctor_find(r, HWMC_DOCTOR_PORTS, HWMC_DOCTOR_BROKEN, -1);
    for (int host = 0; host < c->num_hosts; host++)
        if (prober_of(c, host)->free_ports != drawn)
            hwmc_doctor_blame(f, c, host);
    snprintf(f->what, sizeof(f->what), "no UDP port of %d drawn at random is free on all hosts",
             c->num_job_ports);
    snprintf(f->cost, sizeof(f->cost), "a job has no multicast: broadcasts go along trees");
    snprintf(f->mend, sizeof(f->mend), "ss -ulnp shows who has the ports from 49152 on");
}

static bool has_window(const struct hwmc_doctor_port *p)
{
    return p->err != 0 || p->window >= p->wanted / 16 * 15;
}

static void judge_buffers(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    struct hwmc_doctor_finding *f = NULL;
    const struct hwmc_doctor_port *worst = NULL;
    uint32_t buffer = 0;

    for (int host = 0; host < c->num_hosts; host++) {
        bool blamed = false;

        for (int rail = 0; rail < c->num_rails; rail++) {
            const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);

            if (p == NULL || has_window(p))
                continue;
            f = f ? f : hwmc_doctor_find(r, HWMC_DOCTOR_BUFFERS, HWMC_DOCTOR_SLOW, -1);
            if (!blamed)
                hwmc_doctor_blame(f, c, host);
            blamed = true;
            worst = worst && worst->window < p->window ? worst : p;
            buffer = p->buffer > buffer ? p->buffer : buffer;
        }
    }
    snprintf(r->said[HWMC_DOCTOR_BUFFERS], sizeof(r->said[0]),
             "sockets get the receive buffer that hwmc wants");
    if (f == NULL)
        return;
    snprintf(f->what, sizeof(f->what),
             "%" PRIu64 " KiB can wait in a socket, of %" PRIu64 " that hwmc wants: "
             "net.core.rmem_max",
             worst->window >> 10, worst->wanted >> 10);
    snprintf(f->cost, sizeof(f->cost),
             "more synchronization: 16 MiB took 23 to 26 ms in place of 3.6 on 2 hosts, 143 in "
             "place of 21.6 on 8 (docs/fast.md)");
    snprintf(f->mend, sizeof(f->mend),
             "sysctl -w net.core.rmem_max=%u, and the same line in /etc/sysctl.d/hwmc.conf",
             buffer);
}

/* UDP_SEGMENT needs Linux 4.18, and that the device computes checksums. */
static void describe_offloads(struct hwmc_doctor_finding *f, const struct hwmc_doctor_port *p)
{
    if ((p->flags & HWMC_DOCTOR_BURSTS) == 0) {
        snprintf(f->what, sizeof(f->what),
                 "the kernel of a host takes datagrams one by one (no UDP_SEGMENT)");
        snprintf(f->mend, sizeof(f->mend), "ethtool -K %s tx on; Linux 4.18 or later",
                 p->rail.name);
    } else if (f->what[0] == '\0') {
        snprintf(f->what, sizeof(f->what),
                 "%s does not cut bursts of datagrams: tx-udp-segmentation is off", p->rail.name);
        snprintf(f->mend, sizeof(f->mend), "ethtool -K %s tx-udp-segmentation on", p->rail.name);
    }
}

static void judge_offloads(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    snprintf(r->said[HWMC_DOCTOR_OFFLOADS], sizeof(r->said[0]),
             "bursts leave the program in one piece");
    for (int rail = 0; rail < c->num_rails; rail++) {
        struct hwmc_doctor_finding *f = NULL;

        for (int host = 0; host < c->num_hosts; host++) {
            const struct hwmc_doctor_port *p = hwmc_doctor_port_of(c, host, rail);
            const uint32_t flags = p ? p->flags : 0;

            if (p == NULL || p->err != 0 || (p->rail.mbit > 0 && p->rail.mbit < FAST_MBIT) ||
                ((flags & HWMC_DOCTOR_BURSTS) != 0 && (flags & HWMC_DOCTOR_NO_SEGMENTS) == 0))
                continue;
            f = f ? f : hwmc_doctor_find(r, HWMC_DOCTOR_OFFLOADS, HWMC_DOCTOR_SLOW, rail);
            hwmc_doctor_blame(f, c, host);
            describe_offloads(f, p);
        }
        if (f != NULL)
            snprintf(f->cost, sizeof(f->cost),
                     "processors cut bursts and take them one by one: where the network is faster "
                     "than a "
                     "processor, 16 MiB took 129 to 150 ms in place of 35 to 57 on 3 hosts");
    }
}

void hwmc_doctor_judge(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r)
{
    memset(r, 0, sizeof(*r));
    judge_start(c, r);
    hwmc_doctor_judge_rails(c, r);
    hwmc_doctor_judge_net(c, r);
    hwmc_doctor_judge_untried(c, r);
    hwmc_doctor_judge_snooping(c, r);
    judge_ports(c, r);
    judge_buffers(c, r);
    judge_offloads(c, r);
    judge_processors(c, r);
    judge_clock(c, r);
    judge_memlock(c, r);
    judge_shm(c, r);
    hwmc_doctor_merge(r);
}
