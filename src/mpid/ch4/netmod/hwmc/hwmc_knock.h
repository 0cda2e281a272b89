/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * By what address the processes of the job can be asked whether their hosts are there (rail/knock).
 */

#ifndef HWMC_KNOCK_H_INCLUDED
#define HWMC_KNOCK_H_INCLUDED

#include "hwmc_rails.h"

/* When the rails are matched, and `any` is known: as in struct bcast_hw_knock. Asks another host,
 * so that silence comes to mean something. *knock is NULL where nothing can be asked. Collective
 * over `world`, which is MPI_COMM_WORLD. */
int MPIDI_HWMC_knock_open(const struct MPIDI_HWMC_rails *rails, bool any, MPIR_Comm *world,
                          struct bcast_hw_knock **knock);

/* When messages have gone between hosts since: which hosts have answered. Collective. */
int MPIDI_HWMC_knock_tried(MPIR_Comm *world);

void MPIDI_HWMC_knock_close(void);

#endif /* HWMC_KNOCK_H_INCLUDED */
