/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A process runs one failure detector at a time: that of the first thread that has waited for an
 * eighth of MPIR_CVAR_HWMC_PEER_TIMEOUT_MS. It probes the hosts of all members of the group, not
 * only of those that this rank waits for itself: a member that has failed keeps everybody waiting,
 * through others. Each host is represented by its first member.
 *
 * Which rails must answer follows from what is waited for: the one of the lane for control and
 * repair, and along trees and for long blocks those of their lanes as well. That may change while a
 * thread waits: the detector then begins anew. In resilient mode, and where it is not known by
 * which rail control goes, one rail is enough. Silence counts only of a host that has answered by
 * that rail some time: there may be a filter.
 */

#include "wait_failure.h"
#include "../port/probe.h"
#include "../core/failure/detector.h"
#include "../process/errors.h"
#include "../process/hosts.h"
#include "../process/process.h"
#include "../settings/settings.h"

#define NS_PER_MS UINT64_C(1000000)

/* The failure detector of this process. Under the lock. */
static struct {
    struct hwmc_wait_failure *owner; /* NULL: there is none */
    struct hwmc_detector detector;
    uint32_t *member; /* by the detector's number: the first member on each host */
} call;

/* What is waited for. */
struct waited {
    uint32_t size, rank;   /* of its members, and this one */
    const uint32_t *world; /* their ranks in MPI_COMM_WORLD; NULL: it is that */
    uint32_t rails;        /* that it keeps to; 0: all */
    bool lanes;            /* what goes by the lanes of rails, too */
    enum hwmc_stage stage;
};

static uint64_t wake =
    HWMC_NEVER; /* of the thread that waits; with several threads nobody sleeps */

uint64_t hwmc_peer_timeout_ns(void)
{
    return MPL_MAX(hwmc_settings.net.peer_timeout_ms, 0) * NS_PER_MS;
}

/* Rails that must answer, a bit each; 0: any. */
static uint32_t must(const struct hwmc_engine *e, const struct waited *w)
{
    struct hwmc_probe *k = e->wires.cfg.probe;
    uint32_t rails;

    if (k->any)
        return 0;
    rails = k->ops->control(k);
    if (w->lanes && e->wires.cfg.num_far_lanes > 0)
        rails |= hwmc_wires_lane_rails(&e->wires) & (w->rails ? w->rails : ~0u);
    return rails;
}

static uint32_t peer_of(const struct waited *w, uint32_t member)
{
    return w->world ? w->world[member] : member;
}

static uint32_t host_of(uint32_t world_rank)
{
    return (uint32_t) hwmc_host_of(world_rank);
}

/* By which rails the host can be asked. */
static uint32_t askable(struct hwmc_probe *k, uint32_t host)
{
    const uint32_t shared = k->ops->shared(k, host), needed = call.detector.cfg.must;

    return needed ? shared & needed : shared;
}

static void ask(struct hwmc_engine *e, const struct waited *w, uint64_t now)
{
    struct hwmc_probe *k = e->wires.cfg.probe;
    uint32_t place, rails;

    while (hwmc_detector_next_ask(&call.detector, &place, &rails, now)) {
        const uint32_t host = host_of(peer_of(w, call.member[call.detector.place[place].member]));
        uint32_t by = askable(k, host) & (rails ? rails : ~0u);

        if (by != 0)
            by = k->ops->ask(k, place, host, by);
        e->wires.engine_counts->hosts_probed += by != 0;
        hwmc_detector_asked(&call.detector, place, by, k->ops->proven(k, host), now);
    }
}

static void hear(struct hwmc_engine *e)
{
    struct hwmc_probe *k = e->wires.cfg.probe;

    for (uint32_t i = 0; i < HWMC_DETECTOR_PLACES; i++) {
        uint32_t rails = call.detector.place[i].asked ? k->ops->answered(k, i) : 0;

        if (rails != 0 && hwmc_detector_on_answer(&call.detector, i, rails)) {
            e->wires.engine_counts->hosts_answered++;
            k->ops->end(k, i);
        }
    }
}

/* Lists the first member on each host. How many hosts there are, and which of them this one is.
 * False: no memory. */
static bool list_hosts(const struct waited *w, uint32_t *hosts, uint32_t *own)
{
    bool *seen = MPL_calloc((size_t) MPIR_Process.size, sizeof(*seen), MPL_MEM_OTHER);
    uint32_t *host = MPL_malloc(w->size * sizeof(*host), MPL_MEM_OTHER);

    call.member = MPL_malloc(w->size * sizeof(*call.member), MPL_MEM_OTHER);
    *hosts = *own = 0;
    if (seen && host && call.member) {
        for (uint32_t i = 0; i < w->size; i++)
            host[i] = host_of(peer_of(w, i));
        *hosts = hwmc_detector_members(host, w->size, seen, call.member);
        while (host[call.member[*own]] != host[w->rank])
            ++*own;
    }
    MPL_free(seen);
    MPL_free(host);
    return *hosts > 0;
}

/* False: no memory. */
static bool begin(struct hwmc_wait_failure *p, struct hwmc_engine *e, const struct waited *w,
                  uint64_t now)
{
    struct hwmc_detector_cfg cfg = {.must = must(e, w), .limit_ns = hwmc_peer_timeout_ns()};

    if (!list_hosts(w, &cfg.size, &cfg.rank)) {
        MPL_free(call.member);
        call.member = NULL;
        return false;
    }
    hwmc_detector_init(&call.detector, &cfg, now);
    hwmc_engine_alert(e, true);
    call.owner = p;
    p->calls = true;
    return true;
}

