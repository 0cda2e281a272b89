/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * auth: shows that a message is from a process of the job, for whom it is meant, and unchanged.
 * Before each message stand 32 bytes, in network byte order:
 *
 *    0  sender's rank in MPI_COMM_WORLD, 4      4  high, 4
 *    8  counter, 8                             16  authentication code, 16
 *
 * The code is Poly1305 under a key of its own for each message, the first 32 bytes of ChaCha20
 * under the job's secret with (rank, counter) as the nonce (RFC 8439, sections 2.6 and 2.5), over:
 * `to`, 4 bytes that are not sent; the first 16 bytes above; the message. A nonce is used once: a
 * rank has one struct hwmc_auth, which counts from 0.
 *
 * `high` is the caller's, `to` tells ways apart: by multicast the upper half of a broadcast's
 * number, and HWMC_AUTH_TO_RAIL; by lane its number with the length of the message's head
 * (lane/auth_lane), and the receiver's rank.
 *
 * The secret lies in memory between guard pages that is locked where that is allowed, in no core
 * dump, in no child process, and erased at the end. Not thread-safe. auth_none.c stands in where
 * libsodium is not.
 */
#ifndef HWMC_ENGINE_WIRE_AUTH_H_INCLUDED
#define HWMC_ENGINE_WIRE_AUTH_H_INCLUDED

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HWMC_AUTH 32u        /* bytes before a message */
#define HWMC_AUTH_SECRET 32u /* bytes of a job's secret */
#define HWMC_AUTH_TO_RAIL(rail) (UINT32_MAX - (uint32_t) (rail))

struct hwmc_auth;

/* This build has it. */
bool hwmc_auth_exists(void);

/* For the process of this rank; copies the secret. NULL: not in this build, or no memory. */
struct hwmc_auth *hwmc_auth_create(uint32_t rank, const void *secret);

/* Writes what goes before head and body. */
void hwmc_auth_put(struct hwmc_auth *s, void *auth, uint32_t to, uint32_t high, const void *head,
                   size_t head_len, const void *body, size_t body_len);

/* Whether `seal` is what put wrote for this message; if so, with its *high. */
bool hwmc_auth_check(struct hwmc_auth *s, const void *auth, uint32_t to, uint32_t *high,
                     const void *head, size_t head_len, const void *body, size_t body_len);

/* What is in a seal, genuine or not: the sender's rank, and which of its messages it is. */
static inline uint32_t hwmc_auth_rank(const void *auth)
{
    uint32_t rank;

    memcpy(&rank, auth, sizeof(rank));
    return be32toh(rank);
}

static inline uint64_t hwmc_auth_counter(const void *auth)
{
    uint64_t counter;

    memcpy(&counter, (const unsigned char *) auth + 8, sizeof(counter));
    return be64toh(counter);
}

/* Erases the secret; of NULL nothing. */
void hwmc_auth_destroy(struct hwmc_auth *s);

#endif /* HWMC_ENGINE_WIRE_AUTH_H_INCLUDED */
