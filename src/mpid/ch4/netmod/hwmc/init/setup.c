/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPI_Init's part of hwmc, a table of steps. What is inside hosts comes first, then the network.
 * When a step of the network fails, or a process has no lane, those done are undone from the last
 * to the first.
 */

#include "mpidimpl.h"
#include "../../../../../mpi/coll/bcast_hw/select/choose.h"
#include "../../../../../mpi/coll/bcast_hw/select/spread_choose.h"
#include "../../../../../mpi/coll/bcast_hw/comm/comm.h"
#include "../../../../../mpi/coll/bcast_hw/process/launcher.h"
#include "../base/global.h"
#include "alike.h"
#include "exit_barrier.h"
#include "record.h"
#include "../am/am.h"
#include "../base/counters.h"
#include "../wires/fabrics.h"
#include "../wait/helper.h"
#include "../wires/addresses.h"
#include "../wires/probe.h"
#include "../wires/lanes.h"
#include "../wires/sessions.h"
#include "../wires/rc.h"
#include "../wires/rails.h"
#include "../wires/auth.h"
#include "../tools/version.h"
#include "../../../../../mpi/coll/bcast_hw/core/base/trace.h"
#include "../../../../../mpi/coll/bcast_hw/engine/engine.h"
#include "../../../../../mpi/coll/bcast_hw/stats/export.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

_Static_assert(HWMC_JOB_LANES_MAX == HWMC_LANES_MAX, "waiting looks at all lanes");

struct hwmc_global hwmc_global;

/* What all processes must know of each other: how many lanes each has, how fast its rails are, and
 * what multicasts there. */
struct offer {
    int lane; /* INT_MAX: it has one; else its rank and why not (hwmc_lanes_want) */
    int ports[HWMC_RANDOM_PORTS_MAX]; /* it can have that UDP port */
    int rail_lanes[HWMC_RAIL_BITS];
    int rc[HWMC_RAIL_BITS]; /* a lane of reliable connections over the rail */
    int mbit[HWMC_RAIL_BITS];
    struct hwmc_job_rails_ends ends[HWMC_RAIL_BITS];
    int verbs[HWMC_RAIL_BITS]; /* multicasts so on the rail, or does not have it */
    int site;                  /* enum site_from */
};

/* What says at which site a process is; the least of all processes is how they all find it. */
enum site_from { SITE_NAMED, SITE_BY_SUBNET, SITE_ONE };

/* Every rail that this process has. */
static void show_rails(const struct hwmc_job_rails *rails, const struct hwmc_wires_cfg *cfg)
{
    for (int i = 0; i < rails->num_job; i++)
        if (rails->port_at[i] >= 0)
            hwmc_export_note_rail((uint32_t) i, &rails->mine[rails->port_at[i]],
                                  cfg->fabrics[i] ? cfg->fabrics[i]->ops->name : "");
}

/* Those for which there are no sessions: one for control and repair, and those of the rails. */
static void show_lanes(const struct hwmc_wires_cfg *cfg)
{
    struct hwmc_export_lane lane = {.open = true, .rail = -1, .carries = "control, repair"};

    if (cfg->num_far_lanes == 0)
        MPL_strncpy(lane.carries, "control, repair, trees", sizeof(lane.carries));
    MPL_strncpy(lane.kind, cfg->lane->ops->name, sizeof(lane.kind));
    hwmc_export_note_lane(0, &lane);
    for (uint32_t i = 0; i < cfg->num_far_lanes; i++) {
        lane.rail = cfg->lane_rail[i % cfg->num_rails];
        MPL_strncpy(lane.kind, cfg->lanes[i]->ops->name, sizeof(lane.kind));
        MPL_strncpy(lane.carries, i < cfg->num_lanes ? "trees" : "trees between sites",
                    sizeof(lane.carries));
        hwmc_export_note_lane(i + 1, &lane);
    }
}

