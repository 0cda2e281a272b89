/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the user can say about rails that stop working in mid-run (core/epoch), and is told.
 */

#include "../comm/comm.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_BCAST_HW_LEAVE
      category    : BCAST_HW
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If true, a communicator leaves rails on which multicast stops working in mid-run, and takes
        them up when it works again; with none left its broadcasts go along trees. If false, what is
        lost is repaired for ever.

    - name        : MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MS
      category    : BCAST_HW
      type        : int
      default     : 100
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Milliseconds after which a rail that was left is probed; then after twice that, and so on.

    - name        : MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MAX_MS
      category    : BCAST_HW
      type        : int
      default     : 60000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The longest pause (in milliseconds) between probes of a rail that was left.

    - name        : MPIR_CVAR_BCAST_HW_VERBOSE
      category    : BCAST_HW
      type        : int
      default     : 0
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        1: the first rank of a communicator says on standard error when it leaves rails or takes
        them up, or goes over to another repair or period of synchronization, and why. 2: every rank
        says so. 0: none does.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

static uint64_t ns_of(int ms)
{
    return (uint64_t) (ms > 1 ? ms : 1) * 1000000;
}

void hwmc_configure_epochs(struct hwmc_group_cfg *cfg)
{
    cfg->stay = !MPIR_CVAR_BCAST_HW_LEAVE;
    cfg->pause_ns = ns_of(MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MS);
    cfg->pause_max_ns =
        ns_of(MPL_MAX(MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MS, MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MAX_MS));
}

void hwmc_show_group(struct hwmc_group *g, bool first)
{
    const struct hwmc_epoch *e = &g->stream.epoch;

    hwmc_export_note_cast(g, first);
    if (e->now.rails != e->before.rails)
        hwmc_note_rails(g);
}

static void say(const struct hwmc_group *g, const struct hwmc_epoch *e)
{
    fprintf(stderr,
            "hwmc: rank %d: communicator %x: from broadcast %llu on multicast on rails %x, repair "
            "by %s, synchronized each %u; before: %x, %s, %u: %s (rank %u of it)\n",
            MPIR_Process.rank, (unsigned) g->id.context, (unsigned long long) e->from, e->now.rails,
            e->now.push ? "push" : "pull", (unsigned) e->now.period, e->before.rails,
            e->before.push ? "push" : "pull", (unsigned) e->before.period,
            hwmc_rail_reason_texts[e->reason], (unsigned) e->culprit);
}

void hwmc_note_epoch(struct hwmc_group *g)
{
    struct hwmc_epoch e;
    bool news;

    if (MPIR_CVAR_BCAST_HW_VERBOSE < (g->cfg.rank == 0 ? 1 : 2))
        return;
    hwmc_lock();
    e = g->stream.epoch;
    news = g->noted != e.number;
    g->noted = e.number;
    hwmc_unlock();
    if (news)
        say(g, &e);
}
