/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The device, its contexts, and what declarations of the libraries' headers lack or hide.
 */
#ifndef HWMC_TEST_LAB_IBEMU_DEVICE_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_DEVICE_H_INCLUDED

#include "config.h"
#include "hca.h"

/* These are macros of verbs.h in front of functions of the same name. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* The HCA of this process and its configuration; NULL if the environment is wrong (errno says how).
 * The first call reads it. */
struct em_hca *em_device_hca(void);

/* Fills a zeroed context of an HCA; em_fdqueue_fini of its queue undoes it. Returns 0 or an
 * errno. */
int em_context_init(struct em_context *ctx, struct em_hca *hca);

/* The one device, for as long as the process lives. */
struct ibv_device *em_device_get(void);

#endif /* HWMC_TEST_LAB_IBEMU_DEVICE_H_INCLUDED */
