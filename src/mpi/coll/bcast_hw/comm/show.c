/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * How the collectives of a communicator go, for `hwmc_info --live`, in words.
 */

#include "shm.h"

/* Why there is no multicast, as the counters hwmc_off_* name it. */
static const char *reason_word(const struct hwmc_group *g)
{
    switch (g->reason) {
#define X(name, lower, value, text)                                                                \
    case HWMC_REASON_##name:                                                                       \
        return #lower;
        HWMC_REASONS(X)
#undef X
        default:
            return "?";
    }
}

static void write_network(const struct hwmc_comm *c, char *text, size_t room)
{
    const struct hwmc_leader_group *first = &c->leader_group[0];

    if (c->worth == HWMC_WORTH_NO)
        snprintf(text, room, "left to MPICH");
    else if (first->state == HWMC_LEADER_GROUP_COUNTING)
        snprintf(text, room, "not yet");
    else if (first->state == HWMC_LEADER_GROUP_SETUP)
        snprintf(text, room, "being set up");
    else if (first->state == HWMC_LEADER_GROUP_OFF)
        snprintf(text, room, "off");
    else if (first->state == HWMC_LEADER_GROUP_BROKEN)
        snprintf(text, room, "broken");
    else if (first->shape.frag_bytes > 0)
        snprintf(text, room, "multicast");
    else if (first->shape.site_frag_bytes > 0)
        snprintf(text, room, "multicast inside sites");
    else if (first->group)
        snprintf(text, room, "trees: %s", reason_word(first->group));
    else /* over several hosts, and another rank of this one takes part */
        snprintf(text, room, "trees");
}

static const char *host_words(const struct hwmc_shm_comm *n)
{
    if (n && n->host.broken)
        return "broken";
    switch (n ? n->state : HWMC_SHM_SPREAD) {
        case HWMC_SHM_SPREAD:
            return "-";
        case HWMC_SHM_PART:
            return "part of broadcasts";
        case HWMC_SHM_COUNTING:
            return "not yet";
        case HWMC_SHM_ON:
            return "shared memory";
        default:
            return "off";
    }
}

void hwmc_comm_show(MPIR_Comm *comm, struct hwmc_comm *c)
{
    struct hwmc_export_comm now;

    if (c->twin.is)
        return;
    now = (struct hwmc_export_comm){.context = (uint32_t) comm->context_id,
                                    .ranks = (uint32_t) comm->local_size,
                                    .rank = (uint32_t) comm->rank};

    snprintf(now.name, sizeof(now.name), "%.31s", comm->name);
    write_network(c, now.network, sizeof(now.network));
    snprintf(now.host, sizeof(now.host), "%s", host_words(c->shm));
    hwmc_export_show(&c->place, &now);
}
