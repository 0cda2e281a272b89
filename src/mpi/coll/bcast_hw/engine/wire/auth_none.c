/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * auth: see engine/wire/auth.h. For builds without libsodium: there is none.
 */
#include "auth.h"

#include <assert.h>

bool hwmc_auth_exists(void)
{
    return false;
}

struct hwmc_auth *hwmc_auth_create(uint32_t rank, const void *secret)
{
    (void) rank;
    (void) secret;
    return NULL;
}

void hwmc_auth_put(struct hwmc_auth *s, void *auth, uint32_t to, uint32_t high, const void *head,
                   size_t head_len, const void *body, size_t body_len)
{
    (void) s, (void) auth, (void) to, (void) high;
    (void) head, (void) head_len, (void) body, (void) body_len;
    assert(!"there is no authentication");
}

bool hwmc_auth_check(struct hwmc_auth *s, const void *auth, uint32_t to, uint32_t *high,
                     const void *head, size_t head_len, const void *body, size_t body_len)
{
    (void) s, (void) auth, (void) to, (void) high;
    (void) head, (void) head_len, (void) body, (void) body_len;
    return false;
}

void hwmc_auth_destroy(struct hwmc_auth *s)
{
    (void) s;
}
