/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * At the start of a job the first process draws the job's key and some UDP ports, of which the job
 * uses the first that all can have. They and every process's lane address travel in the process
 * manager's key-value space:
 *
 *   hwmc-job      KEY:PORT,PORT...:GROUP:INTEGRITY:RAILS, the first three hexadecimal; GROUP is 0
 *                 but in tests; INTEGRITY is an enum hwmc_integrity; RAILS are the first
 *                 process's (rail/match)
 *   hwmc-secret   where messages are authenticated (wires/auth.c)
 *   hwmc-R-...    lane addresses of process R (wires/lanes.c)
 *
 * All processes read the job record at once, and a peer's address when they first send to it.
 */

#include "mpidimpl.h"
#include "../../../../../mpi/coll/bcast_hw/select/choose.h"
#include "../../../../../mpi/coll/bcast_hw/comm/comm.h"
#include "../base/global.h"
#include "alike.h"
#include "exit_barrier.h"
#include "../am/am.h"
#include "../base/counters.h"
#include "../wires/fabrics.h"
#include "../wait/helper.h"
#include "../wires/probe.h"
#include "../wires/lanes.h"
#include "../wires/sessions.h"
#include "../wires/rc.h"
#include "../wires/rails.h"
#include "../wires/auth.h"
#include "../tools/version.h"
#include "../../../../../mpi/coll/bcast_hw/engine/engine.h"
#include "../../../../../mpi/coll/bcast_hw/stats/export.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#include <arpa/inet.h>

#define VALUE_MAX 256 /* of the job record */

_Static_assert(HWMC_JOB_LANES_MAX == HWMC_LANES_MAX, "waiting looks at all lanes");

struct hwmc_global hwmc_global;

struct job {
    uint64_t key;
    struct hwmc_random_port_list ports;
    uint32_t group; /* 0: drawn */
    int integrity;
    char rails[HWMC_MATCH_TEXT_MAX]; /* of the first process */
};

static int parse_group(const char *text, struct job *job)
{
    char dotted[INET_ADDRSTRLEN];
    const char *colon = strchr(text, ':');
    struct in_addr in;

    if (!colon || (size_t) (colon - text) >= sizeof(dotted) ||
        !hwmc_random_ports_parse(colon + 1, &job->ports))
        return -1;
    memcpy(dotted, text, (size_t) (colon - text));
    dotted[colon - text] = '\0';
    if (inet_pton(AF_INET, dotted, &in) != 1 || !IN_MULTICAST(ntohl(in.s_addr)))
        return -1;
    job->group = ntohl(in.s_addr);
    return 0;
}

static enum hwmc_integrity integrity(void)
{
    switch (hwmc_settings.ways.integrity) {
        case HWMC_SET_INTEGRITY_OFF:
            return HWMC_INTEGRITY_OFF;
        case HWMC_SET_INTEGRITY_KEYED:
            return HWMC_INTEGRITY_KEYED;
        default:
            return HWMC_INTEGRITY_CRC32C;
    }
}

