/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ranks: how many of a host there may be.
 */
#ifndef HWMC_SHM_TOPO_RANKS_H_INCLUDED
#define HWMC_SHM_TOPO_RANKS_H_INCLUDED

#define HWMC_SHM_RANKS_MAX 4096u

#endif /* HWMC_SHM_TOPO_RANKS_H_INCLUDED */
