/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * gather_impl: for the two sides of a gather.
 */
#ifndef HWMC_SHM_COLL_GATHER_IMPL_H_INCLUDED
#define HWMC_SHM_COLL_GATHER_IMPL_H_INCLUDED

#include "gather.h"
#include "vector_impl.h"

/* Opens this rank's lines, with its part if that is small. OK or AGAIN. */
int hwmc_shm_gather_open(struct hwmc_shm_gather *w);

/* Gives some of this rank's part to those who read it. OK: all is given; AGAIN; or as
 * shm/copy/copy.h. */
int hwmc_shm_gather_give(struct hwmc_shm_gather *w);

#endif /* HWMC_SHM_COLL_GATHER_IMPL_H_INCLUDED */
