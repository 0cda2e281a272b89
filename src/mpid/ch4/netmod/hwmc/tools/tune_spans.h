/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * tune_spans: how long all ranks together take for something that each of them times by its own
 * clock.
 *
 * By one clock, as on one host, that is from the first one's beginning to the last one's end.
 * Clocks of several hosts differ, maybe by more than what is timed: there it is the longest that a
 * rank took by its own clock, after all ranks have met.
 *
 * A rank gives its times, the maximum of each number over all ranks is taken, and that is finished:
 * the same on all ranks.
 */
#ifndef HWMC_NETMOD_TOOLS_TUNE_SPANS_H_INCLUDED
#define HWMC_NETMOD_TOOLS_TUNE_SPANS_H_INCLUDED

#include <stdbool.h>

/* When this rank began and ended each of `num` spans, in seconds: becomes what it gives. All ranks
 * say the same of the clock. */
void tune_spans_give(double *begins, double *ends, int num, bool one_clock);

/* The maxima of what all gave: `ends` becomes the lengths, in seconds. */
void tune_spans_finish(const double *begins, double *ends, int num);

#endif /* HWMC_NETMOD_TOOLS_TUNE_SPANS_H_INCLUDED */
