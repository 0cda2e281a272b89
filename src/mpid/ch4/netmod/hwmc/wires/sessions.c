/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../base/counters.h"
#include "sessions.h"
#include "rc.h"
#include "../session/virtual_lane.h"
#include "../../ucx/ucx_impl.h"
#include "../../../../../mpi/coll/bcast_hw/stats/export.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#define NS_PER_MS UINT64_C(1000000)
#define SUSPECT_MIN_MS 10
#define CONTROL 0 /* stream */

bool hwmc_am_override;

static struct hwmc_sessions *sessions; /* NULL: there are none */
static const struct hwmc_job_sessions_users *used_by;

static struct hwmc_lane *open_stream(uint32_t stream)
{
    const struct hwmc_lane_params params = {
        .recv = hwmc_engine_on_lane, .sent = hwmc_engine_on_sent, .ctx = hwmc_process_engine()};

    return hwmc_virtual_lane_open(sessions, stream, &params);
}

/* The rails that all processes share, and which lanes are over them. */
struct shared {
    uint32_t num;                  /* 1 or more */
    int rail[HWMC_RAILS_MAX];      /* the job's number; -1: whatever UCX chooses, alone */
    uint32_t rc;                   /* reliable connections: lanes 0 to rc - 1 */
    uint8_t rc_of[HWMC_RAILS_MAX]; /* by shared rail; NO_LANE */
    struct hwmc_lane *lanes[HWMC_SESSION_LANES_MAX]; /* those, then ucx, by rail */
};

/* Streams, in their order; of a shared rail where they are given one. */

static uint32_t tree_stream(uint32_t rail)
{
    return CONTROL + 1 + rail;
}

static uint32_t message_stream(const struct shared *s, uint32_t rail)
{
    return tree_stream(s->num) + rail;
}

static uint32_t exchange_stream(const struct shared *s)
{
    return message_stream(s, s->num);
}

static uint32_t exit_barrier_stream(const struct shared *s)
{
    return exchange_stream(s) + 1;
}

/* False: no memory. */
static bool share(struct shared *s, struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails,
                  const int *all_have, const int *all_rc)
{
    uint32_t n = 0;

    s->num = s->rc = 0;
    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        if (all_have[i] > 0)
            s->rail[s->num++] = i;
    if (s->num == 0)
        s->rail[s->num++] = -1;
    for (uint32_t i = 0; i < s->num; i++) {
        s->rc_of[i] = HWMC_SESSION_NO_LANE;
        if (s->rail[i] >= 0 && all_rc[s->rail[i]]) {
            s->lanes[n] = hwmc_rc_take(rails, s->rail[i], sessions, n);
            if (!s->lanes[n])
                return false;
            s->rc_of[i] = (uint8_t) n++;
        }
    }
    s->rc = n;
    for (uint32_t i = 0; i < s->num; i++, n++) {
        s->lanes[n] = hwmc_lanes_take(lanes, s->rail[i] < 0 ? -1 : rails->port_at[s->rail[i]],
                                      hwmc_sessions_port(sessions, n));
        if (!s->lanes[n])
            return false;
    }
    return true;
}

/* The stream prefers the lanes of shared rail `first`, then those of the next ones, around:
 * reliable connections before all ucx ones, or only the latter. */
static void prefer(struct hwmc_session_cfg *cfg, const struct shared *s, uint32_t stream,
                   uint32_t first, bool rc)
{
    uint8_t *at = cfg->prefers[stream];

    for (uint32_t k = 0; rc && k < s->num; k++)
        if (s->rc_of[(first + k) % s->num] != HWMC_SESSION_NO_LANE)
            *at++ = s->rc_of[(first + k) % s->num];
    for (uint32_t k = 0; k < s->num; k++)
        *at++ = (uint8_t) (s->rc + (first + k) % s->num);
    while (at < cfg->prefers[stream] + HWMC_SESSION_LANES_MAX)
        *at++ = HWMC_SESSION_NO_LANE;
}

static void configure(struct hwmc_session_cfg *cfg, const struct shared *s)
{
    uint64_t ms = (uint64_t) MPL_MAX(hwmc_settings.tune.suspect_ms, SUSPECT_MIN_MS);

    *cfg = (struct hwmc_session_cfg){.lanes = (uint8_t) (s->rc + s->num),
                                     .streams = (uint8_t) (exit_barrier_stream(s) + 1),
                                     .tells = (uint16_t) ((1u << s->rc) - 1),
                                     .suspect_ns = ms * NS_PER_MS,
                                     .grace_ns = ms * NS_PER_MS};
    prefer(cfg, s, CONTROL, 0, true);
    for (uint32_t i = 0; i < s->num; i++) {
        prefer(cfg, s, tree_stream(i), i, true);
        prefer(cfg, s, message_stream(s, i), i, true);
    }
    prefer(cfg, s, exchange_stream(s), 0, false);
    prefer(cfg, s, exit_barrier_stream(s), 0, false);
}

