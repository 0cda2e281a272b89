/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * epoch: see epoch.h.
 */

#include "mpiimpl.h"
#include "epoch.h"
#include "counters.h"
#include "export.h"
#include "../engine/engine.h"
#include "../process/process.h"
#include "../settings/settings.h"

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

    if (hwmc_settings.verbose < (g->cfg.rank == 0 ? 1 : 2))
        return;
    hwmc_lock();
    e = g->stream.epoch;
    news = g->noted != e.number;
    g->noted = e.number;
    hwmc_unlock();
    if (news)
        say(g, &e);
}
