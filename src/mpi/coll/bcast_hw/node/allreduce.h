/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * allreduce: what all ranks of the group have, combined element by element, to all of them.
 *
 *   AG    where it goes direct (reduction.h): each rank combines a piece of all ranks and writes it
 *         to all: 3 l + 2 M / b
 *   EACH  each rank combines what all show: l + (p - 1) M / b
 *   else  a reduction to rank 0, and a broadcast from there, two collectives of the group, each by
 *         the algorithm of its parameters; a rank begins with the second when it is done with its
 *         part of the first
 */
#ifndef BCAST_HW_NODE_ALLREDUCE_H_INCLUDED
#define BCAST_HW_NODE_ALLREDUCE_H_INCLUDED

#include "bcast.h"
#include "reduction.h"

struct bcast_hw_node_allreduce {
    struct bcast_hw_node_op op;     /* its serial is that of the part under way */
    struct bcast_hw_node_tree tree; /* of both parts; AG and EACH do not look at it */
    bool last;                      /* no part comes after the one under way */
    struct bcast_hw_node_op *part;  /* of the two below */
    struct bcast_hw_node_reduction up;
    struct bcast_hw_node_bcast down;
};

/* Begins an allreduce of `count` elements, alike on all ranks. `in`: what this rank adds; `out`: of
 * the result, `in` itself for in place. `tree`: rooted at 0, its children the caller's until it is
 * done. `a` does not move until it is done. ERR_LIMIT: an element is too long, and nothing has
 * begun. Steps answer ERR_INVAL as those of reduction and bcast do. */
int bcast_hw_node_allreduce_begin(struct bcast_hw_node_allreduce *a, struct bcast_hw_node_group *g,
                                  const struct bcast_hw_node_tree *tree,
                                  const struct bcast_hw_node_operation *operation, const void *in,
                                  void *out, uint64_t count);

#endif /* BCAST_HW_NODE_ALLREDUCE_H_INCLUDED */
