/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_am.h"
#include "hwmc_links.h"
#include "lane/stream_lane.h"

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
        If true, a rail that fails stops no program: broadcasts, point-to-point and one-sided operations
        travel over hwmc's own lanes, and what was under way on one that fails goes again over
        another rail's, in order and once. Off, MPICH's messages go over UCX's endpoints, which is
        faster, and fail or stop with them. Processes outside MPI_COMM_WORLD are not covered.

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

bool MPIDI_HWMC_carries;

static struct hwmc_links *links; /* NULL: there are none */
static struct bcast_hw_link_counts counts;

#define REGISTER(name, addr, text)                                                                 \
    MPIR_T_PVAR_COUNTER_REGISTER_DYNAMIC(                                                          \
        HWMC, MPI_UNSIGNED_LONG_LONG, name, addr, 1, MPI_T_VERBOSITY_USER_DETAIL,                  \
        MPI_T_BIND_NO_OBJECT, (MPIR_T_PVAR_FLAG_READONLY | MPIR_T_PVAR_FLAG_CONTINUOUS), NULL,     \
        NULL, "CH4_HWMC", text)

static void register_pvars(void)
{
#define X(field, text) REGISTER(hwmc_link_##field, &counts.field, text);
    HWMC_LINKS_COUNTS(X)
#undef X
}

bool MPIDI_HWMC_links_wanted(void)
{
    return MPIR_CVAR_HWMC_RESILIENT;
}

static void on_recv(void *engine, const void *head, size_t head_len, const void *body,
                    size_t body_len)
{
    bcast_hw_engine_on_lane(engine, head, head_len, body, body_len);
}

static void on_sent(void *engine, uint64_t tag)
{
    bcast_hw_engine_on_sent(engine, tag);
}

static struct bcast_hw_lane *open_stream(uint32_t stream)
{
    const struct bcast_hw_lane_params params = {
        .recv = on_recv, .sent = on_sent, .ctx = MPIR_Bcast_hw_engine()};

    return hwmc_stream_lane_open(links, stream, &params);
}

/* The stream prefers lane `first`, then the next ones, around. */
static void prefer(struct bcast_hw_link_cfg *cfg, uint32_t stream, uint32_t first)
{
    for (uint32_t k = 0; k < cfg->lanes; k++)
        cfg->prefers[stream][k] = (uint8_t) ((first + k) % cfg->lanes);
}

static void configure(struct bcast_hw_link_cfg *cfg, uint32_t lanes)
{
    uint64_t ms = (uint64_t) MPL_MAX(MPIR_CVAR_HWMC_SUSPECT_MS, SUSPECT_MIN_MS);

    *cfg = (struct bcast_hw_link_cfg){.lanes = (uint8_t) lanes,
                                      .streams = (uint8_t) (1 + 2 * lanes),
                                      .suspect_ns = ms * NS_PER_MS,
                                      .grace_ns = ms * NS_PER_MS};
    prefer(cfg, 0, 0);
    for (uint32_t i = 0; i < lanes; i++) {
        prefer(cfg, 1 + i, i);
        prefer(cfg, 1 + lanes + i, i);
    }
}

static uint32_t take_lanes(struct MPIDI_HWMC_lanes *lanes, const struct MPIDI_HWMC_rails *rails,
                           const int *all_have, struct bcast_hw_lane **inner)
{
    uint32_t n = 0;

    for (int i = 0; i < BCAST_HW_RAILS_MAX; i++)
        if (all_have[i] > 0) {
            inner[n] = MPIDI_HWMC_lanes_take(lanes, rails->at[i], hwmc_links_port(links, n));
            n++;
        }
    if (n == 0) {
        inner[0] = MPIDI_HWMC_lanes_take(lanes, -1, hwmc_links_port(links, 0));
        n = 1;
    }
    return n;
}

/* False: no memory. */
static bool open_streams(uint32_t lanes, struct bcast_hw_engine_cfg *cfg)
{
    cfg->lane = open_stream(0);
    if (!cfg->lane)
        return false;
    for (uint32_t i = 0; lanes > 1 && i < lanes; i++) {
        cfg->lanes[i] = open_stream(1 + i);
        if (!cfg->lanes[i])
            return false;
        cfg->num_lanes = cfg->num_far_lanes = cfg->num_rails = i + 1;
    }
    return true;
}

int MPIDI_HWMC_links_give(struct MPIDI_HWMC_lanes *lanes, const struct MPIDI_HWMC_rails *rails,
                          const int *all_have, struct bcast_hw_engine_cfg *cfg)
{
    int mpi_errno = MPI_SUCCESS;
    struct bcast_hw_lane *inner[BCAST_HW_LINK_LANES_MAX];
    struct bcast_hw_link_cfg link;
    uint32_t num;

    links = hwmc_links_create((uint32_t) MPIR_Process.rank, (uint32_t) MPIR_Process.size, &counts);
    MPIR_ERR_CHKANDJUMP(!links, mpi_errno, MPI_ERR_OTHER, "**nomem");
    num = take_lanes(lanes, rails, all_have, inner);
    configure(&link, num);
    hwmc_links_open(links, &link, inner);
    MPIR_ERR_CHKANDJUMP(!open_streams(num, cfg) || !MPIDI_HWMC_am_open(links, 1 + num, num),
                        mpi_errno, MPI_ERR_OTHER, "**nomem");
    register_pvars();
    MPIDI_HWMC_global.links = true;
    MPIDI_HWMC_carries = MPIR_CVAR_HWMC_RESILIENT;

fn_exit:
    MPIDI_HWMC_lanes_close(lanes);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int MPIDI_HWMC_links_progress(bool polled, int *events)
{
    return MPIDI_HWMC_am_progress(polled, events);
}

uint64_t MPIDI_HWMC_links_deadline(void)
{
    uint64_t at;

    MPIR_Bcast_hw_lock();
    at = hwmc_links_deadline(links);
    MPIR_Bcast_hw_unlock();
    return at;
}

bool MPIDI_HWMC_links_idle(void)
{
    return MPIDI_HWMC_am_idle();
}

void MPIDI_HWMC_links_close(void)
{
    if (!links)
        return;
    MPIDI_HWMC_carries = MPIDI_HWMC_global.links = false;
    MPIDI_HWMC_am_close();
    hwmc_links_close(links);
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
