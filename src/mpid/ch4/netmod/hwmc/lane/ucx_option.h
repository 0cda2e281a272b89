/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ucx_option: options of UCX that hwmc changes if the user does not set them.
 */
#ifndef HWMC_NETMOD_LANE_UCX_OPTION_H_INCLUDED
#define HWMC_NETMOD_LANE_UCX_OPTION_H_INCLUDED

#include <ucp/api/ucp.h>

/* Sets option `name` of `config`, unless the environment has `variable`. The options that hwmc sets
 * were seen to work with UCX 1.13 alone, and UCX warns of names that it does not know: with another
 * one it is the user who may set them. */
void hwmc_ucx_option(ucp_config_t *config, const char *variable, const char *name,
                     const char *value);

#endif /* HWMC_NETMOD_LANE_UCX_OPTION_H_INCLUDED */