/* Said by the first process: what else it knows is as good as always. */
static void choose_port(struct hwmc_fabrics *fabrics, const int *free)
{
    const bool found = hwmc_fabrics_choose_port(fabrics, free);
    const bool wanted = hwmc_settings.verbose > 0 && fabrics->port != fabrics->ports.port[0];

    if (MPIR_Process.rank > 0)
        return;
    if (!found)
        fprintf(
            stderr,
            "hwmc: no multicast by UDP: of %d ports that were drawn each is taken on some host\n",
            fabrics->ports.num);
    else if (wanted)
        fprintf(stderr, "hwmc: UDP port %d is taken on some host, the job uses %d\n",
                (int) fabrics->ports.port[0], (int) fabrics->port);
}

static const struct hwmc_job_sessions_users users = {
    .am_open = hwmc_am_open,
    .am_progress = hwmc_am_progress,
    .am_close = hwmc_am_close,
    .exit_barrier_open = hwmc_exit_barrier_open,
};

enum going {
    GOING,
    ENOUGH, /* no more is to be set up */
    IN_VAIN /* so, and what was is of no use */
};

struct setup {
    MPIR_Comm *world;
    enum going going;
    bool first; /* MPI_Init of this process */
    struct hwmc_engine *engine;
    struct hwmc_lanes lanes;
    struct hwmc_job_rails rails;
    struct hwmc_job_record job;
    struct hwmc_fabrics fabrics;
    struct offer mine, all;
    struct hwmc_wires_cfg cfg;
};

/* Steps inside the host. Each returns an MPI error code. */

static int look_for_others(struct setup *s)
{
    int mpi_errno = MPI_SUCCESS;
    char text[256];

    (void) s;
    if (hwmc_settings.enable && MPIR_Process.size == 1)
        MPIR_ERR_CHKANDJUMP1(hwmc_launcher_has_others(getenv, text, sizeof(text)), mpi_errno,
                             MPI_ERR_OTHER, "**hwmc_alone", "**hwmc_alone %s", text);

fn_fail:
    return mpi_errno;
}

static int open_engine(struct setup *s)
{
    s->first = hwmc_export_open(HWMC_VERSION);
    if (s->first)
        hwmc_counters_add();
    hwmc_summary_open();
    s->engine = hwmc_open();
    if (MPIR_Process.size == 1)
        s->going = ENOUGH;
    return MPI_SUCCESS;
}

static int compare_settings(struct setup *s)
{
    const bool has_hosts = hwmc_settings.enable && !hwmc_is_on_one_host();
    int mpi_errno = has_hosts ? hwmc_spread_open() : MPI_SUCCESS;

    if (mpi_errno == MPI_SUCCESS)
        mpi_errno = hwmc_alike(s->world);
    if (mpi_errno == MPI_SUCCESS && !hwmc_settings.enable)
        s->going = ENOUGH;
    return mpi_errno;
}

/* Where nothing is sent to another host no rail is opened, and MPI_Init takes as long as without
 * hwmc. */
static int open_host(struct setup *s)
{
    int mpi_errno = MPI_SUCCESS;

    hwmc_presume_processors();
    hwmc_shm_open();
    mpi_errno = hwmc_requests_open();
    if (hwmc_is_on_one_host() && !hwmc_is_forced() && !hwmc_lanes_need_sessions())
        s->going = ENOUGH;
    return mpi_errno;
}

/* Steps of the network. */

static int choose_rails(struct setup *s)
{
    return hwmc_job_rails_choose(&s->rails, s->world);
}

static int open_lanes(struct setup *s)
{
    if (s->engine)
        hwmc_lanes_open(&s->lanes, s->engine, &s->rails);
    return MPI_SUCCESS;
}

static void close_lanes(struct setup *s)
{
    hwmc_lanes_close(&s->lanes);
}

static int open_rc(struct setup *s)
{
    return hwmc_rc_open(&s->rails);
}

static void close_rc(struct setup *s)
{
    (void) s;
    hwmc_rc_close();
}

