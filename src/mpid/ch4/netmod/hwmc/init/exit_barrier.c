/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * exit_barrier: see exit_barrier.h.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "exit_barrier.h"

#define ROUNDS_MAX 32

static struct hwmc_sessions *sessions;
static uint32_t stream;
static uint32_t came; /* mask of the rounds whose message is here */
static uint32_t round_at;
static bool sent; /* this round's */

static void on_recv(void *ctx, uint32_t peer, const void *head, size_t head_len, const void *body,
                    size_t body_len)
{
    const unsigned char *round = head;

    (void) ctx;
    (void) peer;
    (void) body;
    (void) body_len;
    if (head_len == 1 && *round < ROUNDS_MAX)
        came |= 1u << *round;
}

void hwmc_exit_barrier_open(struct hwmc_sessions *over, uint32_t index)
{
    const struct hwmc_sessions_upper upper = {.recv = on_recv};

    sessions = over;
    stream = index;
    came = round_at = 0;
    sent = false;
    hwmc_sessions_use(sessions, stream, &upper);
}

static bool meet(void)
{
    uint32_t size = (uint32_t) MPIR_Process.size;

    while (size > 1u << round_at) {
        unsigned char round = (unsigned char) round_at;
        uint32_t to = ((uint32_t) MPIR_Process.rank + (1u << round_at)) % size;

        if (!sent)
            sent = hwmc_sessions_send(sessions, stream, to, &round, 1, NULL, 0, NULL) == HWMC_OK;
        if (!sent || !(came >> round_at & 1))
            return false;
        round_at++;
        sent = false;
    }
    return true;
}

bool hwmc_exit_barrier_met(void)
{
    bool met;

    hwmc_lock();
    met = meet();
    hwmc_unlock();
    return met;
}
