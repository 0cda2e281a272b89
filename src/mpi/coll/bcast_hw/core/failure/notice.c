/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * notice: see notice.h.
 */
#include "notice.h"

#include <assert.h>

#include "../place/kary.h"
#include "../base/trace.h"

/* Neighbours in the order in which they are told: before and after this rank in the ring, its
 * parent, its children. */
enum { NEXT_PREV, NEXT_NEXT, NEXT_PARENT, NEXT_CHILD };

const char *hwmc_stage_text(enum hwmc_stage stage)
{
    static const char *const texts[] = {
#define X(name, text) text,
        HWMC_STAGES(X)
#undef X
    };

    return texts[stage];
}

void hwmc_notice_init(struct hwmc_notice *n, uint32_t size, uint32_t self, uint32_t fanout,
                      uint64_t key)
{
    *n = (struct hwmc_notice){.size = size, .self = self, .fanout = fanout, .key = key};
}

static uint32_t num_neighbours(const struct hwmc_notice *n)
{
    return NEXT_CHILD + hwmc_tree_children(n->self, n->size, n->fanout);
}

void hwmc_notice_on_found(struct hwmc_notice *n, uint32_t member, uint32_t rails, bool cut,
                          enum hwmc_stage stage, uint64_t now)
{
    if (n->phase != HWMC_NOTICE_QUIET)
        return;
    n->phase = HWMC_NOTICE_UNTOLD;
    n->rank = member;
    n->finder = n->self;
    hwmc_trace_note(HWMC_TRACE_FAILURE, member, "found", rails);
    n->rails = rails;
    n->cut = cut;
    n->stage = stage;
    n->at = now;
}

bool hwmc_notice_formed(const struct hwmc_msg *msg, uint32_t size)
{
    return msg->type == HWMC_MSG_LOST && !msg->multicast && msg->peer < size &&
           msg->lost.rank < size && msg->lost.finder < size && msg->lost.stage < HWMC_STAGE_LIMIT;
}

enum hwmc_verdict hwmc_notice_on_recv(struct hwmc_notice *n, const struct hwmc_msg *msg,
                                      uint64_t now)
{
    if (!hwmc_notice_formed(msg, n->size))
        return HWMC_BAD;
    if (n->phase != HWMC_NOTICE_QUIET)
        return HWMC_DUP;
    n->phase = HWMC_NOTICE_UNTOLD;
    n->rank = msg->lost.rank;
    n->finder = msg->lost.finder;
    hwmc_trace_note(HWMC_TRACE_FAILURE, n->rank, "told", msg->lost.rails);
    n->rails = msg->lost.rails;
    n->stage = (enum hwmc_stage) msg->lost.stage;
    n->at = now;
    return HWMC_TAKEN;
}

int hwmc_notice_repeat(const struct hwmc_notice *n, uint32_t member, struct hwmc_msg *tx)
{
    if (member == n->self || (n->cut && n->rank == member))
        return 0;
    *tx = (struct hwmc_msg){
        .type = HWMC_MSG_LOST,
        .peer = member,
        .bid = n->key,
        .lost = {.rank = n->rank,
                 .finder = n->finder,
                 .stage = n->stage,
                 .rails = (uint8_t) n->rails},
    };
    return 1;
}

/* Neighbour number `i`, if there is one. */
static bool find_neighbour(const struct hwmc_notice *n, uint32_t i, uint32_t *member)
{
    switch (i) {
        case NEXT_PREV:
            *member = hwmc_ring_prev(n->self, n->size);
            return true;
        case NEXT_NEXT:
            *member = hwmc_ring_next(n->self, n->size);
            return n->size > 2;
        case NEXT_PARENT:
            *member = n->self > 0 ? hwmc_tree_parent(n->self, n->fanout) : 0;
            return n->self > 0;
        default:
            *member = (uint32_t) hwmc_tree_child(n->self, i - NEXT_CHILD, n->fanout);
            return true;
    }
}

int hwmc_notice_next_send(struct hwmc_notice *n, struct hwmc_msg *tx)
{
    uint32_t member;

    if (n->phase != HWMC_NOTICE_UNTOLD)
        return 0;
    while (n->next < num_neighbours(n))
        if (find_neighbour(n, n->next++, &member) && hwmc_notice_repeat(n, member, tx))
            return 1;
    n->phase = HWMC_NOTICE_TOLD;
    return 0;
}

void hwmc_notice_check(const struct hwmc_notice *n)
{
    assert(n->self < n->size && n->rank < n->size && n->finder < n->size);
    assert(n->stage < HWMC_STAGE_LIMIT);
    assert(!n->cut || n->finder == n->self);
    assert(n->phase != HWMC_NOTICE_QUIET || n->next == 0);
    assert(n->phase != HWMC_NOTICE_TOLD || n->next == num_neighbours(n));
}
