/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * selftest: whether a device really migrates paths. IBV_DEVICE_AUTO_PATH_MIG does not tell: devices
 * set it that refuse every alternate path, as Linux does on RoCE, and some that accept one and
 * never use it. So two queue pairs of the port are connected to each other. An alternate path is
 * specified and loaded, which may be the same as the primary one, and migrated by software. The
 * event of that must come, and messages must come before and after.
 */
#ifndef HWMC_NETMOD_APM_SELFTEST_H_INCLUDED
#define HWMC_NETMOD_APM_SELFTEST_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define HWMC_APM_SELFTESTS(X)                                                                      \
    X(HARDWARE, "hardware migrates paths")                                                         \
    X(NO_CAPABILITY, "the device has no automatic path migration")                                 \
    X(PORT_DOWN, "the port is not active")                                                         \
    X(RESOURCES, "no queue pairs can be had to try it")                                            \
    X(NO_LOOPBACK, "two queue pairs of the port cannot reach each other")                          \
    X(NO_ALTERNATE, "the device refuses alternate paths, though it says that it migrates")         \
    X(NO_LOAD, "the device refuses to load an alternate path")                                     \
    X(NEVER_ARMED, "the device takes an alternate path, and never has it loaded")                  \
    X(NO_MIGRATION, "the device refuses to migrate, or stays on its path")                         \
    X(NO_EVENT, "the device migrates and does not tell")                                           \
    X(LOST_DATA, "nothing comes on the migrated path")

enum hwmc_apm_selftest {
#define X(name, text) HWMC_APM_SELFTEST_##name,
    HWMC_APM_SELFTESTS(X)
#undef X
};

/* Tries `port` of `device`, from 1 on, with a context of its own. Takes the time of some messages,
 * and up to HWMC_APM_SELFTEST_NS for each step that fails by waiting. */
enum hwmc_apm_selftest hwmc_apm_selftest(struct ibv_device *device, uint8_t port);

#define HWMC_APM_SELFTEST_NS UINT64_C(2000000000)

static inline const char *hwmc_apm_selftest_text(enum hwmc_apm_selftest result)
{
    static const char *const text[] = {
#define X(name, text) text,
        HWMC_APM_SELFTESTS(X)
#undef X
    };

    return text[result];
}

#endif /* HWMC_NETMOD_APM_SELFTEST_H_INCLUDED */
