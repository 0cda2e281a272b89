/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sleep: what a process that waits can sleep on. An epoll instance of hwmc's has the descriptors of
 * MPICH's UCX worker, of the lanes and of the fabrics in it. Calls are under MPICH's lock of VCI 0.
 */

#ifndef HWMC_SLEEP_H_INCLUDED
#define HWMC_SLEEP_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

enum MPIDI_HWMC_armed { MPIDI_HWMC_ARMED_NEVER, MPIDI_HWMC_ARMED_NOT_NOW, MPIDI_HWMC_ARMED };

/* Whether the process may sleep at all, as the user wishes; before UCX is initialized. */
void MPIDI_HWMC_sleep_init(bool wanted);

/* Whether MPICH's UCX context shall be one that can be waited for; and that it is. */
bool MPIDI_HWMC_sleep_wanted(void);
void MPIDI_HWMC_sleep_possible(void);

/* Whether it can: UCX lets itself be waited for, and no other thread may want MPICH's locks
 * meanwhile. */
bool MPIDI_HWMC_sleep_can(void);

/* From ARMED on, whatever comes ends a sleep; *until (ns) is brought forward to the engine's
 * deadline. NOT_NOW: there is something to do already. NEVER: this process cannot tell, and will
 * not try again. */
enum MPIDI_HWMC_armed MPIDI_HWMC_sleep_arm(uint64_t now, uint64_t *until);

/* ARMED: whether something came; takes it. */
bool MPIDI_HWMC_sleep_look(void);

/* ARMED: sleeps until something comes, or `until`. Whether something came. */
bool MPIDI_HWMC_sleep_until(uint64_t now, uint64_t until);

#endif /* HWMC_SLEEP_H_INCLUDED */
