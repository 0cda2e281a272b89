/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trace: writes events of core/base/trace.h to standard error, a line each:
 *
 *     hwmc trace: rank 2 at 1234.567890123 bcast 17: WAIT -> DONE
 *     hwmc trace: rank 0 at 1234.567891000 epoch 3: silent, 0x1
 *
 * Time is CLOCK_MONOTONIC in s. Written under the engine's lock: a traced job is slower.
 */

#ifndef HWMC_PROCESS_TRACE_H_INCLUDED
#define HWMC_PROCESS_TRACE_H_INCLUDED

#include <stdint.h>

/* From now on events of these topics are written; 0: none. */
void hwmc_trace_open(uint32_t topics);

#endif /* HWMC_PROCESS_TRACE_H_INCLUDED */
