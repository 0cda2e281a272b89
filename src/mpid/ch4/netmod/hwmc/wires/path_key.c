/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * path_key: info key "hwmc_path" of a communicator: which path its members' reliable connections
 * to each other use. A program sets it by MPI_Comm_set_info, which is collective, so both ends of a
 * connection ask for the same (lane/rc/wish.c). Connections belong to pairs of processes, not to
 * communicators: the last one that is set for a pair counts.
 *
 *     default      each lane's own rail
 *     alternate    the other path of each lane
 *     balance      half of the connections each
 *     0, eth0      the paths by that rail, by its number in the job or by this host's name of it
 *
 * MPI_Comm_get_info tells of it where it has an effect. Where no lane migrates paths it has none,
 * as an unknown key has none.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../base/counters.h"
#include "rc.h"
#include "../../ucx/ucx_impl.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#include <stdio.h>

#define KEY "hwmc_path"

static bool parse_value(const char *value, enum hwmc_rc_want *want, int *rail)
{
    static const char *const words[] = {[HWMC_RC_DEFAULT] = "default",
                                        [HWMC_RC_ALTERNATE] = "alternate",
                                        [HWMC_RC_BALANCE] = "balance"};

    for (int i = HWMC_RC_DEFAULT; i < HWMC_RC_RAIL; i++) {
        if (strcmp(value, words[i]) == 0) {
            *want = (enum hwmc_rc_want) i;
            return true;
        }
    }
    *want = HWMC_RC_RAIL;
    *rail = hwmc_rc_find(value);
    return *rail >= 0;
}

/* A word that makes no sense is said in any case; that nothing migrates here, to who asks. */
static void say_ignored(const MPIR_Comm *comm, const char *value, bool understood)
{
    char rails[HWMC_RAILS_MAX * (HWMC_RAIL_NAME_MAX + 8)];

    hwmc_rc_list(rails, sizeof(rails));
    if (comm->rank != 0)
        return;
    if (!understood && rails[0] != '\0')
        fprintf(stderr,
                "hwmc: info key " KEY " is ignored: %s is not default, alternate, balance, or one "
                "of the rails %s\n",
                value, rails);
    else if (rails[0] == '\0' && hwmc_settings.verbose > 0)
        fprintf(stderr, "hwmc: info key " KEY " is ignored: no lane of this job migrates paths; "
                        "hwmc_info --rails says why, and MPIR_CVAR_HWMC_LANE=rc asks for them\n");
}

/* Whether some lane to some member follows. */
static bool ask_for(MPIR_Comm *comm, enum hwmc_rc_want want, int rail)
{
    int lanes = 0;

    for (int i = 0; i < comm->local_size; i++) {
        uint32_t peer;

        if (hwmc_world_rank(comm, i, &peer) && !hwmc_same_host(peer))
            lanes += hwmc_rc_prefer(peer, want, rail);
    }
    return lanes > 0;
}

static void take_value(MPIR_Comm *comm, const char *value)
{
    enum hwmc_rc_want want;
    int rail = -1;
    bool understood = parse_value(value, &want, &rail);

    hwmc_counters.path->asked++;
    if (understood && ask_for(comm, want, rail)) {
        snprintf(MPIDI_HWMC_COMM(comm).path, HWMC_COMM_PATH_MAX, "%s", value);
        return;
    }
    hwmc_counters.path->ignored++;
    say_ignored(comm, value, understood);
}

int MPIDI_HWMC_comm_set_hints(MPIR_Comm *comm, MPIR_Info *info)
{
    char value[HWMC_COMM_PATH_MAX];
    int has = 0;

    if (info && hwmc_counters.path && comm->comm_kind == MPIR_COMM_KIND__INTRACOMM)
        MPIR_Info_get_impl(info, KEY, sizeof(value) - 1, value, &has);
    if (has) {
        hwmc_lock();
        take_value(comm, value);
        hwmc_unlock();
    }
    return MPIDI_UCX_comm_set_hints(comm, info);
}

void MPIDI_HWMC_comm_get_hints(MPIR_Comm *comm, MPIR_Info *info)
{
    if (MPIDI_HWMC_COMM(comm).path[0] != '\0')
        MPIR_Info_set_impl(info, KEY, MPIDI_HWMC_COMM(comm).path);
}
