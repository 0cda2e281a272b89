/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reason: why the policy of a communicator's broadcasts changes as it goes on (core/flow/epoch.h).
 */
#ifndef HWMC_CORE_BASE_REASON_H_INCLUDED
#define HWMC_CORE_BASE_REASON_H_INCLUDED

/* The values are part of the wire protocol. */
enum hwmc_rail_reason {
    HWMC_RAIL_REASON_NONE,
    HWMC_RAIL_REASON_SILENT,
    HWMC_RAIL_REASON_LOSSY,
    HWMC_RAIL_REASON_BACK,
    HWMC_RAIL_REASON_PACE,
    HWMC_RAIL_REASON_LIMIT
};

/* What users read, by cause; NULL after the last. */
extern const char *const hwmc_rail_reason_texts[HWMC_RAIL_REASON_LIMIT + 1];

#endif /* HWMC_CORE_BASE_REASON_H_INCLUDED */
