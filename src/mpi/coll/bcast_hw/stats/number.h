/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * number: what a number is that a process tells of itself, and thereby the class of its PVAR. Only
 * counters are added up over ranks.
 */
#ifndef HWMC_STATS_NUMBER_H_INCLUDED
#define HWMC_STATS_NUMBER_H_INCLUDED

enum hwmc_export_number {
    HWMC_COUNTER, /* it rises only */
    HWMC_LEVEL,   /* it falls as well */
    HWMC_GENERIC, /* it is no quantity: a mask, the name of something */
    HWMC_STATE    /* one of some that have names */
};

#endif /* HWMC_STATS_NUMBER_H_INCLUDED */
