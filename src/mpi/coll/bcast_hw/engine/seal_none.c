/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * seal: see seal.h. For builds without libsodium: there is none.
 */
#include "seal.h"

#include <assert.h>

bool bcast_hw_seal_exists(void)
{
    return false;
}

struct bcast_hw_seal *bcast_hw_seal_create(uint32_t rank, const void *secret)
{
    (void) rank;
    (void) secret;
    return NULL;
}

void bcast_hw_seal_put(struct bcast_hw_seal *s, void *seal, uint32_t to, uint32_t high,
                       const void *head, size_t head_len, const void *body, size_t body_len)
{
    (void) s, (void) seal, (void) to, (void) high;
    (void) head, (void) head_len, (void) body, (void) body_len;
    assert(!"there is no seal");
}

bool bcast_hw_seal_check(struct bcast_hw_seal *s, const void *seal, uint32_t to, uint32_t *high,
                         const void *head, size_t head_len, const void *body, size_t body_len)
{
    (void) s, (void) seal, (void) to, (void) high;
    (void) head, (void) head_len, (void) body, (void) body_len;
    return false;
}

void bcast_hw_seal_destroy(struct bcast_hw_seal *s)
{
    (void) s;
}
