/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * By what address the processes of the job can be asked whether their hosts are there (rail/knock).
 */

#ifndef HWMC_KNOCK_H_INCLUDED
#define HWMC_KNOCK_H_INCLUDED

#include "hwmc_rails.h"

/* Puts this process's addresses in the process manager's key-value space. */
int MPIDI_HWMC_knock_put(const struct MPIDI_HWMC_rails *rails);

/* When all have, the rails are matched, and `any` is known: as in struct bcast_hw_knock. Asks another host, so that
 * silence on a rail comes to mean something. NULL: nothing can be asked, or nobody wishes to. */
struct bcast_hw_knock *MPIDI_HWMC_knock_open(const struct MPIDI_HWMC_rails *rails, bool any);

/* When messages have gone between hosts since: notes that host's answers. */
void MPIDI_HWMC_knock_tried(void);

void MPIDI_HWMC_knock_close(void);

#endif /* HWMC_KNOCK_H_INCLUDED */
