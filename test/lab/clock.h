/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * clock: the clock of the lab's programs, which all processes of a machine share.
 */
#ifndef HWMC_TEST_LAB_CLOCK_H_INCLUDED
#define HWMC_TEST_LAB_CLOCK_H_INCLUDED

#include <stdint.h>
#include <time.h>

/* Monotonic, ns. */
static inline int64_t clock_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif /* HWMC_TEST_LAB_CLOCK_H_INCLUDED */
