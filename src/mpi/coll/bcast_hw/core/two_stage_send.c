/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage, what it sends: see two_stage.h.
 */
#include "bitmap.h"
#include "mask.h"
#include "prng.h"
#include "topo.h"
#include "two_stage_impl.h"

static void fill(const struct bcast_hw_two_stage *m, struct bcast_hw_msg *tx,
                 enum bcast_hw_msg_type type, uint32_t peer)
{
    *tx = (struct bcast_hw_msg){
        .type = type,
        .peer = peer,
        .bid = m->bid,
        .root = m->root,
        .frags = m->frags,
        .bytes = m->bytes,
        .rails = type == BCAST_HW_MSG_DATA ? m->rails : 0,
        .flags = type == BCAST_HW_MSG_DATA && m->more ? BCAST_HW_FLAG_MORE : 0,
    };
}

/* Takes the lowest of the fragments that are to go once more. */
static uint32_t take_again(struct bcast_hw_two_stage *m)
{
    uint32_t i = BCAST_HW_BITMAP_NONE;

    for (uint32_t w = 0; i == BCAST_HW_BITMAP_NONE; w++)
        i = bcast_hw_bitmap_first_of(m->urged[w], w);
    m->urged[i / 64] &= ~(UINT64_C(1) << i % 64);
    m->again--;
    return i;
}

/* Multicasts the next fragment on one of `rails`; after all of a long message, the last once more
 * on each. */
static void next_cast(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring, uint32_t rails,
                      struct bcast_hw_msg *tx, uint64_t now)
{
    fill(m, tx, BCAST_HW_MSG_DATA, ring->rank);
    tx->multicast = true;
    tx->rail = (uint8_t) __builtin_ctz(rails);
    if (m->again > 0) {
        tx->index = take_again(m);
        ring->counts->cast_again++;
        return;
    }
    if (m->ends) {
        tx->index = m->frags - 1;
        m->ends &= (uint8_t) ~(1u << tx->rail);
    } else {
        m->moved_at = now;
        tx->index = m->next_cast++;
        ring->counts->cast_frags++;
        if (m->next_cast == m->frags && !m->more && m->frags > BCAST_HW_STANDING_FRAGS)
            m->ends = m->rails;
    }
    if (m->next_cast == m->frags && !m->ends)
        bcast_hw_two_stage_set_phase(m, BCAST_HW_DONE);
}

/* Collects in `asked` what is to be asked for and was not; true if there is any. The request then
 * carries the whole of `asked` that is still missing: what was asked for earlier is not sent twice
 * by the predecessor, so naming it again is harmless, and one bitmap serves both purposes. */
static bool collect_asks(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring)
{
    bool any = false;

    for (uint32_t w = 0; w < bcast_hw_bitmap_words(m->frags); w++) {
        uint64_t below = m->ask_below > w * 64 ? bcast_hw_bitmap_mask(w, m->ask_below) : 0;
        uint64_t fresh =
            (below | m->urged[w]) & ~m->got[w] & ~m->asked[w] & bcast_hw_bitmap_mask(w, m->frags);

        if (fresh) {
            m->asked[w] |= fresh;
            any = true;
            if (m->passed > w * 64)
                ring->counts->lost_gap +=
                    (uint64_t) __builtin_popcountll(fresh & bcast_hw_bitmap_mask(w, m->passed));
        }
    }
    return any;
}

/* All was asked for more than once, and meanwhile nothing came on the rails of the broadcast: it is
 * not only that the root is about to multicast it. */
static bool is_silent(const struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring,
                      uint64_t now)
{
    if (m->questions < 3)
        return false;
    FOR_EACH (r, bcast_hw_two_stage_rails(m, ring))
        if (now - ring->heard[r] < 4 * bcast_hw_rtt_wait(&ring->rtt))
            return false;
    return true;
}

static bool next_ask(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring,
                     struct bcast_hw_msg *tx, uint64_t now)
{
    bool all = m->frags == 0 && m->ask_all && !m->asked_all;

    if (!all && (m->frags == 0 || !collect_asks(m, ring)))
        return false;
    if (all)
        m->asked_all = true;
    fill(m, tx, BCAST_HW_MSG_REQUEST, bcast_hw_ring_prev(ring->rank, ring->size));
    tx->bits = m->asked;
    tx->flags |= all && bcast_hw_two_stage_deaf(m, ring) ? BCAST_HW_FLAG_DEAF : 0;
    tx->flags |= all && is_silent(m, ring, now) ? BCAST_HW_FLAG_AT_ONCE : 0;
    if (m->asked_at == 0)
        m->asked_at = now;
    ring->counts->asked++;
    return true;
}