static int exchange_record(struct setup *s)
{
    int mpi_errno = hwmc_job_record_exchange(&s->lanes, &s->rails, &s->job);

    MPIR_ERR_CHECK(mpi_errno);
    s->cfg.job = s->job.key;
    s->cfg.integrity = (enum hwmc_integrity) s->job.integrity;
    if (s->cfg.integrity == HWMC_INTEGRITY_KEYED)
        mpi_errno = hwmc_auth_secret_get();
    MPIR_ERR_CHECK(mpi_errno);
    s->cfg.auth = hwmc_process_auth();

fn_fail:
    return mpi_errno;
}

/* Of which addresses groups are drawn. */
static int choose_groups(struct setup *s)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_random_groups *groups = &s->fabrics.groups;

    if (s->job.group != 0)
        *groups = (struct hwmc_random_groups){.first = s->job.group};
    else
        MPIR_ERR_CHKANDJUMP1(!hwmc_random_groups_read(hwmc_settings.tune.groups, groups), mpi_errno,
                             MPI_ERR_OTHER, "**hwmc_groups", "**hwmc_groups %s",
                             hwmc_settings.tune.groups);

fn_fail:
    return mpi_errno;
}

/* What this process has for the job: its rails, what multicasts there, and its lanes. */
static int try_fabrics(struct setup *s)
{
    hwmc_job_rails_match(&s->rails, s->job.rails, s->mine.mbit);
    hwmc_job_rails_show_ends(&s->rails, s->mine.ends);
    s->fabrics.key = s->job.key;
    s->fabrics.ports = s->job.ports;
    s->fabrics.port = s->job.ports.port[0];
    hwmc_fabrics_try(&s->fabrics, &s->rails, s->mine.verbs);
    hwmc_fabrics_try_ports(&s->fabrics, &s->rails, s->mine.ports);
    s->mine.lane = hwmc_lanes_want(&s->lanes);
    s->mine.site = hwmc_has_site() ? SITE_NAMED : s->rails.elsewhere ? SITE_BY_SUBNET : SITE_ONE;
    hwmc_lanes_match(&s->lanes, &s->rails, s->mine.rail_lanes);
    hwmc_rc_match(&s->rails, s->mine.rc);
    return MPI_SUCCESS;
}

static void close_fabrics(struct setup *s)
{
    hwmc_fabrics_close(&s->fabrics);
}

/* A process without a lane can take part in no group, so there is none. */
static int compare_offers(struct setup *s)
{
    int mpi_errno =
        MPIR_Allreduce_allcomm_auto(&s->mine, &s->all, (int) (sizeof(s->all) / sizeof(int)),
                                    HWMC_INT, MPI_MIN, s->world, HWMC_NO_ERRORS);

    MPIR_ERR_CHECK(mpi_errno);
    if (s->all.lane == INT_MAX)
        goto fn_fail;
    hwmc_lanes_say(s->all.lane);
    s->going = IN_VAIN;
    MPIR_ERR_CHKANDJUMP1(hwmc_settings.ways.resilient, mpi_errno, MPI_ERR_OTHER, "**hwmc_other",
                         "**hwmc_other %s",
                         "MPIR_CVAR_HWMC_RESILIENT: a process has no lane, for UCX opened none");

fn_fail:
    return mpi_errno;
}

static int open_probe(struct setup *s)
{
    int mpi_errno;

    hwmc_job_rails_leave_same(&s->rails, s->all.ends);
    hwmc_job_rails_tell(&s->rails);
    mpi_errno = hwmc_job_addresses_tell(&s->rails, s->world);
    if (mpi_errno == MPI_SUCCESS)
        s->cfg.probe = hwmc_job_probe_open(&s->rails, hwmc_lanes_need_sessions());
    return mpi_errno;
}

static void close_probe(struct setup *s)
{
    (void) s;
    hwmc_job_probe_close();
    hwmc_job_addresses_forget();
}

static int open_fabrics(struct setup *s)
{
    for (int i = 0; i < s->rails.num_job; i++)
        if (s->rails.same >> i & 1) {
            s->all.mbit[i] = INT_MAX;
            s->all.rail_lanes[i] = s->all.rc[i] = 0;
        }
    choose_port(&s->fabrics, s->all.ports);
    return hwmc_fabrics_open(&s->fabrics, &s->rails, s->all.verbs, s->all.mbit, &s->cfg);
}

