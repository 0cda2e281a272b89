/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sleep: what a waiting process can sleep on: an epoll instance with the descriptors of MPICH's UCX
 * worker, of the lanes and of the fabrics. Calls are under MPICH's lock of VCI 0.
 */

#ifndef HWMC_NETMOD_WAIT_SLEEP_H_INCLUDED
#define HWMC_NETMOD_WAIT_SLEEP_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

enum hwmc_armed { HWMC_ARMED_NEVER, HWMC_ARMED_NOT_NOW, HWMC_ARMED };

/* Whether the process may sleep at all, as the user has set it; before UCX is initialized. */
void hwmc_sleep_init(bool wanted);

/* Whether MPICH's UCX context shall be one that can be waited for; and that it is. */
bool hwmc_sleep_wanted(void);
void hwmc_sleep_possible(void);

/* Whether it can: UCX lets itself be waited for, and no other thread may want MPICH's locks
 * meanwhile. */
bool hwmc_sleep_can(void);

/* From ARMED on, whatever comes ends a sleep; *until (ns) is brought forward to the engine's
 * deadline. NOT_NOW: there is something to do already. NEVER: this process cannot tell, and will
 * not try again. */
enum hwmc_armed hwmc_sleep_arm(uint64_t now, uint64_t *until);

/* Where something came: bits. */
#define HWMC_CAME_MPICH 1u  /* MPICH's UCX worker */
#define HWMC_CAME_ENGINE 2u /* what the engine looks at */

/* ARMED: where something came; takes it. */
unsigned hwmc_sleep_look(void);

/* ARMED: sleeps until something comes, or `until`. Where something came; 0: nowhere. */
unsigned hwmc_sleep_until(uint64_t now, uint64_t until);

#endif /* HWMC_NETMOD_WAIT_SLEEP_H_INCLUDED */
