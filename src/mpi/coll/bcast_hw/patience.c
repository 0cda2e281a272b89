/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A process calls one roll at a time: that of the first thread that has waited for an eighth of
 * MPIR_CVAR_BCAST_HW_GONE_MS. All members of the group are asked, not only those that this rank waits for itself: who
 * is gone keeps everybody waiting, through others.
 *
 * Which rails must answer follows from what is waited for: the one of the lane for control and repair, and along trees
 * those of their lanes as well. In resilient mode, and where it is not known by which rail control goes, one rail is
 * enough. Silence on a rail counts only if somebody has answered by it: there may be one where nobody ever does.
 */

#include "patience.h"
#include "core/roll.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_BCAST_HW_GONE_MS
      category    : BCAST_HW
      type        : int
      default     : 120000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Milliseconds for which a host must have been silent on the rails that a broadcast needs for who
        waits in MPI_Bcast, or in MPI_Finalize, to get an error that names it, at most a quarter later. Hosts are asked
        by their kernels, so a process that computes or is stopped is never taken for gone. 0: it
        is waited for for ever.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#define NS_PER_MS UINT64_C(1000000)

/* The roll call of this process. Under the lock. */
static struct {
    struct MPIR_Bcast_hw_patience *owner; /* NULL: there is none */
    struct bcast_hw_roll roll;
} call;

/* What is waited for. */
struct waited {
    uint32_t size, rank;   /* of its members, and this one */
    const uint32_t *world; /* their ranks in MPI_COMM_WORLD; NULL: it is that */
    uint32_t rails;        /* that it keeps to; 0: all */
    enum bcast_hw_stage stage;
};

static uint64_t wake =
    BCAST_HW_NEVER; /* of the thread that waits; with several threads nobody sleeps */

static uint64_t limit_ns(void)
{
    return MPL_MAX(MPIR_CVAR_BCAST_HW_GONE_MS, 0) * NS_PER_MS;
}

/* Rails that must answer, a bit each; 0: any. */
static uint32_t must(const struct bcast_hw_engine *e, const struct waited *w)
{
    struct bcast_hw_knock *k = e->cfg.knock;
    uint32_t rails;

    if (k->any)
        return 0;
    rails = k->ops->control(k);
    if (w->stage == BCAST_HW_STAGE_TREES && e->cfg.num_far_lanes > 0)
        rails |= bcast_hw_engine_lane_rails(e) & (w->rails ? w->rails : ~0u);
    return rails;
}

static uint32_t peer_of(const struct waited *w, uint32_t member)
{
    return w->world ? w->world[member] : member;
}

/* By which rails the peer can be asked so that it says something. */
static uint32_t askable(struct bcast_hw_knock *k, uint32_t peer)
{
    const uint32_t shared = k->ops->shared(k, peer), proven = k->ops->proven(k);

    if (call.roll.cfg.must)
        return call.roll.cfg.must & shared & proven;
    return shared & ~proven ? 0
                            : shared; /* one is enough, so silence has to mean something on each */
}

static void ask(struct bcast_hw_engine *e, const struct waited *w, uint64_t now)
{
    struct bcast_hw_knock *k = e->cfg.knock;
    uint32_t place, rails;

    while (bcast_hw_roll_next_ask(&call.roll, &place, &rails, now)) {
        const uint32_t peer = peer_of(w, call.roll.place[place].member);
        uint32_t by = askable(k, peer) & (rails ? rails : ~0u);

        if (by != 0)
            by = k->ops->ask(k, place, peer, by);
        e->engine_counts->hosts_asked += by != 0;
        bcast_hw_roll_asked(&call.roll, place, by, now);
    }
}

static void hear(struct bcast_hw_engine *e)
{
    struct bcast_hw_knock *k = e->cfg.knock;

    for (uint32_t i = 0; i < BCAST_HW_ROLL_PLACES; i++) {
        uint32_t rails = call.roll.place[i].asked ? k->ops->answered(k, i) : 0;

        if (rails != 0 && bcast_hw_roll_on_answer(&call.roll, i, rails)) {
            e->engine_counts->hosts_answered++;
            k->ops->end(k, i);
        }
    }
}

static void begin(struct MPIR_Bcast_hw_patience *p, struct bcast_hw_engine *e,
                  const struct waited *w, uint64_t now)
{
    const struct bcast_hw_roll_cfg cfg = {
        .size = w->size, .rank = w->rank, .must = must(e, w), .limit_ns = limit_ns()};

    bcast_hw_roll_init(&call.roll, &cfg, now);
    call.owner = p;
    p->calls = true;
}