static int draw_job(struct job *job)
{
    int mpi_errno = MPI_SUCCESS;

    mpi_errno = hwmc_mpi_random(&job->key, sizeof(job->key));
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_ERR_CHKANDJUMP1(hwmc_random_ports(hwmc_random_ephemeral(), &job->ports) != HWMC_OK,
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "the system gives no random numbers");
    job->group = 0;
    job->integrity = integrity();
    if (*hwmc_settings.debug.group)
        MPIR_ERR_CHKANDJUMP1(parse_group(hwmc_settings.debug.group, job) != 0, mpi_errno,
                             MPI_ERR_OTHER, "**hwmc_group", "**hwmc_group %s",
                             hwmc_settings.debug.group);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int exchange(const struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails,
                    struct job *job)
{
    int mpi_errno = MPI_SUCCESS;
    char value[VALUE_MAX], ports[HWMC_RANDOM_PORTS_TEXT_MAX];

    if (MPIR_Process.rank == 0) {
        mpi_errno = draw_job(job);
        MPIR_ERR_CHECK(mpi_errno);
        hwmc_job_rails_write(rails, job->rails);
        hwmc_random_ports_write(&job->ports, ports);
        snprintf(value, sizeof(value), "%" PRIx64 ":%s:%" PRIx32 ":%d:%s", job->key, ports,
                 job->group, job->integrity, job->rails);
        mpi_errno = MPIR_pmi_kvs_put("hwmc-job", value);
        MPIR_ERR_CHECK(mpi_errno);
        if (job->integrity == HWMC_INTEGRITY_KEYED)
            mpi_errno = hwmc_auth_secret_put();
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = hwmc_lanes_put(lanes);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_pmi_barrier();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_pmi_kvs_get(0, "hwmc-job", value, (int) sizeof(value));
    MPIR_ERR_CHECK(mpi_errno);
    job->rails[0] = '\0'; /* there may be none */
    MPIR_ERR_CHKANDJUMP1(sscanf(value, "%" SCNx64 ":%39[0-9a-f,]:%" SCNx32 ":%d:%152s", &job->key,
                                ports, &job->group, &job->integrity, job->rails) < 4 ||
                             !hwmc_random_ports_read(ports, &job->ports),
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "the process manager changed hwmc's job record");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

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
    int no_site;               /* least: somebody has one */
};

static int negotiation(MPIR_Comm *world, const struct offer *mine, struct offer *all)
{
    return MPIR_Allreduce_allcomm_auto(mine, all, (int) (sizeof(*all) / sizeof(int)), HWMC_INT,
                                       MPI_MIN, world, HWMC_NO_ERRORS);
}

/* Every rail that this process has. */
static void show_rails(const struct hwmc_job_rails *rails, const struct hwmc_wires_cfg *cfg)
{
    for (int i = 0; i < rails->num_job; i++)
        if (rails->at[i] >= 0)
            hwmc_export_note_rail((uint32_t) i, &rails->mine[rails->at[i]],
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

int hwmc_setup(MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_engine *engine;
    struct hwmc_wires_cfg cfg = {
        .world_rank = (uint32_t) MPIR_Process.rank,
    };
    struct hwmc_lanes lanes = {0};
    struct hwmc_fabrics fabrics = {0};
    struct hwmc_job_rails rails;
    struct offer mine, all;
    struct job job;
    const bool first = hwmc_export_open(HWMC_VERSION);

    if (first)
        hwmc_counters_add();
    hwmc_summary_open();
    engine = hwmc_open();
    if (MPIR_Process.size == 1)
        goto fn_exit;
    mpi_errno = hwmc_alike(world);
    MPIR_ERR_CHECK(mpi_errno);
    if (!hwmc_settings.enable)
        goto fn_exit;
    hwmc_find_hosts();
    hwmc_presume_processors();
    hwmc_shm_open();
    mpi_errno = hwmc_requests_open();
    MPIR_ERR_CHECK(mpi_errno);
    /* Nothing is sent to another host, so no rail is opened, and MPI_Init takes as long as without
     * hwmc. */
    if (hwmc_is_on_one_host() && !hwmc_is_forced() && !hwmc_lanes_need_sessions())
        goto fn_exit;
    mpi_errno = hwmc_job_rails_choose(&rails);
    MPIR_ERR_CHECK(mpi_errno);
    if (engine)
        hwmc_lanes_open(&lanes, engine, &rails);
    mpi_errno = hwmc_rc_open(&rails);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = exchange(&lanes, &rails, &job);
    MPIR_ERR_CHECK(mpi_errno);
    cfg.job = job.key;
    cfg.integrity = (enum hwmc_integrity) job.integrity;
    if (cfg.integrity == HWMC_INTEGRITY_KEYED)
        mpi_errno = hwmc_auth_secret_get();
    MPIR_ERR_CHECK(mpi_errno);
    cfg.auth = hwmc_process_auth();
    hwmc_job_rails_match(&rails, job.rails, mine.mbit);
    hwmc_job_rails_show_ends(&rails, mine.ends);
    fabrics.key = job.key;
    fabrics.ports = job.ports;
    fabrics.port = job.ports.port[0];
    fabrics.group = job.group;
    hwmc_fabrics_try(&fabrics, &rails, mine.verbs);
    hwmc_fabrics_try_ports(&fabrics, mine.ports);
    mine.lane = hwmc_lanes_want(&lanes);
    mine.no_site = !hwmc_has_site();
    hwmc_lanes_match(&lanes, &rails, mine.rail_lanes);
    hwmc_rc_match(&rails, mine.rc);
    mpi_errno = negotiation(world, &mine, &all);
    MPIR_ERR_CHECK(mpi_errno);

    /* A process without a lane can take part in no group, so there is none. */
    if (all.lane != INT_MAX)
        hwmc_lanes_say(all.lane);
    MPIR_ERR_CHKANDJUMP1(all.lane != INT_MAX && hwmc_settings.ways.resilient, mpi_errno,
                         MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "MPIR_CVAR_HWMC_RESILIENT: a process has no lane, for UCX opened none");
    if (all.lane != INT_MAX)
        goto fn_fail;
    hwmc_job_rails_leave_same(&rails, all.ends);
    hwmc_job_rails_tell(&rails);
    mpi_errno = hwmc_job_probe_open(&rails, hwmc_lanes_need_sessions(), world, &cfg.probe);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < rails.num_job; i++)
        if (rails.same >> i & 1) {
            all.mbit[i] = INT_MAX;
            all.rail_lanes[i] = all.rc[i] = 0;
        }
    choose_port(&fabrics, all.ports);
    mpi_errno = hwmc_fabrics_open(&fabrics, &rails, all.verbs, all.mbit, &cfg);
    MPIR_ERR_CHECK(mpi_errno);
    if (hwmc_lanes_need_sessions()) {
        mpi_errno = hwmc_job_sessions_give(&lanes, &rails, all.rail_lanes, all.rc, &users, &cfg);
        MPIR_ERR_CHECK(mpi_errno);
        hwmc_lanes_close(&lanes);
    } else {
        mpi_errno = hwmc_lanes_give(&lanes, &rails, all.rail_lanes, &cfg);
        MPIR_ERR_CHECK(mpi_errno);
    }
    memcpy(hwmc_global.fabrics, cfg.fabrics, sizeof(cfg.fabrics));
    memcpy(hwmc_global.lanes, cfg.lanes, sizeof(cfg.lanes));
    hwmc_global.num_lanes = (int) cfg.num_far_lanes;
    hwmc_global.lane = cfg.lane;
    if (first)
        show_rails(&rails, &cfg);
    if (!hwmc_lanes_need_sessions())
        show_lanes(&cfg);
    cfg.meets = hwmc_helper_wanted();
    hwmc_register(&cfg);
    if (!all.no_site) {
        mpi_errno = hwmc_find_sites(world);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = hwmc_find_network(world);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = hwmc_job_probe_tried(world);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = hwmc_prepare(world);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = hwmc_helper_start();
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    hwmc_fabrics_close(&fabrics);
    hwmc_lanes_close(&lanes);
    hwmc_rc_close();
    hwmc_job_probe_close();
    goto fn_exit;
}
