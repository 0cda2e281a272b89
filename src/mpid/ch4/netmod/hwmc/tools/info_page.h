/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * info_page: the reading side of bcast_hw/stats/export.h. A process is named by its directory in
 * /proc, which is opened once: its number may be another's by the time it is looked at again.
 *
 * The page is another user's, who may write into it what he likes, or cut it. So it is read into
 * memory of this process, whole, and put right there: counts are in their ranges, texts end, and
 * names of counters are names. Nothing of it is believed beyond that.
 */
#ifndef HWMC_NETMOD_TOOLS_INFO_PAGE_H_INCLUDED
#define HWMC_NETMOD_TOOLS_INFO_PAGE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../rail/rail.h"
#include "../../../../../mpi/coll/bcast_hw/stats/export.h"

struct hwmc_info_page {
    char pid[17];
    bool tells;               /* on standard error, why it cannot be read */
    int dir;                  /* in /proc */
    char file[32];            /* "fd/7" */
    int fd;                   /* that file; -1: it is read no more */
    struct hwmc_export *live; /* a copy */
};

/* 0, and it is open; 1: the process shows nothing that this program can read; 2: `pid` is no
 * number. */
int hwmc_info_page_open(struct hwmc_info_page *p, const char *pid, bool tells);
void hwmc_info_page_close(struct hwmc_info_page *p);

/* Reads the page once more, which it keeps if it cannot. */
void hwmc_info_page_again(struct hwmc_info_page *p);

/* Keeps the copy, and closes the rest: it is read no more. */
void hwmc_info_page_let_go(struct hwmc_info_page *p);

/* The process still runs. */
bool hwmc_info_page_is_there(const struct hwmc_info_page *p);

/* Copies a place, which begins with `turn`. False: it was being written for too long. */
bool hwmc_info_page_read(const _Atomic uint32_t *turn, void *to, size_t bytes);

/* All counters' values, HWMC_EXPORT_COUNTERS at most; returns how many. */
uint32_t hwmc_info_page_counters(const struct hwmc_export *live, uint64_t *value);

/* The port of a rail, by the job's number. */
const char *hwmc_info_page_rail(const struct hwmc_export *live, uint32_t rail);

/* A group's multicast on a rail: "on", "disabled", "off", "broken". */
const char *hwmc_info_page_state(const struct hwmc_export_cast *c, uint32_t rail);

/* The page as JSON: docs/counters.md. */
void hwmc_info_live_json(const struct hwmc_info_page *p);

#endif /* HWMC_NETMOD_TOOLS_INFO_PAGE_H_INCLUDED */
