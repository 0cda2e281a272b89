/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_am.h"
#include "hwmc_links.h"
#include "hwmc_rc.h"
#include "lane/stream_lane.h"
#include "../ucx/ucx_impl.h"

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
#define CONTROL 0 /* stream */

bool MPIDI_HWMC_carries;

static struct hwmc_links *links; /* NULL: there are none */
static struct bcast_hw_link_counts counts;
static unsigned long long by_hardware, by_software;

static void register_pvars(void)
{
#define X(field, text) MPIDI_HWMC_REGISTER_COUNTER(hwmc_link_##field, &counts.field, text);
    HWMC_LINKS_COUNTS(X)
#undef X
    MPIDI_HWMC_REGISTER_COUNTER(hwmc_lanes_hardware, &by_hardware,
                                "lanes over which hardware leaves a dead path");
    MPIDI_HWMC_REGISTER_COUNTER(hwmc_lanes_software, &by_software,
                                "other lanes, over which a dead path is left in software");
}

bool MPIDI_HWMC_links_wanted(void)
{
    return MPIR_CVAR_HWMC_RESILIENT || MPIDI_HWMC_rc_named();
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

/* Round k: a message to the process 2^k places on, and one from as many places back. */
static struct {
    uint32_t stream;
    uint32_t came; /* mask of the rounds whose message is here */
    uint32_t round;
    bool sent; /* this round's */
} meeting;

static void on_meet(void *ctx, uint32_t peer, const void *head, size_t head_len, const void *body,
                    size_t body_len)
{
    const unsigned char *round = head;

    (void) ctx;
    (void) peer;
    (void) body;
    (void) body_len;
    if (head_len == 1 && *round < 32)
        meeting.came |= 1u << *round;
}

/* The rails that all processes share, and which lanes are over them. */
struct shared {
    uint32_t num;                      /* 1 or more */
    uint32_t rc;                       /* reliable connections: lanes 0 to rc - 1 */
    uint8_t rc_of[BCAST_HW_RAILS_MAX]; /* by shared rail; NO_LANE */
    struct bcast_hw_lane *lanes[BCAST_HW_LINK_LANES_MAX]; /* those, then ucx, by rail */
};

static void share(struct shared *s, struct MPIDI_HWMC_lanes *lanes,
                  const struct MPIDI_HWMC_rails *rails, const int *all_have, const int *all_rc)
{
    int rail[BCAST_HW_RAILS_MAX]; /* the job's number; -1: whatever UCX chooses */
    uint32_t n = 0;

    s->num = s->rc = 0;
    for (int i = 0; i < BCAST_HW_RAILS_MAX; i++)
        if (all_have[i] > 0)
            rail[s->num++] = i;
    if (s->num == 0)
        rail[s->num++] = -1;
    for (uint32_t i = 0; i < s->num; i++) {
        s->rc_of[i] = BCAST_HW_LINK_NO_LANE;
        if (rail[i] >= 0 && all_rc[rail[i]]) {
            s->lanes[n] = MPIDI_HWMC_rc_take(rails, rail[i], links, n);
            s->rc_of[i] = (uint8_t) n++;
        }
    }
    s->rc = n;
    for (uint32_t i = 0; i < s->num; i++, n++)
        s->lanes[n] = MPIDI_HWMC_lanes_take(lanes, rail[i] < 0 ? -1 : rails->at[rail[i]],
                                            hwmc_links_port(links, n));
}

/* The stream prefers the lanes of shared rail `first`, then those of the next ones, around: reliable
 * connections before all ucx ones, or only the latter. */
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
                                      .streams = (uint8_t) (3 + 2 * s->num),
                                      .tells = (uint16_t) ((1u << s->rc) - 1),
                                      .suspect_ns = ms * NS_PER_MS,
                                      .grace_ns = ms * NS_PER_MS};
    prefer(cfg, s, CONTROL, 0, true);
    for (uint32_t i = 0; i < s->num; i++) {
        prefer(cfg, s, 1 + i, i, true);
        prefer(cfg, s, 1 + s->num + i, i, true);
    }
    prefer(cfg, s, 1 + 2 * s->num, 0, false);
    prefer(cfg, s, 2 + 2 * s->num, 0, false);
}

/* False: no memory. */
static bool open_streams(uint32_t lanes, struct bcast_hw_engine_cfg *cfg)
{
    cfg->lane = open_stream(CONTROL);
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
                          const int *all_have, const int *all_rc, struct bcast_hw_engine_cfg *cfg)
{
    int mpi_errno = MPI_SUCCESS;
    struct bcast_hw_link_cfg link;
    struct shared s;

    /* What is carried uses VCI 0 alone, and a request of another would be waited for there. */
    MPIR_ERR_CHKANDJUMP1(MPIR_CVAR_HWMC_RESILIENT && MPIDI_HWMC_NUM_VCIS > 1, mpi_errno,
                         MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "MPIR_CVAR_HWMC_RESILIENT needs MPIR_CVAR_CH4_NUM_VCIS=1");
    links = hwmc_links_create((uint32_t) MPIR_Process.rank, (uint32_t) MPIR_Process.size, &counts);
    MPIR_ERR_CHKANDJUMP(!links, mpi_errno, MPI_ERR_OTHER, "**nomem");
    share(&s, lanes, rails, all_have, all_rc);
    configure(&link, &s);
    hwmc_links_open(links, &link, s.lanes);
    MPIDI_HWMC_rc_exchange(links, 1 + 2 * s.num);
    meeting.stream = 2 + 2 * s.num;
    hwmc_links_use(links, meeting.stream, &(struct hwmc_links_upper){.recv = on_meet});
    MPIR_ERR_CHKANDJUMP(!open_streams(s.num, cfg) || !MPIDI_HWMC_am_open(links, 1 + s.num, s.num),
                        mpi_errno, MPI_ERR_OTHER, "**nomem");
    by_hardware = (unsigned long long) MPIDI_HWMC_rc_hardware();
    by_software = link.lanes - by_hardware;
    register_pvars();
    MPIDI_HWMC_global.links = true;
    MPIDI_HWMC_carries = MPIR_CVAR_HWMC_RESILIENT;

fn_exit:
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

static bool meet(void)
{
    uint32_t size = (uint32_t) MPIR_Process.size;

    while (size > 1u << meeting.round) {
        unsigned char round = (unsigned char) meeting.round;
        uint32_t to = ((uint32_t) MPIR_Process.rank + (1u << meeting.round)) % size;

        if (!meeting.sent)
            meeting.sent =
                hwmc_links_send(links, meeting.stream, to, &round, 1, NULL, 0, NULL) == BCAST_HW_OK;
        if (!meeting.sent || !(meeting.came >> meeting.round & 1))
            return false;
        meeting.round++;
        meeting.sent = false;
    }
    return true;
}

bool MPIDI_HWMC_links_met(void)
{
    bool met;

    MPIR_Bcast_hw_lock();
    met = meet();
    MPIR_Bcast_hw_unlock();
    return met;
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