/* To sessions, or to the engine. */
static int give_lanes(struct setup *s)
{
    int mpi_errno;

    if (!hwmc_lanes_need_sessions())
        return hwmc_lanes_give(&s->lanes, &s->rails, s->all.rail_lanes, &s->cfg);
    mpi_errno =
        hwmc_job_sessions_give(&s->lanes, &s->rails, s->all.rail_lanes, s->all.rc, &users, &s->cfg);
    if (mpi_errno == MPI_SUCCESS)
        hwmc_lanes_close(&s->lanes);
    return mpi_errno;
}

static int register_wires(struct setup *s)
{
    memcpy(hwmc_global.fabrics, s->cfg.fabrics, sizeof(s->cfg.fabrics));
    memcpy(hwmc_global.lanes, s->cfg.lanes, sizeof(s->cfg.lanes));
    hwmc_global.num_lanes = (int) s->cfg.num_far_lanes;
    hwmc_global.lane = s->cfg.lane;
    if (s->first)
        show_rails(&s->rails, &s->cfg);
    if (!hwmc_lanes_need_sessions())
        show_lanes(&s->cfg);
    s->cfg.meets = hwmc_helper_wanted();
    hwmc_register(&s->cfg);
    return MPI_SUCCESS;
}

static int find_sites(struct setup *s)
{
    switch ((enum site_from) s->all.site) {
        case SITE_NAMED:
            return hwmc_find_sites(s->world, hwmc_site_name(), false);
        case SITE_BY_SUBNET:
            return hwmc_find_sites(s->world, hwmc_job_rails_elsewhere(&s->rails), true);
        default:
            return MPI_SUCCESS;
    }
}

static int find_network(struct setup *s)
{
    return hwmc_find_network(s->world);
}

static int compare_probes(struct setup *s)
{
    return hwmc_job_probe_tried(s->world);
}

static int prepare_world(struct setup *s)
{
    return hwmc_prepare(s->world);
}

static int start_helper(struct setup *s)
{
    (void) s;
    return hwmc_helper_start();
}

/* undo frees what run has made, unless somebody else owns it by then. It is called for each step
 * that was begun, so run may have failed, or have made nothing. */
struct step {
    const char *name;
    int (*run)(struct setup *s);
    void (*undo)(struct setup *s); /* NULL: there is nothing, or MPI_Finalize does it */
};

static const struct step steps[] = {
    {"launcher", look_for_others, NULL},
    {"engine", open_engine, NULL},
    {"settings", compare_settings, NULL},
    {"host", open_host, NULL},
    {"rails", choose_rails, NULL},
    {"lanes", open_lanes, close_lanes},
    {"rc", open_rc, close_rc},
    {"record", exchange_record, NULL},
    {"groups", choose_groups, NULL},
    {"fabrics tried", try_fabrics, close_fabrics},
    {"offers", compare_offers, NULL},
    {"probe", open_probe, close_probe},
    {"fabrics", open_fabrics, NULL}, /* as those tried */
    {"lanes given", give_lanes, NULL},
    {"wires", register_wires, NULL},
    {"sites", find_sites, NULL},
    {"network", find_network, NULL},
    {"probes", compare_probes, NULL},
    {"world", prepare_world, NULL},
    {"helper", start_helper, NULL},
};

int hwmc_setup(MPIR_Comm *world)
{
    struct setup s = {.world = world, .cfg.world_rank = (uint32_t) MPIR_Process.rank};
    const int num = (int) (sizeof(steps) / sizeof(steps[0]));
    int mpi_errno = MPI_SUCCESS, done = 0;

    while (done < num && mpi_errno == MPI_SUCCESS && s.going == GOING) {
        hwmc_trace_note(HWMC_TRACE_SETUP, 0, steps[done].name, (uint64_t) done);
        mpi_errno = steps[done++].run(&s);
    }
    while ((mpi_errno != MPI_SUCCESS || s.going == IN_VAIN) && done > 0)
        if (steps[--done].undo)
            steps[done].undo(&s);
    return mpi_errno;
}
