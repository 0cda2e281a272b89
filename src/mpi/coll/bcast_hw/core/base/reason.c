/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reason: see reason.h.
 */
#include "reason.h"

#include <stddef.h>

const char *const hwmc_rail_reason_texts[HWMC_RAIL_REASON_LIMIT + 1] = {
    [HWMC_RAIL_REASON_NONE] = "none did yet",
    [HWMC_RAIL_REASON_SILENT] = "a rank heard nothing on it",
    [HWMC_RAIL_REASON_LOSSY] = "a rank lost too much on it",
    [HWMC_RAIL_REASON_BACK] = "all ranks hear it again",
    [HWMC_RAIL_REASON_PACE] = "broadcasts come at another pace, or lose more or less",
    [HWMC_RAIL_REASON_LIMIT] = NULL};
