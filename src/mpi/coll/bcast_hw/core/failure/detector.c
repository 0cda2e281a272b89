/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * detector: see detector.h.
 */
#include "detector.h"

#include <assert.h>
#include <string.h>

static uint64_t again_ns(const struct hwmc_detector *r)
{
    return r->cfg.limit_ns / HWMC_DETECTOR_PARTS + 1;
}

static bool is_taken(const struct hwmc_detector_place *p)
{
    return p->asked != 0;
}

static bool all_free(const struct hwmc_detector *r)
{
    for (uint32_t i = 0; i < HWMC_DETECTOR_PLACES; i++)
        if (is_taken(&r->place[i]))
            return false;
    return true;
}

uint32_t hwmc_detector_members(const uint32_t *host, uint32_t size, bool *seen, uint32_t *member)
{
    uint32_t num = 0;

    for (uint32_t i = 0; i < size; i++)
        if (!seen[host[i]]) {
            seen[host[i]] = true;
            member[num++] = i;
        }
    return num;
}

void hwmc_detector_init(struct hwmc_detector *r, const struct hwmc_detector_cfg *cfg, uint64_t now)
{
    assert(cfg->limit_ns > 0 && cfg->rank < cfg->size);
    memset(r, 0, sizeof(*r));
    r->cfg = *cfg;
    r->next = cfg->size;
    r->round_at = now;
    r->look_ns = HWMC_DETECTOR_LOOK_NS;
    r->look_at = now + r->look_ns;
}

/* The next member of this round; false: there is none. */
static bool take_member(struct hwmc_detector *r, struct hwmc_detector_place *p)
{
    if (r->next == r->cfg.rank)
        r->next++;
    if (r->next >= r->cfg.size)
        return false;
    *p = (struct hwmc_detector_place){.member = r->next++};
    return true;
}

/* Rails whose silence says that the member may have failed; 0: it says nothing. */
static uint32_t telling_rails(const struct hwmc_detector *r, const struct hwmc_detector_place *p)
{
    if (r->cfg.must)
        return p->silent & p->counted & r->cfg.must;
    return p->counted == p->asked ? p->silent : 0;
}

static bool is_due(const struct hwmc_detector *r, const struct hwmc_detector_place *p, uint64_t now)
{
    return is_taken(p) && p->asked_at + again_ns(r) <= now;
}

/* Members who have not answered and need not: their turn comes again in the next round. */
static void pass_over(struct hwmc_detector *r, uint64_t now)
{
    for (uint32_t i = 0; i < HWMC_DETECTOR_PLACES; i++)
        if (is_due(r, &r->place[i], now) && !telling_rails(r, &r->place[i]))
            r->place[i].asked = r->place[i].silent = r->place[i].counted = 0;
}

bool hwmc_detector_next_ask(struct hwmc_detector *r, uint32_t *place, uint32_t *rails, uint64_t now)
{
    pass_over(r, now);
    for (uint32_t i = 0; i < HWMC_DETECTOR_PLACES; i++)
        if (is_due(r, &r->place[i], now)) {
            *place = i;
            *rails = r->place[i].silent;
            return true;
        }
    if (r->next >= r->cfg.size && r->round_at <= now && all_free(r)) {
        r->next = 0;
        r->round_at = now + again_ns(r);
    }
    *rails = 0;
    for (uint32_t i = 0; i < HWMC_DETECTOR_PLACES && r->next < r->cfg.size; i++)
        if (!is_taken(&r->place[i])) {
            *place = i;
            return take_member(r, &r->place[i]);
        }
    return false;
}

static bool silence_suffices(const struct hwmc_detector *r, const struct hwmc_detector_place *p)
{
    return r->cfg.must ? (p->silent & r->cfg.must) == 0 : p->silent != p->asked;
}

void hwmc_detector_asked(struct hwmc_detector *r, uint32_t place, uint32_t rails, uint32_t counted,
                         uint64_t now)
{
    struct hwmc_detector_place *p = &r->place[place];

    if (!is_taken(p)) {
        *p = (struct hwmc_detector_place){.member = p->member,
                                          .asked = rails,
                                          .silent = rails,
                                          .counted = rails & counted,
                                          .since = now};
        r->look_ns = HWMC_DETECTOR_LOOK_NS;
        r->look_at = now + r->look_ns;
    }
    p->asked_at = now;
    if (rails == 0 || (r->cfg.must && (p->silent & r->cfg.must) == 0))
        p->asked = p->silent = p->counted = 0;
}

bool hwmc_detector_on_answer(struct hwmc_detector *r, uint32_t place, uint32_t rails)
{
    struct hwmc_detector_place *p = &r->place[place];

    p->silent &= ~rails;
    if (is_taken(p) && !silence_suffices(r, p))
        return false;
    p->asked = p->silent = p->counted = 0;
    return true;
}

bool hwmc_detector_failed(const struct hwmc_detector *r, uint64_t now, uint32_t *member,
                          uint32_t *rails)
{
    for (uint32_t i = 0; i < HWMC_DETECTOR_PLACES; i++) {
        const struct hwmc_detector_place *p = &r->place[i];

        if (!is_taken(p) || !telling_rails(r, p) || now - p->since < r->cfg.limit_ns)
            continue;
        *member = p->member;
        *rails = telling_rails(r, p);
        return true;
    }
    return false;
}

uint64_t hwmc_detector_next_timer(const struct hwmc_detector *r)
{
    uint64_t at = UINT64_MAX;

    for (uint32_t i = 0; i < HWMC_DETECTOR_PLACES; i++) {
        const struct hwmc_detector_place *p = &r->place[i];

        if (!is_taken(p))
            continue;
        if (telling_rails(r, p))
            at = p->since + r->cfg.limit_ns < at ? p->since + r->cfg.limit_ns : at;
        at = p->asked_at + again_ns(r) < at ? p->asked_at + again_ns(r) : at;
    }
    if (at == UINT64_MAX)
        return r->round_at;
    return r->look_at < at ? r->look_at : at;
}

void hwmc_detector_on_timer(struct hwmc_detector *r, uint64_t now)
{
    if (r->look_at > now)
        return;
    r->look_ns = r->look_ns < again_ns(r) ? 2 * r->look_ns : r->look_ns;
    r->look_at = now + r->look_ns;
}

void hwmc_detector_check(const struct hwmc_detector *r)
{
    assert(r->next <= r->cfg.size);
    for (uint32_t i = 0; i < HWMC_DETECTOR_PLACES; i++) {
        const struct hwmc_detector_place *p = &r->place[i];

        assert((p->silent & ~p->asked) == 0 && (p->counted & ~p->asked) == 0);
        if (!is_taken(p))
            continue;
        assert(p->silent != 0 && !silence_suffices(r, p));
        assert(p->since <= p->asked_at);
        assert(p->member < r->cfg.size && p->member != r->cfg.rank);
    }
}
