/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_choose: see spread_choose.h.
 */

#include "spread_choose.h"

#include <errno.h>
#include <json.h>

#include "network.h"
#include "shm_entry.h"
#include "spread_rules.h"
#include "../process/errors.h"
#include "../settings/settings.h"

static struct hwmc_spread_rules rules; /* of the file */

static enum hwmc_set_runner runner_of(const struct hwmc_coll_case *c)
{
    const enum hwmc_set_runner said = hwmc_settings_runner(&hwmc_settings, c->coll);

    return said != HWMC_SET_RUNNER_AUTO ? said : hwmc_spread_rules_find(&rules, c);
}

bool hwmc_spread_is_mpichs(enum hwmc_coll coll)
{
    return hwmc_settings_runner(&hwmc_settings, coll) == HWMC_SET_RUNNER_MPICH;
}

bool hwmc_spread_is_said(const struct hwmc_coll_case *c, enum hwmc_way *way)
{
    const enum hwmc_set_runner runner = runner_of(c);

    *way = hwmc_settings_way(c->coll, runner);
    return runner != HWMC_SET_RUNNER_AUTO || hwmc_settings.ways.resilient;
}

bool hwmc_spread_is_ours(const struct hwmc_coll_case *c)
{
    if (c->bytes == HWMC_LENGTH_UNKNOWN &&
        (c->coll == HWMC_COLL_GATHER || c->coll == HWMC_COLL_SCATTER))
        return true;
    return hwmc_coll_is_ours(hwmc_network_now(), c);
}

struct hwmc_reduce_way hwmc_spread_reduce_way(struct hwmc_reduce_memo *memo,
                                              const struct hwmc_coll_case *c)
{
    struct hwmc_reduce_case of = hwmc_coll_reduction(c);

    of.kind = hwmc_settings_reduce_kind(runner_of(c));
    return hwmc_reduce_way_again(memo, hwmc_network_now(), &of);
}

static int read_hosts(struct json_object *tree, const char *file)
{
    struct json_object *hosts = hwmc_shm_entry_take_hosts(tree);
    char why[HWMC_SPREAD_RULES_WHY];
    int mpi_errno = MPI_SUCCESS;

    if (hosts && !hwmc_spread_rules_read(hosts, &rules, why))
        mpi_errno = hwmc_error_selection(file, why);
    json_object_put(hosts);
    return mpi_errno;
}

int hwmc_spread_open(void)
{
    const char *file = hwmc_settings.shm.selection;
    struct json_object *tree;
    char why[HWMC_SHM_ENTRY_WHY], *text;
    int mpi_errno;

    hwmc_spread_close();
    if (*file == '\0' || strcmp(file, "none") == 0)
        return MPI_SUCCESS;
    text = hwmc_shm_entry_load(file);
    if (!text)
        return hwmc_error_selection(file, strerror(errno));
    tree = hwmc_shm_entry_parse(text, why);
    mpi_errno = tree ? read_hosts(tree, file) : hwmc_error_selection(file, why);
    json_object_put(tree);
    free(text);
    return mpi_errno;
}

void hwmc_spread_close(void)
{
    hwmc_spread_rules_free(&rules);
}

void hwmc_spread_print(char text[HWMC_SPREAD_TEXT])
{
    snprintf(text, HWMC_SPREAD_TEXT, "%u rules, %08x", (unsigned) rules.num,
             (unsigned) (hwmc_spread_rules_hash(&rules) >> 32));
}
