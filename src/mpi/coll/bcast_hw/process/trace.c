/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trace: see trace.h.
 */

#include "mpiimpl.h"
#include "trace.h"
#include "process.h"
#include "../core/base/trace.h"

#include <unistd.h>

#define LINE 192 /* bytes; lines of other ranks do not come in between */

static void write_event(const struct hwmc_trace_event *e)
{
    const uint64_t now = hwmc_now();
    char line[LINE];
    int len = snprintf(line, sizeof(line),
                       "hwmc trace: rank %d at %" PRIu64 ".%09" PRIu64 " %s %" PRIu64 ": ",
                       MPIR_Process.rank, now / 1000000000, now % 1000000000,
                       hwmc_trace_names[e->topic], e->number);

    if (e->from)
        len +=
            snprintf(line + len, sizeof(line) - (size_t) len, "%.40s -> %.40s\n", e->from, e->to);
    else
        len += snprintf(line + len, sizeof(line) - (size_t) len, "%.40s, 0x%" PRIx64 "\n", e->to,
                        e->value);
    (void) !write(STDERR_FILENO, line, (size_t) len);
}

void hwmc_trace_open(uint32_t topics)
{
    hwmc_trace_sink = write_event;
    hwmc_trace_topics = topics;
}