/* What hwmc_info shows of the lanes. */

static struct hwmc_export_lane shown[HWMC_SESSION_LANES_MAX];

static void show_lane(void *ctx, uint32_t lane, const struct hwmc_lane_state *stand)
{
    struct hwmc_export_lane *s = &shown[lane];

    (void) ctx;
    s->stand = *stand;
    hwmc_export_note_lane(lane, s);
}

static void show_lanes(const struct shared *s)
{
    const struct hwmc_lane_state none = {{0}};

    for (uint32_t i = 0; i < s->num; i++) {
        const struct hwmc_export_lane ucx = {
            .open = true, .sessions = true, .rail = s->rail[i], .kind = "ucx"};
        const struct hwmc_export_lane rc = {
            .open = true, .sessions = true, .rail = s->rail[i], .kind = "rc"};

        if (s->rc_of[i] != HWMC_SESSION_NO_LANE) {
            shown[s->rc_of[i]] = rc;
            show_lane(NULL, s->rc_of[i], &none);
        }
        shown[s->rc + i] = ucx;
        show_lane(NULL, s->rc + i, &none);
    }
    hwmc_sessions_watch(sessions, show_lane, NULL);
}

/* False: no memory. */
static bool open_streams(const struct shared *s, struct hwmc_wires_cfg *cfg)
{
    cfg->lane = open_stream(CONTROL);
    if (!cfg->lane)
        return false;
    for (uint32_t i = 0; s->num > 1 && i < s->num; i++) {
        cfg->lane_rail[i] = (uint8_t) s->rail[i];
        cfg->lanes[i] = open_stream(tree_stream(i));
        if (!cfg->lanes[i])
            return false;
        cfg->num_lanes = cfg->num_far_lanes = cfg->num_rails = i + 1;
    }
    return true;
}

int hwmc_job_sessions_give(struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails,
                           const int *all_have, const int *all_rc,
                           const struct hwmc_job_sessions_users *users, struct hwmc_wires_cfg *cfg)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_session_cfg session;
    struct shared s;

    /* What is carried uses VCI 0 alone, and a request of another would be waited for there. */
    MPIR_ERR_CHKANDJUMP1(hwmc_settings.ways.resilient && MPIDI_HWMC_NUM_VCIS > 1, mpi_errno,
                         MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "MPIR_CVAR_HWMC_RESILIENT needs MPIR_CVAR_CH4_NUM_VCIS=1");
    sessions = hwmc_sessions_create((uint32_t) MPIR_Process.rank, (uint32_t) MPIR_Process.size,
                                    hwmc_counters.session);
    MPIR_ERR_CHKANDJUMP(!sessions || !share(&s, lanes, rails, all_have, all_rc), mpi_errno,
                        MPI_ERR_OTHER, "**nomem");
    configure(&session, &s);
    hwmc_sessions_open(sessions, &session, s.lanes);
    show_lanes(&s);
    hwmc_rc_exchange(sessions, exchange_stream(&s));
    used_by = users;
    users->exit_barrier_open(sessions, exit_barrier_stream(&s));
    MPIR_ERR_CHKANDJUMP(!open_streams(&s, cfg) ||
                            !users->am_open(sessions, message_stream(&s, 0), s.num),
                        mpi_errno, MPI_ERR_OTHER, "**nomem");
    hwmc_counters.lanes->hardware = (uint64_t) hwmc_rc_hardware();
    hwmc_counters.lanes->software = session.lanes - hwmc_counters.lanes->hardware;
    hwmc_global.am_progress = users->am_progress;
    hwmc_global.sessions = true;
    hwmc_am_override = hwmc_settings.ways.resilient;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

uint64_t hwmc_job_sessions_deadline(void)
{
    uint64_t at;

    hwmc_lock();
    at = hwmc_sessions_deadline(sessions);
    hwmc_unlock();
    return at;
}

void hwmc_job_sessions_close(void)
{
    if (!sessions)
        return;
    hwmc_am_override = hwmc_global.sessions = false;
    used_by->am_close();
    hwmc_sessions_close(sessions);
    hwmc_rc_close();
    sessions = NULL;
}

int MPIDI_HWMC_mpi_win_create_hook(MPIR_Win *win)
{
    return hwmc_am_override_comm(win->comm_ptr) ? MPIDI_UCX_mpi_win_create_dynamic_hook(win)
                                                : MPIDI_UCX_mpi_win_create_hook(win);
}

int MPIDI_HWMC_mpi_win_allocate_hook(MPIR_Win *win)
{
    return hwmc_am_override_comm(win->comm_ptr) ? MPIDI_UCX_mpi_win_create_dynamic_hook(win)
                                                : MPIDI_UCX_mpi_win_allocate_hook(win);
}
