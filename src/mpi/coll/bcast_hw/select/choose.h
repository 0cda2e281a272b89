/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * choose: which algorithm a broadcast takes, and what set-up is worth. The same on every rank.
 */

#ifndef HWMC_SELECT_CHOOSE_H_INCLUDED
#define HWMC_SELECT_CHOOSE_H_INCLUDED

#include "mpiimpl.h"
#include "../core/model/model.h"

struct hwmc_group;

/* Whether the user wants hwmc to take every broadcast, also where nothing is gained by that. */
bool hwmc_is_forced(void);

/* A control variable or a selection file says who runs broadcasts. */
bool hwmc_bcast_is_said(void);

/* What the cost model goes by, of a group that is set up, of a communicator on that many hosts. */
void hwmc_shape_of(uint32_t hosts, const struct hwmc_group *g, struct hwmc_shape *shape);

/* The same before set-up: one rank of each host takes part, and multicast works, in datagrams of
 * Ethernet's usual length. */
void hwmc_expect_shape(uint32_t hosts, struct hwmc_shape *shape);

/* The algorithm for a broadcast of `bytes` on a communicator that is set up. `ours`: not one of
 * MPICH's if hwmc has any. */
enum hwmc_algorithm hwmc_choose(const struct hwmc_shape *shape, MPI_Aint bytes, bool ours);

/* On a communicator that is not set up, as it is expected to be on so many hosts: what hwmc saves
 * on a broadcast of `bytes`, and what set-up costs, ns. */
uint64_t hwmc_weight(uint32_t hosts, MPI_Aint bytes);
uint64_t hwmc_setup_cost(uint32_t hosts);

/* The user gave MPICH a selection file; and it names another algorithm for this broadcast. */
bool hwmc_file_given(void);
bool hwmc_file_refuses(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm);

#endif /* HWMC_SELECT_CHOOSE_H_INCLUDED */
