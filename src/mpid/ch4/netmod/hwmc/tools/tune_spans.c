/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * tune_spans: see tune_spans.h.
 */
#include "tune_spans.h"

void tune_spans_give(double *begins, double *ends, int num, bool one_clock)
{
    for (int i = 0; i < num; i++) {
        const double zero = one_clock ? 0 : begins[i];

        ends[i] -= zero;
        begins[i] = zero - begins[i]; /* its maximum is the first beginning's */
    }
}

void tune_spans_finish(const double *begins, double *ends, int num)
{
    for (int i = 0; i < num; i++)
        ends[i] += begins[i];
}
