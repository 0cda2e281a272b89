/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * cause: see cause.h.
 */
#include "cause.h"

#include <stddef.h>

const char *const bcast_hw_cause_texts[BCAST_HW_CAUSE_LIMIT + 1] = {
    [BCAST_HW_CAUSE_NONE] = "none did yet",
    [BCAST_HW_CAUSE_SILENT] = "a rank heard nothing on it",
    [BCAST_HW_CAUSE_LOSSY] = "a rank lost too much on it",
    [BCAST_HW_CAUSE_BACK] = "all ranks hear it again",
    [BCAST_HW_CAUSE_PACE] = "broadcasts come at another pace, or lose more or less",
    [BCAST_HW_CAUSE_LIMIT] = NULL};
