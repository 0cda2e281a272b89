/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ucx_option: options of UCX that hwmc changes if the user does not set them.
 */
#ifndef HWMC_NETMOD_LANE_UCX_OPTION_H_INCLUDED
#define HWMC_NETMOD_LANE_UCX_OPTION_H_INCLUDED

#include <stdbool.h>
#include <ucp/api/ucp.h>

/* Whether hwmc sets options of this UCX. They were seen to work with 1.13 alone, and UCX warns of
 * names that it does not know: with another one it is the user who may set them. */
bool hwmc_ucx_has_options(void);

/* Sets option `name` of `config` where it may, unless the environment has `variable`. */
void hwmc_ucx_option(ucp_config_t *config, const char *variable, const char *name,
                     const char *value);

#endif /* HWMC_NETMOD_LANE_UCX_OPTION_H_INCLUDED */
