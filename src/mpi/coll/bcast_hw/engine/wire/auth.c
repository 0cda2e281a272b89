/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * auth: see engine/wire/auth.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MADV_WIPEONFORK */
#endif

#include "auth.h"

#include <sodium.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIGNED 16u /* bytes of the seal before the code */

_Static_assert(SIGNED + crypto_onetimeauth_BYTES == HWMC_AUTH, "the code is the rest");
_Static_assert(crypto_stream_chacha20_ietf_KEYBYTES == HWMC_AUTH_SECRET, "the whole secret");

/* All that is secret, also what lasts for one message only. */
struct hwmc_auth {
    crypto_onetimeauth_state state;
    unsigned char secret[HWMC_AUTH_SECRET];
    unsigned char once[crypto_onetimeauth_KEYBYTES]; /* key of the message at hand */
    uint64_t counter;                                /* of the next message */
    uint32_t rank;
};

bool hwmc_auth_exists(void)
{
    return sodium_init() >= 0;
}

struct hwmc_auth *hwmc_auth_create(uint32_t rank, const void *secret)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    struct hwmc_auth *s;

    if (!hwmc_auth_exists())
        return NULL;
    s = sodium_malloc(sizeof(*s));
    if (!s)
        return NULL;
    /* A child with this counter would use nonces again. It has its pages to itself. */
    madvise((void *) ((uintptr_t) s & ~(uintptr_t) (page - 1)), page, MADV_WIPEONFORK);
    s->counter = 0;
    s->rank = rank;
    memcpy(s->secret, secret, sizeof(s->secret));
    return s;
}

/* The code of a message whose seal begins with `first`. */
static void make_code(struct hwmc_auth *s, const unsigned char *first, uint32_t to,
                      const void *head, size_t head_len, const void *body, size_t body_len,
                      unsigned char *code)
{
    unsigned char nonce[crypto_stream_chacha20_ietf_NONCEBYTES];

    memcpy(nonce, first, 4);
    memcpy(nonce + 4, first + 8, 8);
    crypto_stream_chacha20_ietf(s->once, sizeof(s->once), nonce, s->secret);
    crypto_onetimeauth_init(&s->state, s->once);
    to = htobe32(to);
    crypto_onetimeauth_update(&s->state, (const unsigned char *) &to, sizeof(to));
    crypto_onetimeauth_update(&s->state, first, SIGNED);
    crypto_onetimeauth_update(&s->state, head, head_len);
    crypto_onetimeauth_update(&s->state, body, body_len);
    crypto_onetimeauth_final(&s->state, code);
}

void hwmc_auth_put(struct hwmc_auth *s, void *auth, uint32_t to, uint32_t high, const void *head,
                   size_t head_len, const void *body, size_t body_len)
{
    uint32_t rank = htobe32(s->rank);
    uint64_t counter = htobe64(s->counter++);
    unsigned char *p = auth;

    high = htobe32(high);
    memcpy(p, &rank, 4);
    memcpy(p + 4, &high, 4);
    memcpy(p + 8, &counter, 8);
    make_code(s, p, to, head, head_len, body, body_len, p + SIGNED);
}

bool hwmc_auth_check(struct hwmc_auth *s, const void *auth, uint32_t to, uint32_t *high,
                     const void *head, size_t head_len, const void *body, size_t body_len)
{
    const unsigned char *p = auth;
    unsigned char code[crypto_onetimeauth_BYTES];

    make_code(s, p, to, head, head_len, body, body_len, code);
    if (crypto_verify_16(code, p + SIGNED) != 0)
        return false;
    memcpy(high, p + 4, 4);
    *high = be32toh(*high);
    return true;
}

void hwmc_auth_destroy(struct hwmc_auth *s)
{
    sodium_free(s);
}
