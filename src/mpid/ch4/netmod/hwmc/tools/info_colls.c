/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Who runs collectives over hosts other than broadcasts, as a table for each.
 */

#include "info.h"
#include "../../../../../mpi/coll/bcast_hw/core/model/collective.h"
#include "../../../../../mpi/coll/bcast_hw/settings/keys.h"

#include <stdio.h>
#include <string.h>

#define LONGEST (UINT64_C(16) << 20)

static const char *word_of(enum hwmc_coll coll, enum hwmc_way way)
{
    switch (way) {
        case HWMC_WAY_HWMC:
            return "hw";
        case HWMC_WAY_MPICH:
            return "mpich";
        default:
            return coll == HWMC_COLL_ALLREDUCE ? "hw, by blocks" : "direct";
    }
}

static const char *const names[] = {
#define X(name, lower) #lower,
    HWMC_COLLS(X)
#undef X
};

/* What MPIR_CVAR_HWMC_ALGORITHMS says. False: it is wrong. */
static bool read_said(struct hwmc_settings *s)
{
    char text[256], why[HWMC_KEY_WHY];

    memset(s, 0, sizeof(*s));
    hwmc_info_cvar_string(hwmc_keys_variable(HWMC_KEYS_ALGORITHMS), text, sizeof(text));
    if (hwmc_keys_read(HWMC_KEYS_ALGORITHMS, text, s, why))
        return true;
    fprintf(stderr, "hwmc_info: %s\n", why);
    return false;
}

static void print_line(const struct hwmc_network *net, const struct hwmc_settings *s,
                       struct hwmc_coll_case *c)
{
    const enum hwmc_set_runner said = hwmc_settings_runner(s, c->coll);
    const enum hwmc_way way = said != HWMC_SET_RUNNER_AUTO
                                  ? hwmc_settings_way(c->coll, said)
                                  : hwmc_coll_way(net, c, hwmc_coll_is_ours(net, c));

    c->kind = hwmc_settings_reduce_kind(said);
    printf("%-14s %10llu", names[c->coll], (unsigned long long) c->bytes);
    hwmc_info_print_time(hwmc_coll_ours_ns(net, c));
    hwmc_info_print_time(hwmc_coll_mpich_ns(net, c));
    hwmc_info_print_time(hwmc_coll_direct_ns(net, c));
    printf("  %s%s\n", word_of(c->coll, way), said != HWMC_SET_RUNNER_AUTO ? ", as said" : "");
}

bool hwmc_info_colls(const struct hwmc_network *net, const struct hwmc_shape *shape, uint32_t ranks)
{
    struct hwmc_settings said;

    if (!read_said(&said))
        return false;
    printf(
        "\nOther collectives over hosts. Bytes are those of the message, of a rank's part, or of "
        "a\nblock from one rank to another; of reduce_scatter those of all parts.\n"
        "Directly, or of an allreduce by blocks, is a third way.\n\n"
        "%-14s %10s %11s %11s %11s  run by\n",
        "", "bytes", "hw", "mpich", "direct");
    for (int i = 0; i < HWMC_COLL_LIMIT; i++) {
        struct hwmc_coll_case c = {.coll = (enum hwmc_coll) i,
                                   .commutative = true,
                                   .members = shape->hosts,
                                   .each = (ranks - 1) / shape->hosts + 1,
                                   .part = hwmc_pace_of(net).part,
                                   .shape = *shape};

        for (c.bytes = c.coll == HWMC_COLL_BARRIER ? 0 : 8; c.bytes <= LONGEST; c.bytes *= 8) {
            print_line(net, &said, &c);
            if (c.coll == HWMC_COLL_BARRIER)
                break;
        }
    }
    return true;
}
