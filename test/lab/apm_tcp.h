/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * apm_tcp: the connection by which the two ends of apm_pingpong agree. What fails ends the program.
 */
#ifndef HWMC_TEST_LAB_APM_TCP_H_INCLUDED
#define HWMC_TEST_LAB_APM_TCP_H_INCLUDED

#include <stddef.h>

/* Says what failed, and why if errno tells, and exits. */
void apm_fail(const char *what) __attribute__((noreturn));

/* To `host`, which may come up for some seconds; NULL: waits for who connects. */
void apm_tcp_open(const char *host, const char *port);

void apm_tcp_put(const void *bytes, size_t n);
void apm_tcp_get(void *bytes, size_t n);

/* For poll and recv. */
int apm_tcp_fd(void);

#endif /* HWMC_TEST_LAB_APM_TCP_H_INCLUDED */
