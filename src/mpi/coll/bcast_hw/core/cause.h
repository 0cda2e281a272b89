/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * cause: why the manner of a communicator's broadcasts changes as it goes on (epoch.h).
 */
#ifndef BCAST_HW_CAUSE_H_INCLUDED
#define BCAST_HW_CAUSE_H_INCLUDED

/* The values are part of the wire protocol. */
enum bcast_hw_cause {
    BCAST_HW_CAUSE_NONE,
    BCAST_HW_CAUSE_SILENT,
    BCAST_HW_CAUSE_LOSSY,
    BCAST_HW_CAUSE_BACK,
    BCAST_HW_CAUSE_PACE,
    BCAST_HW_CAUSE_LIMIT
};

/* What users read, by cause; NULL after the last. */
extern const char *const bcast_hw_cause_texts[BCAST_HW_CAUSE_LIMIT + 1];

#endif /* BCAST_HW_CAUSE_H_INCLUDED */
