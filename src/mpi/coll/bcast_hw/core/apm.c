/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * apm: see apm.h.
 */
#include "apm.h"

#include <assert.h>
#include <string.h>

#define COMM(name) (1u << BCAST_HW_APM_##name)
#define PATH(name) (1u << BCAST_HW_APM_##name)

/* Which communication state may follow which, a bit each (10.3.1); RESET and ERR may follow every
 * one. */
static const uint8_t follows[] = {
    [BCAST_HW_APM_RESET] = COMM(INIT),
    [BCAST_HW_APM_INIT] = COMM(INIT) | COMM(RTR),
    [BCAST_HW_APM_RTR] = COMM(RTS),
    [BCAST_HW_APM_RTS] = COMM(RTS) | COMM(SQD) | COMM(SQE),
    [BCAST_HW_APM_SQD] = COMM(SQD) | COMM(RTS) | COMM(SQE),
    [BCAST_HW_APM_SQE] = COMM(RTS),
    [BCAST_HW_APM_ERR] = 0,
};

/* In which communication and path migration states an event is allowed, a bit each. The device goes
 * through ARMED unseen, so that a migration may be told of in REARM. */
static const struct {
    uint8_t comm, path;
} allows[BCAST_HW_APM_EVENTS] = {
    [BCAST_HW_APM_ON_SPECIFY] = {COMM(INIT) | COMM(RTR) | COMM(RTS) | COMM(SQD),
                                 PATH(MIGRATED) | PATH(REARM)},
    [BCAST_HW_APM_ON_LOAD] = {COMM(RTR) | COMM(RTS) | COMM(SQD), PATH(MIGRATED) | PATH(REARM)},
    [BCAST_HW_APM_ON_ARMED] = {COMM(RTS) | COMM(SQD) | COMM(SQE), PATH(REARM)},
    [BCAST_HW_APM_ON_MIGRATE] = {COMM(RTS), PATH(ARMED)},
    [BCAST_HW_APM_ON_MIGRATED] = {COMM(RTS) | COMM(SQD) | COMM(SQE), PATH(REARM) | PATH(ARMED)},
    [BCAST_HW_APM_ON_MIG_FAILED] = {COMM(RTS) | COMM(SQD) | COMM(SQE),
                                    PATH(MIGRATED) | PATH(REARM) | PATH(ARMED)},
};

void bcast_hw_apm_init(struct bcast_hw_apm *m, bool alternate)
{
    memset(m, 0, sizeof(*m));
    m->path = BCAST_HW_APM_MIGRATED;
    m->comm = BCAST_HW_APM_RESET;
    m->alternate = alternate;
    m->active[0] = m->active[1] = true;
}

static void reset(struct bcast_hw_apm *m)
{
    m->path = BCAST_HW_APM_MIGRATED;
    m->comm = BCAST_HW_APM_RESET;
    m->primary = 0;
    m->specified = m->asked = m->moving = m->doubted = false;
}

enum bcast_hw_apm_verdict bcast_hw_apm_on_comm(struct bcast_hw_apm *m, enum bcast_hw_apm_comm to)
{
    if (to == BCAST_HW_APM_RESET) {
        reset(m);
        return BCAST_HW_APM_TAKEN;
    }
    if (to != BCAST_HW_APM_ERR && (follows[m->comm] >> to & 1) == 0)
        return BCAST_HW_APM_ILLEGAL;
    m->comm = to;
    if (to == BCAST_HW_APM_ERR)
        m->moving = true;
    return BCAST_HW_APM_TAKEN;
}

/* The alternate path is the primary one now. */
static void migrated(struct bcast_hw_apm *m)
{
    m->path = BCAST_HW_APM_MIGRATED;
    m->primary ^= 1;
    m->specified = false;
    m->asked_for_last = m->asked;
    m->doubted = !m->asked;
    m->asked = false;
}

static bool is_request(enum bcast_hw_apm_event ev)
{
    return ev == BCAST_HW_APM_ON_SPECIFY || ev == BCAST_HW_APM_ON_LOAD ||
           ev == BCAST_HW_APM_ON_MIGRATE;
}

