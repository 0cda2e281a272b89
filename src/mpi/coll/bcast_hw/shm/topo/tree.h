/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * tree: a tree over the ranks of a group, as one of them sees it.
 */
#ifndef HWMC_SHM_TOPO_TREE_H_INCLUDED
#define HWMC_SHM_TOPO_TREE_H_INCLUDED

#include <stdint.h>

/* The ranks of a group build the same tree. */
struct hwmc_shm_tree {
    uint16_t parent;          /* the root's: itself */
    uint16_t num_children;    /* 0 to ranks - 1 */
    const uint16_t *children; /* borrowed */
};

#endif /* HWMC_SHM_TOPO_TREE_H_INCLUDED */
