/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage, what it sends: see two_stage.h.
 */
#include "../base/bitmap.h"
#include "../base/mask.h"
#include "../base/prng.h"
#include "../place/kary.h"
#include "two_stage_impl.h"

/* DATA without the index. */
static void fill_data(const struct hwmc_two_stage *m, struct hwmc_msg *tx, uint32_t peer)
{
    *tx = (struct hwmc_msg){
        .type = HWMC_MSG_DATA,
        .flags = m->more ? HWMC_FLAG_MORE : 0,
        .peer = peer,
        .bid = m->bid,
        .data = {.root = m->root, .frags = m->frags, .bytes = m->bytes, .rails = m->rails},
    };
}

/* NACK, ROOT_NACK or SEEK. */
static void fill_nack(const struct hwmc_two_stage *m, struct hwmc_msg *tx, enum hwmc_msg_type type,
                      uint32_t peer, const uint64_t *bits)
{
    *tx = (struct hwmc_msg){
        .type = type,
        .peer = peer,
        .bid = m->bid,
        .nack = {.root = m->root, .frags = m->frags, .bytes = m->bytes, .bits = bits},
    };
}

/* OFFER or READY. */
static void fill_offer(const struct hwmc_two_stage *m, struct hwmc_msg *tx, enum hwmc_msg_type type,
                       uint32_t peer)
{
    *tx = (struct hwmc_msg){
        .type = type,
        .peer = peer,
        .bid = m->bid,
        .offer = {.root = m->root, .frags = m->frags, .bytes = m->bytes},
    };
}

/* Takes the lowest of the fragments that are to go once more. */
static uint32_t take_root_nack(struct hwmc_two_stage *m)
{
    uint32_t i = HWMC_BITMAP_NONE;

    for (uint32_t w = 0; i == HWMC_BITMAP_NONE; w++)
        i = hwmc_bitmap_first_of(m->urged[w], w);
    m->urged[i / 64] &= ~(UINT64_C(1) << i % 64);
    m->again--;
    return i;
}

/* Multicasts the next fragment on one of `rails`; after all of a long message, the last once more
 * on each. */
static void next_cast(struct hwmc_two_stage *m, struct hwmc_ring *ring, uint32_t rails,
                      struct hwmc_msg *tx, uint64_t now)
{
    fill_data(m, tx, ring->rank);
    tx->multicast = true;
    tx->flags |= m->flags;
    tx->rail = (uint8_t) __builtin_ctz(rails);
    if (m->again > 0 || m->ends) /* those who got it once do not expect it directly */
        tx->flags &= (uint8_t) ~HWMC_FLAG_DIRECT;
    if (m->again > 0) {
        tx->data.index = take_root_nack(m);
        ring->counts->cast_again++;
        return;
    }
    if (m->ends) {
        tx->data.index = m->frags - 1;
        m->ends &= (uint8_t) ~(1u << tx->rail);
    } else {
        m->moved_at = now;
        tx->data.index = m->next_cast++;
        ring->counts->cast_frags++;
        if (m->next_cast == m->frags && !m->more && m->frags > HWMC_STANDING_FRAGS)
            m->ends = m->rails;
    }
    if (m->next_cast == m->frags && !m->ends)
        hwmc_two_stage_set_phase(m, HWMC_DONE);
}

/* Collects in `asked` what is to be asked for and was not; true if there is any. The request then
 * carries the whole of `asked`: what was asked for earlier is not sent twice by the predecessor, so
 * naming it again is harmless, and one bitmap serves both purposes. */
static bool collect_asks(struct hwmc_two_stage *m, struct hwmc_ring *ring)
{
    bool any = false;

    for (uint32_t w = 0; w < hwmc_bitmap_words(m->frags); w++) {
        uint64_t below = m->ask_below > w * 64 ? hwmc_bitmap_mask(w, m->ask_below) : 0;
        uint64_t fresh =
            (below | m->urged[w]) & ~m->got[w] & ~m->asked[w] & hwmc_bitmap_mask(w, m->frags);

        if (fresh) {
            m->asked[w] |= fresh;
            any = true;
            if (m->passed > w * 64)
                ring->counts->lost_gap +=
                    (uint64_t) __builtin_popcountll(fresh & hwmc_bitmap_mask(w, m->passed));
        }
    }
    return any;
}

/* All was asked for more than once, and meanwhile nothing came on the rails of the broadcast: it is
 * not only that the root is about to multicast it. */
static bool is_silent(const struct hwmc_two_stage *m, const struct hwmc_ring *ring, uint64_t now)
{
    if (m->questions < 3)
        return false;
    FOR_EACH (r, hwmc_two_stage_rails(m, ring))
        if (now - ring->heard[r] < 4 * hwmc_rtt_wait(&ring->rtt))
            return false;
    return true;
}