static bool allowed(const struct bcast_hw_apm *m, enum bcast_hw_apm_event ev)
{
    if ((allows[ev].comm >> m->comm & 1) == 0 || (allows[ev].path >> m->path & 1) == 0)
        return false;
    if (ev == BCAST_HW_APM_ON_SPECIFY)
        return m->alternate;
    if (ev == BCAST_HW_APM_ON_LOAD)
        return m->specified;
    return ev != BCAST_HW_APM_ON_MIGRATE || !m->asked;
}

enum bcast_hw_apm_verdict bcast_hw_apm_on_event(struct bcast_hw_apm *m, enum bcast_hw_apm_event ev)
{
    if (!allowed(m, ev))
        return is_request(ev) ? BCAST_HW_APM_ILLEGAL : BCAST_HW_APM_STALE;
    switch (ev) {
        case BCAST_HW_APM_ON_SPECIFY:
            m->specified = true;
            break;
        case BCAST_HW_APM_ON_LOAD:
            m->path = BCAST_HW_APM_REARM;
            m->doubted = false;
            break;
        case BCAST_HW_APM_ON_ARMED:
            m->path = BCAST_HW_APM_ARMED;
            break;
        case BCAST_HW_APM_ON_MIGRATE:
            m->asked = true;
            break;
        case BCAST_HW_APM_ON_MIGRATED:
            migrated(m);
            break;
        case BCAST_HW_APM_ON_MIG_FAILED:
            m->moving = true;
            break;
        case BCAST_HW_APM_EVENTS:
            assert(0);
    }
    return BCAST_HW_APM_TAKEN;
}

void bcast_hw_apm_on_port(struct bcast_hw_apm *m, uint8_t path, bool active)
{
    assert(path < 2);
    if (active && !m->active[path] && path != m->primary)
        m->doubted = false;
    m->active[path] = active;
}

void bcast_hw_apm_trust(struct bcast_hw_apm *m)
{
    m->doubted = false;
}

/* The primary path's port is down: only a path that is armed helps. */
static enum bcast_hw_apm_next escape(const struct bcast_hw_apm *m)
{
    if (m->path != BCAST_HW_APM_ARMED || !m->active[m->primary ^ 1])
        return BCAST_HW_APM_MOVE;
    if (m->asked || (allows[BCAST_HW_APM_ON_MIGRATE].comm >> m->comm & 1) == 0)
        return BCAST_HW_APM_NOTHING;
    return BCAST_HW_APM_MIGRATE;
}

enum bcast_hw_apm_next bcast_hw_apm_next(const struct bcast_hw_apm *m)
{
    if (m->comm == BCAST_HW_APM_RESET)
        return BCAST_HW_APM_NOTHING;
    if (m->moving)
        return BCAST_HW_APM_MOVE;
    if (!m->active[m->primary])
        return escape(m);
    if (m->path != BCAST_HW_APM_MIGRATED || !m->alternate)
        return BCAST_HW_APM_NOTHING;
    if (!m->active[m->primary ^ 1] || m->doubted)
        return BCAST_HW_APM_LATER;
    if (!m->specified)
        return allowed(m, BCAST_HW_APM_ON_SPECIFY) ? BCAST_HW_APM_SPECIFY : BCAST_HW_APM_NOTHING;
    return allowed(m, BCAST_HW_APM_ON_LOAD) ? BCAST_HW_APM_LOAD : BCAST_HW_APM_NOTHING;
}

void bcast_hw_apm_check(const struct bcast_hw_apm *m)
{
    assert(m->primary < 2 && m->path <= BCAST_HW_APM_ARMED && m->comm <= BCAST_HW_APM_ERR);
    if (m->path != BCAST_HW_APM_MIGRATED)
        assert(m->specified && m->comm >= BCAST_HW_APM_RTR);
    if (m->path == BCAST_HW_APM_ARMED)
        assert(m->comm >= BCAST_HW_APM_RTS);
    if (m->asked)
        assert(m->path == BCAST_HW_APM_ARMED);
    if (m->doubted)
        assert(m->path == BCAST_HW_APM_MIGRATED);
    if (m->specified)
        assert(m->alternate && m->comm >= BCAST_HW_APM_INIT);
    if (m->comm == BCAST_HW_APM_ERR)
        assert(m->moving);
    if (m->comm == BCAST_HW_APM_RESET)
        assert(m->path == BCAST_HW_APM_MIGRATED && m->primary == 0 && !m->specified && !m->asked &&
               !m->moving);
}
