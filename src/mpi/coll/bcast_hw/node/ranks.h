/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ranks: how many of a host there may be.
 */
#ifndef BCAST_HW_NODE_RANKS_H_INCLUDED
#define BCAST_HW_NODE_RANKS_H_INCLUDED

#define BCAST_HW_NODE_RANKS_MAX 4096u

#endif /* BCAST_HW_NODE_RANKS_H_INCLUDED */
