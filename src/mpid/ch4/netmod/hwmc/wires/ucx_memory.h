/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A process that gets no more memory and waits in UCX for it (lane/ucx_log.h) ends its job with an
 * error.
 */

#ifndef HWMC_NETMOD_WIRES_UCX_MEMORY_H_INCLUDED
#define HWMC_NETMOD_WIRES_UCX_MEMORY_H_INCLUDED

/* From here on what UCX complains of is listened to; before UCX is asked for anything. */
void hwmc_memory_init(void);

/* When UCX is asked for nothing any more. */
void hwmc_memory_finalize(void);

#endif /* HWMC_NETMOD_WIRES_UCX_MEMORY_H_INCLUDED */
