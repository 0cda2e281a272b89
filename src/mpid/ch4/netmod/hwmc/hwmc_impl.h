/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_IMPL_H_INCLUDED
#define HWMC_IMPL_H_INCLUDED

#include "hwmc_pre.h"

#define MPIDI_HWMC_COMM(comm) ((comm)->dev.ch4.netmod.hwmc)

/* The hooks that hwmc wraps around those of the ucx netmod. They may run before there is any
 * connection, or inside a progress call: none of them communicates. */
int MPIDI_HWMC_init_local(int *tag_bits);
int MPIDI_HWMC_mpi_finalize_hook(void);
int MPIDI_HWMC_mpi_comm_commit_pre_hook(MPIR_Comm *comm);
int MPIDI_HWMC_mpi_comm_commit_post_hook(MPIR_Comm *comm);
int MPIDI_HWMC_mpi_comm_free_hook(MPIR_Comm *comm);

#endif /* HWMC_IMPL_H_INCLUDED */
