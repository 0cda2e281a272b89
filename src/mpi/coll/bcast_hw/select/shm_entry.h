/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shm_entry: parses an entry of a selection for collectives inside a host, and checks a whole
 * selection, the part for collectives over hosts (spread_rules.h) included; docs/tuning.md has the
 * format. Needs json-c and shm/segment/params, and nothing of MPICH, which ends the process if a
 * selection is not what it expects.
 */

#ifndef HWMC_SELECT_SHM_ENTRY_H_INCLUDED
#define HWMC_SELECT_SHM_ENTRY_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_SHM_ENTRY_WHY 160 /* room for what is wrong */
#define HWMC_SHM_ENTRY_NEVER INT64_MAX

/* Of a collective: which of the tables of algorithms it has. */
enum hwmc_shm_table {
    HWMC_SHM_TABLE_NONE, /* `auto` only */
    HWMC_SHM_TABLE_BARRIERS,
    HWMC_SHM_TABLE_BCASTS,
    HWMC_SHM_TABLE_REDUCTIONS,
    HWMC_SHM_TABLE_ANY, /* it is not known which */
};

/* What is -1 is left as it is. */
struct hwmc_shm_entry {
    int barrier, bcast, reduction; /* by that name in each of the tables; `auto`: in none */
    int shape;                     /* enum hwmc_shm_shape */
    int crowded;                   /* 1, 0: only where ranks share processors, or do not */
    int64_t degree, chunk, inline_max, copy_min, piece_min, shift; /* copy_min: or NEVER */
};

struct json_object;

/* The entry that `leaf` is, {"algorithm=NAME": {"KEY=VALUE": {}, ...}}, of a collective with that
 * table. False: it is none, and `why` says so. */
bool hwmc_shm_entry_read(struct hwmc_shm_entry *e, struct json_object *leaf,
                         enum hwmc_shm_table table, char why[HWMC_SHM_ENTRY_WHY]);

/* The selection that `text` holds, to be put back (json_object_put); NULL: it is none that MPICH
 * could search, and `why` says so. */
struct json_object *hwmc_shm_entry_parse(const char *text, char why[HWMC_SHM_ENTRY_WHY]);

/* Takes the part for collectives over hosts (spread_rules.h) out of a selection, and returns it, to
 * be put back; NULL: it has none. What is left MPICH can search. */
struct json_object *hwmc_shm_entry_take_hosts(struct json_object *tree);

/* The text of a file, to be freed; NULL: errno says why not. */
char *hwmc_shm_entry_load(const char *file);

#endif /* HWMC_SELECT_SHM_ENTRY_H_INCLUDED */