static void end_probes(const struct hwmc_engine *e)
{
    for (uint32_t i = 0; i < HWMC_DETECTOR_PLACES; i++)
        e->wires.cfg.probe->ops->end(e->wires.cfg.probe, i);
}

/* What is waited for may need other rails than before. */
static void renew(struct hwmc_engine *e, const struct waited *w, uint64_t now)
{
    struct hwmc_detector_cfg cfg = call.detector.cfg;

    cfg.must = must(e, w);
    if (cfg.must == call.detector.cfg.must)
        return;
    end_probes(e);
    hwmc_detector_init(&call.detector, &cfg, now);
}

/* Whether a member has failed. */
static bool look(struct hwmc_wait_failure *p, struct hwmc_engine *e, const struct waited *w,
                 uint64_t now, uint32_t *member, uint32_t *rails)
{
    if (!e->wires.cfg.probe || hwmc_peer_timeout_ns() == 0) {
        p->wake = HWMC_NEVER;
        return false;
    }
    if (p->wake == 0 || (!p->calls && (call.owner || !begin(p, e, w, now)))) {
        p->wake = wake = now + hwmc_peer_timeout_ns() / HWMC_DETECTOR_PARTS + 1;
        return false;
    }
    renew(e, w, now);
    hear(e);
    hwmc_detector_on_timer(&call.detector, now);
    if (hwmc_detector_failed(&call.detector, now, member, rails)) {
        *member = call.member[*member];
        e->wires.engine_counts->hosts_failed++;
        return true;
    }
    ask(e, w, now);
    p->wake = wake = hwmc_detector_next_timer(&call.detector);
    return false;
}

static struct waited waited_of(const struct hwmc_group *g, enum hwmc_stage stage)
{
    return (struct waited){.size = g->cfg.size,
                           .rank = g->cfg.rank,
                           .world = g->world,
                           .rails = g->cfg.rails,
                           .lanes = hwmc_group_waits_for_lanes(g, stage),
                           .stage = stage};
}

void hwmc_wait_failure_step(struct hwmc_wait_failure *p, struct hwmc_group *g)
{
    const struct waited w = waited_of(g, hwmc_group_stage(g));
    uint32_t member, rails;

    if (look(p, hwmc_process_engine(), &w, g->wires->now, &member, &rails))
        hwmc_group_on_failed(g, member, rails);
}

void hwmc_wait_failure_end(struct hwmc_wait_failure *p)
{
    struct hwmc_engine *e = hwmc_process_engine();

    wake = HWMC_NEVER;
    if (!p->calls)
        return;
    end_probes(e);
    hwmc_engine_alert(e, false);
    MPL_free(call.member);
    call.member = NULL;
    call.owner = NULL;
    p->calls = false;
}

void hwmc_wait_failure_look(struct hwmc_wait_failure *p, struct hwmc_group *g)
{
    hwmc_lock();
    if (g->wires->now >= p->wake)
        hwmc_wait_failure_step(p, g);
    hwmc_unlock();
}

void hwmc_wait_failure_over(struct hwmc_wait_failure *p)
{
    if (p->wake == 0)
        return;
    hwmc_lock();
    hwmc_wait_failure_end(p);
    hwmc_unlock();
}

uint64_t hwmc_wait_failure_deadline(void)
{
    return wake;
}

static int failed(struct hwmc_probe *k, uint32_t world_rank, uint32_t rails, enum hwmc_stage stage)
{
    char by[256];

    k->ops->describe(k, host_of(world_rank), rails, by, sizeof(by));
    return hwmc_error_silent((int) world_rank, hwmc_stage_text(stage), by,
                             hwmc_settings.net.peer_timeout_ms);
}

int hwmc_failure_error(const struct hwmc_group *g)
{
    const struct hwmc_notice *loss = &g->loss;
    const struct waited w = waited_of(g, loss->stage);
    const char *stage = hwmc_stage_text(loss->stage);
    struct hwmc_probe *k = g->wires->cfg.probe;
    const uint32_t peer = g->world[loss->rank];
    char by[256] = "";

    if (loss->finder == loss->rank)
        return hwmc_error_left((int) peer, stage);
    if (loss->finder == g->cfg.rank && loss->rails != 0)
        return failed(k, peer, loss->rails, loss->stage);
    if (k) {
        const uint32_t rails = loss->rails ? loss->rails : must(hwmc_process_engine(), &w);

        k->ops->describe(k, host_of(peer), rails ? rails : UINT32_MAX, by, sizeof(by));
    }
    if (!by[0])
        snprintf(by, sizeof(by), "the network");
    if (loss->finder != g->cfg.rank)
        return hwmc_error_told((int) peer, stage, (int) g->world[loss->finder], by);
    return hwmc_error_lane((int) peer, stage, by);
}

static struct hwmc_wait_failure at_end; /* the wait in MPI_Finalize */

void hwmc_wait_failure_close(void)
{
    hwmc_wait_failure_end(&at_end);
    at_end.wake = 0;
}

int hwmc_all_there(void)
{
    const struct waited w = {.size = (uint32_t) MPIR_Process.size,
                             .rank = (uint32_t) MPIR_Process.rank,
                             .stage = HWMC_STAGE_END};
    struct hwmc_engine *e = hwmc_process_engine();
    const uint64_t now = hwmc_now();
    uint32_t rank = 0, rails = 0;
    bool has_failed;

    if (!hwmc_registered() || now < at_end.wake)
        return MPI_SUCCESS;
    hwmc_lock();
    has_failed = look(&at_end, e, &w, now, &rank, &rails);
    if (has_failed)
        hwmc_wait_failure_end(&at_end);
    hwmc_unlock();
    return has_failed ? failed(e->wires.cfg.probe, rank, rails, w.stage) : MPI_SUCCESS;
}
