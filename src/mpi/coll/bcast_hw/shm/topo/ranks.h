/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ranks: the maximum number of ranks of a host.
 */
#ifndef HWMC_SHM_TOPO_RANKS_H_INCLUDED
#define HWMC_SHM_TOPO_RANKS_H_INCLUDED

#define HWMC_SHM_RANKS_MAX 4096u

#endif /* HWMC_SHM_TOPO_RANKS_H_INCLUDED */