static bool next_seek(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring,
                      struct bcast_hw_msg *tx)
{
    uint32_t peer;
    bool take;

    if (!bcast_hw_seek_next(&m->seek, ring->rank, ring->size, &peer, &take))
        return false;
    for (uint32_t w = 0; w < bcast_hw_bitmap_words(m->frags); w++)
        m->sought[w] = bcast_hw_two_stage_sought(m, w);
    fill(m, tx, BCAST_HW_MSG_SEEK, peer);
    tx->bits = m->sought;
    tx->flags |= take ? BCAST_HW_FLAG_AT_ONCE : 0;
    ring->counts->sought += !take;
    return true;
}

static bool next_offer(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring,
                       struct bcast_hw_msg *tx)
{
    if (m->num_askers == 0)
        return false;
    fill(m, tx, BCAST_HW_MSG_OFFER, m->askers[--m->num_askers]);
    ring->counts->offered++;
    return true;
}

static bool next_gift(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring,
                      struct bcast_hw_msg *tx)
{
    for (uint32_t w = 0; m->give_to != BCAST_HW_NOBODY && w < bcast_hw_bitmap_words(m->frags);
         w++) {
        uint32_t i = bcast_hw_bitmap_first_of(m->given[w], w);

        if (i == BCAST_HW_BITMAP_NONE)
            continue;
        fill(m, tx, BCAST_HW_MSG_DATA, m->give_to);
        tx->index = i;
        m->given[w] &= m->given[w] - 1;
        ring->counts->given++;
        return true;
    }
    m->give_to = BCAST_HW_NOBODY;
    return false;
}

static bool next_forward(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring,
                         struct bcast_hw_msg *tx)
{
    for (uint32_t w = 0; w < bcast_hw_bitmap_words(m->frags); w++) {
        uint32_t i = bcast_hw_bitmap_first_of(m->got[w] & m->wanted[w] & ~m->sent[w], w);

        if (i == BCAST_HW_BITMAP_NONE)
            continue;
        fill(m, tx, BCAST_HW_MSG_DATA, bcast_hw_ring_next(ring->rank, ring->size));
        tx->index = i;
        tx->flags |= m->at_once ? BCAST_HW_FLAG_AT_ONCE : 0;
        bcast_hw_bitmap_set(m->sent, i);
        ring->counts->forwarded++;
        return true;
    }
    return false;
}

/* Of many ranks that have lost the same, about so many tell the root. */
#define TELLERS 16u

static bool tells(const struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    return ring->size <= TELLERS || bcast_hw_prng(m->bid, ring->rank) % ring->size < TELLERS;
}

/* What was lost here, not only late, and the successor asked for: collected in `told`. */
static bool next_tell(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring,
                      struct bcast_hw_msg *tx)
{
    bool all = m->phase == BCAST_HW_WAIT && m->frags == 0 && m->want_all && m->questions > 0;
    uint64_t any = all && !m->told_all;

    if (m->push || !(all || m->lost > 0) || !tells(m, ring) || bcast_hw_two_stage_deaf(m, ring))
        return false;
    m->told_all = all;
    for (uint32_t w = 0; w < bcast_hw_bitmap_words(m->lost); w++) {
        uint64_t fresh = m->asked[w] & m->wanted[w] & ~m->got[w] & ~m->told[w] &
                         bcast_hw_bitmap_mask(w, m->lost);

        m->told[w] |= fresh;
        any |= fresh;
        ring->counts->told_root += (uint64_t) __builtin_popcountll(fresh);
    }
    if (!any)
        return false;
    fill(m, tx, BCAST_HW_MSG_AGAIN, m->root);
    tx->bits = m->told;
    return true;
}

int bcast_hw_two_stage_next_send(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring,
                                 struct bcast_hw_room room, struct bcast_hw_msg *tx, uint64_t now)
{
    uint32_t rails = bcast_hw_two_stage_room(m, room);

    if (bcast_hw_two_stage_casts(m) && rails) {
        next_cast(m, ring, rails, tx, now);
        return 1;
    }
    if (m->ready_due) {
        m->ready_due = false;
        fill(m, tx, BCAST_HW_MSG_READY, m->root);
        return 1;
    }
    if (bcast_hw_two_stage_incomplete(m) &&
        (next_ask(m, ring, tx, now) || next_tell(m, ring, tx) || next_seek(m, ring, tx)))
        return 1;
    return next_forward(m, ring, tx) || next_offer(m, ring, tx) || next_gift(m, ring, tx);
}
