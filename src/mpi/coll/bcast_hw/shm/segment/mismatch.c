/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * mismatch: see mismatch.h.
 */
#include "mismatch.h"

#include "group.h"
#include "slot.h"

/* FNV-1a, word by word. */
static uint64_t mix_word(uint64_t digest, uint64_t word)
{
    return (digest ^ word) * UINT64_C(0x100000001b3);
}

/* What a rank has stored in the collective that comes after `finished`. */
static uint64_t mix_rank(uint64_t digest, const struct hwmc_shm_group *g, uint32_t rank,
                         uint64_t finished)
{
    const struct hwmc_shm_words *words = hwmc_shm_words(g->segment, rank);
    const struct hwmc_shm_slot *slot = hwmc_shm_slot(g->segment, rank, finished + 1);

    digest = mix_word(digest, finished);
    digest = mix_word(digest, hwmc_shm_load(&words->up));
    digest = mix_word(digest, hwmc_shm_load(&words->down));
    for (uint32_t i = 0; i < (g->size + 63) / 64; i++)
        digest = mix_word(digest, hwmc_shm_load(&words->signal[i]));
    digest = mix_word(digest, hwmc_shm_load(&slot->out.serial));
    digest = mix_word(digest, hwmc_shm_load(&slot->out.ready));
    digest = mix_word(digest, hwmc_shm_load(&slot->ack.serial));
    return mix_word(digest, hwmc_shm_load(&slot->ack.taken));
}

static uint64_t finished_by(const struct hwmc_shm_group *g, uint32_t rank)
{
    return hwmc_shm_load(&hwmc_shm_words(g->segment, rank)->finished);
}

/* Of all that have not finished this rank's collective. */
static uint64_t digest_of(const struct hwmc_shm_group *g)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    for (uint32_t r = 0; r < g->size; r++) {
        uint64_t finished = finished_by(g, r);

        digest = finished < g->serial ? mix_rank(mix_word(digest, r), g, r, finished) : digest;
    }
    return digest;
}

static uint64_t looks_of(const struct hwmc_shm_group *g, uint32_t rank)
{
    return hwmc_shm_load(&hwmc_shm_words(g->segment, rank)->looks);
}

/* All of them have looked twice since that was noted. */
static bool all_looked(const struct hwmc_shm_group *g)
{
    for (uint32_t r = 0; r < g->size; r++)
        if (looks_of(g, r) < g->mismatch.noted[r] + 2 && finished_by(g, r) < g->serial)
            return false;
    return true;
}

bool hwmc_shm_mismatch_look(struct hwmc_shm_group *g)
{
    struct hwmc_shm_mismatch *s = &g->mismatch;
    uint64_t digest;

    /* What this rank loads from here on it loads after others can see that it has looked. */
    atomic_exchange_explicit(&hwmc_shm_words(g->segment, g->rank)->looks, ++s->looks,
                             memory_order_seq_cst);
    if (s->serial == g->serial && !all_looked(g))
        return false;
    digest = digest_of(g);
    if (s->serial == g->serial && s->words == digest)
        return true;
    s->serial = g->serial;
    s->words = digest;
    for (uint32_t r = 0; r < g->size; r++)
        s->noted[r] = looks_of(g, r);
    return false;
}