/* Whether a member is gone. */
static bool look(struct MPIR_Bcast_hw_patience *p, struct bcast_hw_engine *e,
                 const struct waited *w, uint64_t now, uint32_t *member, uint32_t *rails)
{
    if (!e->cfg.knock || limit_ns() == 0) {
        p->wake = BCAST_HW_NEVER;
        return false;
    }
    if (p->wake == 0 || (!p->calls && call.owner)) {
        p->wake = wake = now + limit_ns() / BCAST_HW_ROLL_PARTS + 1;
        return false;
    }
    if (!p->calls)
        begin(p, e, w, now);
    hear(e);
    bcast_hw_roll_on_timer(&call.roll, now);
    if (bcast_hw_roll_gone(&call.roll, now, member, rails)) {
        e->engine_counts->hosts_gone++;
        return true;
    }
    ask(e, w, now);
    p->wake = wake = bcast_hw_roll_next_timer(&call.roll);
    return false;
}

static struct waited waited_of(const struct bcast_hw_group *g, enum bcast_hw_stage stage)
{
    return (struct waited){.size = g->cfg.size,
                           .rank = g->cfg.rank,
                           .world = g->world,
                           .rails = g->cfg.rails,
                           .stage = stage};
}

void MPIR_Bcast_hw_patience_step(struct MPIR_Bcast_hw_patience *p, struct bcast_hw_group *g)
{
    const struct waited w = waited_of(g, bcast_hw_group_stage(g));
    uint32_t member, rails;

    if (look(p, g->engine, &w, g->engine->now, &member, &rails))
        bcast_hw_group_on_gone(g, member, rails);
}

void MPIR_Bcast_hw_patience_end(struct MPIR_Bcast_hw_patience *p)
{
    const struct bcast_hw_engine *e = MPIR_Bcast_hw_engine();

    wake = BCAST_HW_NEVER;
    if (!p->calls)
        return;
    for (uint32_t i = 0; i < BCAST_HW_ROLL_PLACES; i++)
        if (call.roll.place[i].asked)
            e->cfg.knock->ops->end(e->cfg.knock, i);
    call.owner = NULL;
    p->calls = false;
}

uint64_t MPIR_Bcast_hw_patience_deadline(void)
{
    return wake;
}

static int gone(struct bcast_hw_knock *k, uint32_t world_rank, uint32_t rails,
                enum bcast_hw_stage stage)
{
    int mpi_errno = MPI_SUCCESS;
    char by[256];

    k->ops->describe(k, world_rank, rails, by, sizeof(by));
    MPIR_ERR_SETANDJUMP4(mpi_errno, MPI_ERR_OTHER, "**bcast_hw_gone", "**bcast_hw_gone %d %s %s %d",
                         (int) world_rank, bcast_hw_stage_text(stage), by,
                         MPIR_CVAR_BCAST_HW_GONE_MS);

fn_fail:
    return mpi_errno;
}

int MPIR_Bcast_hw_lost(const struct bcast_hw_group *g)
{
    const struct bcast_hw_loss *loss = &g->loss;
    const struct waited w = waited_of(g, loss->stage);
    const char *stage = bcast_hw_stage_text(loss->stage);
    struct bcast_hw_knock *k = g->engine->cfg.knock;
    const uint32_t peer = g->world[loss->rank];
    int mpi_errno = MPI_SUCCESS;
    char by[256] = "";

    if (loss->finder == g->cfg.rank && loss->rails != 0)
        return gone(k, peer, loss->rails, loss->stage);
    if (k) {
        const uint32_t rails = loss->rails ? loss->rails : must(g->engine, &w);

        k->ops->describe(k, peer, rails ? rails : UINT32_MAX, by, sizeof(by));
    }
    if (!by[0])
        snprintf(by, sizeof(by), "the network");
    MPIR_ERR_CHKANDJUMP4(loss->finder != g->cfg.rank, mpi_errno, MPI_ERR_OTHER, "**bcast_hw_told",
                         "**bcast_hw_told %d %s %d %s", (int) peer, stage,
                         (int) g->world[loss->finder], by);
    MPIR_ERR_SETANDJUMP3(mpi_errno, MPI_ERR_OTHER, "**bcast_hw_lane", "**bcast_hw_lane %d %s %s",
                         (int) peer, stage, by);

fn_fail:
    return mpi_errno;
}

int MPIR_Bcast_hw_all_there(void)
{
    static struct MPIR_Bcast_hw_patience p;
    const struct waited w = {.size = (uint32_t) MPIR_Process.size,
                             .rank = (uint32_t) MPIR_Process.rank,
                             .stage = BCAST_HW_STAGE_END};
    struct bcast_hw_engine *e = MPIR_Bcast_hw_engine();
    const uint64_t now = MPIR_Bcast_hw_now();
    uint32_t rank = 0, rails = 0;
    bool is_gone;

    if (!MPIR_Bcast_hw_registered() || now < p.wake)
        return MPI_SUCCESS;
    MPIR_Bcast_hw_lock();
    is_gone = look(&p, e, &w, now, &rank, &rails);
    if (is_gone)
        MPIR_Bcast_hw_patience_end(&p);
    MPIR_Bcast_hw_unlock();
    return is_gone ? gone(e->cfg.knock, rank, rails, w.stage) : MPI_SUCCESS;
}
