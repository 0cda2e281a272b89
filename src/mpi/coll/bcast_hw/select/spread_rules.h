/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_rules: the part of a selection file for collectives over hosts; docs/tuning.md has the
 * format. It becomes a list of rules, of which the first that holds counts. Needs json-c, and
 * nothing of MPICH.
 */

#ifndef HWMC_SELECT_SPREAD_RULES_H_INCLUDED
#define HWMC_SELECT_SPREAD_RULES_H_INCLUDED

#include "../core/model/collective.h"
#include "../settings/settings.h"

#define HWMC_SPREAD_RULES_WHY 160 /* room for what is wrong */

/* Holds up to so many hosts, ranks a host and bytes (struct hwmc_coll_case); INT64_MAX: any. */
struct hwmc_spread_rule {
    enum hwmc_coll coll;
    int64_t hosts, each, bytes;
    enum hwmc_set_runner runner;
};

struct hwmc_spread_rules {
    struct hwmc_spread_rule *rule; /* NULL: none */
    uint32_t num;
};

struct json_object;

/* Reads the value of "between=hosts". False: it is wrong, and `why` says so, or there is no memory;
 * then there are no rules. `rules` may be NULL: it is only checked. */
bool hwmc_spread_rules_read(struct json_object *hosts, struct hwmc_spread_rules *rules,
                            char why[HWMC_SPREAD_RULES_WHY]);
void hwmc_spread_rules_free(struct hwmc_spread_rules *rules);

/* What they say of a collective; AUTO: nothing. Of a length that is not known only those say
 * something that hold for any. Those of alltoallv say it of alltoallw too, if it has none. */
enum hwmc_set_runner hwmc_spread_rules_find(const struct hwmc_spread_rules *rules,
                                            const struct hwmc_coll_case *c);

/* Differs where rules do, most likely; 0 of none. */
uint64_t hwmc_spread_rules_hash(const struct hwmc_spread_rules *rules);

#endif /* HWMC_SELECT_SPREAD_RULES_H_INCLUDED */
