/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_am.h"
#include "hwmc_counters.h"
#include "hwmc_links.h"
#include "hwmc_meeting.h"
#include "hwmc_rc.h"
#include "lane/stream_lane.h"
#include "../ucx/ucx_impl.h"
#include "../../../../mpi/coll/bcast_hw/live.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_HWMC_RESILIENT
      category    : CH4_HWMC
      type        : boolean
      default     : false
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If true, a rail that fails stops no program: broadcasts, point-to-point and one-sided
        operations travel over hwmc's own lanes, and what was under way on one that fails goes again
        over another rail's, in order and once. Off, MPICH's messages go over UCX's endpoints, which
        is faster, and fail or stop with them. Processes outside MPI_COMM_WORLD are not covered.

    - name        : MPIR_CVAR_HWMC_SUSPECT_MS
      category    : CH4_HWMC
      type        : int
      default     : 50
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Milliseconds without any acknowledgement from a peer after which its lanes are probed, 10 or
        more; and how much later than another a lane may answer before it is taken for dead.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#define NS_PER_MS UINT64_C(1000000)
#define SUSPECT_MIN_MS 10
#define CONTROL 0 /* stream */

bool MPIDI_HWMC_carries;

static struct hwmc_links *links; /* NULL: there are none */

bool MPIDI_HWMC_links_wanted(void)
{
    return MPIR_CVAR_HWMC_RESILIENT || MPIDI_HWMC_rc_named();
}

static struct bcast_hw_lane *open_stream(uint32_t stream)
{
    const struct bcast_hw_lane_params params = {.recv = bcast_hw_engine_on_lane,
                                                .sent = bcast_hw_engine_on_sent,
                                                .ctx = MPIR_Bcast_hw_engine()};

    return hwmc_stream_lane_open(links, stream, &params);
}