static bool next_ask(struct hwmc_two_stage *m, struct hwmc_ring *ring, struct hwmc_msg *tx,
                     uint64_t now)
{
    bool all = m->frags == 0 && m->unknown.ask == HWMC_ASK_ALL_DUE;

    if (!all && (m->frags == 0 || !collect_asks(m, ring)))
        return false;
    if (all)
        m->unknown.ask = HWMC_ASK_ALL_OUT;
    fill_nack(m, tx, HWMC_MSG_NACK, hwmc_ring_prev(ring->rank, ring->size), m->asked);
    tx->flags |= all && hwmc_two_stage_no_multicast(m, ring) ? HWMC_FLAG_NO_MULTICAST : 0;
    tx->flags |= all && is_silent(m, ring, now) ? HWMC_FLAG_AT_ONCE : 0;
    if (m->asked_at == 0)
        m->asked_at = now;
    ring->counts->nacks_sent++;
    return true;
}

static bool next_seek(struct hwmc_two_stage *m, struct hwmc_ring *ring, struct hwmc_msg *tx)
{
    uint32_t peer;
    bool take;

    if (!hwmc_seek_next(&m->seek, ring->rank, ring->size, &peer, &take))
        return false;
    for (uint32_t w = 0; w < hwmc_bitmap_words(m->frags); w++)
        m->sought[w] = hwmc_two_stage_sought(m, w);
    fill_nack(m, tx, HWMC_MSG_SEEK, peer, m->sought);
    tx->flags |= take ? HWMC_FLAG_AT_ONCE : 0;
    ring->counts->sought += !take;
    return true;
}

static bool next_offer(struct hwmc_two_stage *m, struct hwmc_ring *ring, struct hwmc_msg *tx)
{
    if (m->num_askers == 0)
        return false;
    fill_offer(m, tx, HWMC_MSG_OFFER, m->askers[--m->num_askers]);
    ring->counts->offered++;
    return true;
}

static bool next_gift(struct hwmc_two_stage *m, struct hwmc_ring *ring, struct hwmc_msg *tx)
{
    for (uint32_t w = 0; m->give_to != HWMC_NOBODY && w < hwmc_bitmap_words(m->frags); w++) {
        uint32_t i = hwmc_bitmap_first_of(m->given[w], w);

        if (i == HWMC_BITMAP_NONE)
            continue;
        fill_data(m, tx, m->give_to);
        tx->data.index = i;
        m->given[w] &= m->given[w] - 1;
        ring->counts->given++;
        return true;
    }
    m->give_to = HWMC_NOBODY;
    return false;
}

static bool next_forward(struct hwmc_two_stage *m, struct hwmc_ring *ring, struct hwmc_msg *tx)
{
    for (uint32_t w = 0; w < hwmc_bitmap_words(m->frags); w++) {
        uint32_t i = hwmc_bitmap_first_of(m->got[w] & m->wanted[w] & ~m->sent[w], w);

        if (i == HWMC_BITMAP_NONE)
            continue;
        fill_data(m, tx, hwmc_ring_next(ring->rank, ring->size));
        tx->data.index = i;
        tx->flags |= m->at_once ? HWMC_FLAG_AT_ONCE : 0;
        hwmc_bitmap_set(m->sent, i);
        ring->counts->forwarded++;
        return true;
    }
    return false;
}

/* Of many ranks that have lost the same, about so many tell the root. */
#define TELLERS 16u

static bool tells_root(const struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    return ring->size <= TELLERS || hwmc_prng(m->bid, ring->rank) % ring->size < TELLERS;
}

/* What was lost here, not only late, and the successor asked for: collected in `told`. */
static bool next_tell(struct hwmc_two_stage *m, struct hwmc_ring *ring, struct hwmc_msg *tx)
{
    bool all = m->phase == HWMC_WAIT && m->frags == 0 && m->unknown.want && m->questions > 0;
    uint64_t any = all && !m->unknown.told;

    if (m->push || !(all || m->lost > 0) || !tells_root(m, ring) ||
        hwmc_two_stage_no_multicast(m, ring))
        return false;
    m->unknown.told = all;
    for (uint32_t w = 0; w < hwmc_bitmap_words(m->lost); w++) {
        uint64_t fresh =
            m->asked[w] & m->wanted[w] & ~m->got[w] & ~m->told[w] & hwmc_bitmap_mask(w, m->lost);

        m->told[w] |= fresh;
        any |= fresh;
        ring->counts->root_nacks_sent += (uint64_t) __builtin_popcountll(fresh);
    }
    if (!any)
        return false;
    fill_nack(m, tx, HWMC_MSG_ROOT_NACK, m->root, m->told);
    return true;
}

int hwmc_two_stage_next_send(struct hwmc_two_stage *m, struct hwmc_ring *ring,
                             struct hwmc_room room, struct hwmc_msg *tx, uint64_t now)
{
    uint32_t rails = hwmc_two_stage_room(m, room);

    if (hwmc_two_stage_casts(m) && rails) {
        next_cast(m, ring, rails, tx, now);
        return 1;
    }
    if (m->ready == HWMC_READY_DUE) {
        m->ready = HWMC_READY_NONE;
        fill_offer(m, tx, HWMC_MSG_READY, m->root);
        return 1;
    }
    if (hwmc_two_stage_incomplete(m) &&
        (next_ask(m, ring, tx, now) || next_tell(m, ring, tx) || next_seek(m, ring, tx)))
        return 1;
    return next_forward(m, ring, tx) || next_offer(m, ring, tx) || next_gift(m, ring, tx);
}
