/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * How a path that dies is left on a rail: by hardware, where a trial shows that its device
 * migrates, or in software over another rail, with MPIR_CVAR_HWMC_RESILIENT.
 */
#include "mpichconf.h"
#include "info.h"

#include <stdio.h>

#ifdef HAVE_HWMC_VERBS
#include "../apm/selftest.h"
#include "../verbs/port.h"

void hwmc_info_path(const struct hwmc_rail *rail, char *text, size_t room)
{
    enum hwmc_apm_selftest result;
    struct hwmc_verbs_port port;

    if (hwmc_verbs_port_open(rail, &port) != HWMC_OK) {
        snprintf(text, room, "in software: no RDMA port");
        return;
    }
    result = hwmc_apm_selftest(port.context->device, port.port);
    snprintf(text, room, "%s: %s port %d: %s",
             result == HWMC_APM_SELFTEST_HARDWARE ? "by hardware" : "in software",
             ibv_get_device_name(port.context->device), port.port, hwmc_apm_selftest_text(result));
    hwmc_verbs_port_close(&port);
}
#else
void hwmc_info_path(const struct hwmc_rail *rail, char *text, size_t room)
{
    (void) rail;
    snprintf(text, room, "in software: built without verbs");
}
#endif
