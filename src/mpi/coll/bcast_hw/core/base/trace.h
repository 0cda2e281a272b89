/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trace: what machines do, for who looks for a fault: changes of their phases, and decisions. Each
 * belongs to a topic; the user names topics by trace= of MPIR_CVAR_HWMC_DEBUG. A machine calls
 * hwmc_trace_change or hwmc_trace_note; while its topic is off that is one branch. What is done
 * with an event is the sink's (process/trace.h writes it to standard error).
 *
 *   topic     number                          what
 *   bcast     bid                             phases of two_stage and multilane
 *   epoch     of the epoch                    it begins: reason, and the rails from then on
 *   setup     0; low bits of the group's key  steps of MPI_Init; phases of negotiation
 *   group     of the process's groups         its state
 *   session   lane                            the lane's state, to some peer
 *   trial     bytes                           it is over: which way of a collective is the fastest;
 *                                             what that takes, ns
 *   failure   rank in the group               it was found to have failed here, or another rank
 *                                             says so; the rails
 */
#ifndef HWMC_CORE_BASE_TRACE_H_INCLUDED
#define HWMC_CORE_BASE_TRACE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hwmc_trace_topic {
    HWMC_TRACE_BCAST,
    HWMC_TRACE_EPOCH,
    HWMC_TRACE_SETUP,
    HWMC_TRACE_GROUP,
    HWMC_TRACE_SESSION,
    HWMC_TRACE_TRIAL,
    HWMC_TRACE_FAILURE,
    HWMC_TRACE_TOPICS
};

extern const char *const hwmc_trace_names[HWMC_TRACE_TOPICS];

struct hwmc_trace_event {
    enum hwmc_trace_topic topic;
    uint64_t number;  /* whose: as said above */
    const char *from; /* the phase before; NULL: `to` happened, with `value` */
    const char *to;
    uint64_t value;
};

/* A topic a bit. With any of them the sink is not NULL. Written while nothing else runs. */
extern uint32_t hwmc_trace_topics;
extern void (*hwmc_trace_sink)(const struct hwmc_trace_event *e);

/* Topics by name, with commas between them; "all"; "" is none. False: something else. */
bool hwmc_trace_parse(const char *text, uint32_t *topics);

void hwmc_trace_give(enum hwmc_trace_topic topic, uint64_t number, const char *from, const char *to,
                     uint64_t value);

static inline bool hwmc_trace_is_on(enum hwmc_trace_topic topic)
{
    return __builtin_expect(hwmc_trace_topics >> topic & 1, 0);
}

/* A phase changes: its names are names[from] and names[to]. */
static inline void hwmc_trace_change(enum hwmc_trace_topic topic, uint64_t number,
                                     const char *const *names, uint32_t from, uint32_t to)
{
    if (hwmc_trace_is_on(topic))
        hwmc_trace_give(topic, number, names[from], names[to], 0);
}

static inline void hwmc_trace_note(enum hwmc_trace_topic topic, uint64_t number, const char *what,
                                   uint64_t value)
{
    if (hwmc_trace_is_on(topic))
        hwmc_trace_give(topic, number, NULL, what, value);
}

#endif /* HWMC_CORE_BASE_TRACE_H_INCLUDED */
