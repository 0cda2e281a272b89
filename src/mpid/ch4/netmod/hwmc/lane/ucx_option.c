/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ucx_option: see ucx_option.h.
 */
#include "ucx_option.h"

#include <stdlib.h>

bool hwmc_ucx_has_options(void)
{
    unsigned major, minor, release;

    ucp_get_version(&major, &minor, &release);
    return major == 1 && minor == 13;
}

void hwmc_ucx_option(ucp_config_t *config, const char *variable, const char *name,
                     const char *value)
{
    if (hwmc_ucx_has_options() && getenv(variable) == NULL)
        ucp_config_modify(config, name, value);
}