/* The rails that all processes share, and which lanes are over them. */
struct shared {
    uint32_t num;                      /* 1 or more */
    int rail[BCAST_HW_RAILS_MAX];      /* the job's number; -1: whatever UCX chooses, alone */
    uint32_t rc;                       /* reliable connections: lanes 0 to rc - 1 */
    uint8_t rc_of[BCAST_HW_RAILS_MAX]; /* by shared rail; NO_LANE */
    struct bcast_hw_lane *lanes[BCAST_HW_LINK_LANES_MAX]; /* those, then ucx, by rail */
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

static uint32_t meeting_stream(const struct shared *s)
{
    return exchange_stream(s) + 1;
}

/* False: no memory. */
static bool share(struct shared *s, struct MPIDI_HWMC_lanes *lanes,
                  const struct MPIDI_HWMC_rails *rails, const int *all_have, const int *all_rc)
{
    uint32_t n = 0;

    s->num = s->rc = 0;
    for (int i = 0; i < BCAST_HW_RAILS_MAX; i++)
        if (all_have[i] > 0)
            s->rail[s->num++] = i;
    if (s->num == 0)
        s->rail[s->num++] = -1;
    for (uint32_t i = 0; i < s->num; i++) {
        s->rc_of[i] = BCAST_HW_LINK_NO_LANE;
        if (s->rail[i] >= 0 && all_rc[s->rail[i]]) {
            s->lanes[n] = MPIDI_HWMC_rc_take(rails, s->rail[i], links, n);
            if (!s->lanes[n])
                return false;
            s->rc_of[i] = (uint8_t) n++;
        }
    }
    s->rc = n;
    for (uint32_t i = 0; i < s->num; i++, n++) {
        s->lanes[n] = MPIDI_HWMC_lanes_take(lanes, s->rail[i] < 0 ? -1 : rails->at[s->rail[i]],
                                            hwmc_links_port(links, n));
        if (!s->lanes[n])
            return false;
    }
    return true;
}

/* The stream prefers the lanes of shared rail `first`, then those of the next ones, around:
 * reliable connections before all ucx ones, or only the latter. */
static void prefer(struct bcast_hw_link_cfg *cfg, const struct shared *s, uint32_t stream,
                   uint32_t first, bool rc)
{
    uint8_t *at = cfg->prefers[stream];

    for (uint32_t k = 0; rc && k < s->num; k++)
        if (s->rc_of[(first + k) % s->num] != BCAST_HW_LINK_NO_LANE)
            *at++ = s->rc_of[(first + k) % s->num];
    for (uint32_t k = 0; k < s->num; k++)
        *at++ = (uint8_t) (s->rc + (first + k) % s->num);
    while (at < cfg->prefers[stream] + BCAST_HW_LINK_LANES_MAX)
        *at++ = BCAST_HW_LINK_NO_LANE;
}

static void configure(struct bcast_hw_link_cfg *cfg, const struct shared *s)
{
    uint64_t ms = (uint64_t) MPL_MAX(MPIR_CVAR_HWMC_SUSPECT_MS, SUSPECT_MIN_MS);

    *cfg = (struct bcast_hw_link_cfg){.lanes = (uint8_t) (s->rc + s->num),
                                      .streams = (uint8_t) (meeting_stream(s) + 1),
                                      .tells = (uint16_t) ((1u << s->rc) - 1),
                                      .suspect_ns = ms * NS_PER_MS,
                                      .grace_ns = ms * NS_PER_MS};
    prefer(cfg, s, CONTROL, 0, true);
    for (uint32_t i = 0; i < s->num; i++) {
        prefer(cfg, s, tree_stream(i), i, true);
        prefer(cfg, s, message_stream(s, i), i, true);
    }
    prefer(cfg, s, exchange_stream(s), 0, false);
    prefer(cfg, s, meeting_stream(s), 0, false);
}

/* What hwmc_info shows of the lanes. */

static struct bcast_hw_live_lane shown[BCAST_HW_LINK_LANES_MAX];

static void show_lane(void *ctx, uint32_t lane, const struct bcast_hw_stand *stand)
{
    struct bcast_hw_live_lane *s = &shown[lane];

    (void) ctx;
    s->stand = *stand;
    MPIR_Bcast_hw_live_lane(lane, s);
}

static void show_lanes(const struct shared *s)
{
    const struct bcast_hw_stand none = {{0}};

    for (uint32_t i = 0; i < s->num; i++) {
        const struct bcast_hw_live_lane ucx = {
            .open = true, .links = true, .rail = s->rail[i], .kind = "ucx"};
        const struct bcast_hw_live_lane rc = {
            .open = true, .links = true, .rail = s->rail[i], .kind = "rc"};

        if (s->rc_of[i] != BCAST_HW_LINK_NO_LANE) {
            shown[s->rc_of[i]] = rc;
            show_lane(NULL, s->rc_of[i], &none);
        }
        shown[s->rc + i] = ucx;
        show_lane(NULL, s->rc + i, &none);
    }
    hwmc_links_watch(links, show_lane, NULL);
}

/* False: no memory. */
static bool open_streams(const struct shared *s, struct bcast_hw_engine_cfg *cfg)
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

int MPIDI_HWMC_links_give(struct MPIDI_HWMC_lanes *lanes, const struct MPIDI_HWMC_rails *rails,
                          const int *all_have, const int *all_rc, struct bcast_hw_engine_cfg *cfg)
{
    int mpi_errno = MPI_SUCCESS;
    struct bcast_hw_link_cfg link;
    struct shared s;

    /* What is carried uses VCI 0 alone, and a request of another would be waited for there. */
    MPIR_ERR_CHKANDJUMP1(MPIR_CVAR_HWMC_RESILIENT && MPIDI_HWMC_NUM_VCIS > 1, mpi_errno,
                         MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "MPIR_CVAR_HWMC_RESILIENT needs MPIR_CVAR_CH4_NUM_VCIS=1");
    links = hwmc_links_create((uint32_t) MPIR_Process.rank, (uint32_t) MPIR_Process.size,
                              MPIDI_HWMC_counters.link);
    MPIR_ERR_CHKANDJUMP(!links || !share(&s, lanes, rails, all_have, all_rc), mpi_errno,
                        MPI_ERR_OTHER, "**nomem");
    configure(&link, &s);
    hwmc_links_open(links, &link, s.lanes);
    show_lanes(&s);
    MPIDI_HWMC_rc_exchange(links, exchange_stream(&s));
    MPIDI_HWMC_meeting_open(links, meeting_stream(&s));
    MPIR_ERR_CHKANDJUMP(!open_streams(&s, cfg) ||
                            !MPIDI_HWMC_am_open(links, message_stream(&s, 0), s.num),
                        mpi_errno, MPI_ERR_OTHER, "**nomem");
    MPIDI_HWMC_counters.lanes->hardware = (uint64_t) MPIDI_HWMC_rc_hardware();
    MPIDI_HWMC_counters.lanes->software = link.lanes - MPIDI_HWMC_counters.lanes->hardware;
    MPIDI_HWMC_global.links = true;
    MPIDI_HWMC_carries = MPIR_CVAR_HWMC_RESILIENT;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

uint64_t MPIDI_HWMC_links_deadline(void)
{
    uint64_t at;

    MPIR_Bcast_hw_lock();
    at = hwmc_links_deadline(links);
    MPIR_Bcast_hw_unlock();
    return at;
}

void MPIDI_HWMC_links_close(void)
{
    if (!links)
        return;
    MPIDI_HWMC_carries = MPIDI_HWMC_global.links = false;
    MPIDI_HWMC_am_close();
    hwmc_links_close(links);
    MPIDI_HWMC_rc_close();
    links = NULL;
}

int MPIDI_HWMC_mpi_win_create_hook(MPIR_Win *win)
{
    return MPIDI_HWMC_carries_comm(win->comm_ptr) ? MPIDI_UCX_mpi_win_create_dynamic_hook(win)
                                                  : MPIDI_UCX_mpi_win_create_hook(win);
}

int MPIDI_HWMC_mpi_win_allocate_hook(MPIR_Win *win)
{
    return MPIDI_HWMC_carries_comm(win->comm_ptr) ? MPIDI_UCX_mpi_win_create_dynamic_hook(win)
                                                  : MPIDI_UCX_mpi_win_allocate_hook(win);
}
