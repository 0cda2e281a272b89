/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * apm: see apm.h.
 */
#include "apm.h"

#include <assert.h>
#include <string.h>

#define COMM(name) (1u << HWMC_APM_##name)
#define PATH(name) (1u << HWMC_APM_##name)

/* Which communication state may follow which, a bit each (10.3.1); RESET and ERR may follow every
 * one. */
static const uint8_t comm_follows[] = {
    [HWMC_APM_RESET] = COMM(INIT),
    [HWMC_APM_INIT] = COMM(INIT) | COMM(RTR),
    [HWMC_APM_RTR] = COMM(RTS),
    [HWMC_APM_RTS] = COMM(RTS) | COMM(SQD) | COMM(SQE),
    [HWMC_APM_SQD] = COMM(SQD) | COMM(RTS) | COMM(SQE),
    [HWMC_APM_SQE] = COMM(RTS),
    [HWMC_APM_ERR] = 0,
};

/* In which communication and path migration states an event is allowed, a bit each. The device goes
 * through ARMED unseen, so that a migration may be told of in REARM. */
static const struct {
    uint8_t comm, path;
} allows[HWMC_APM_EVENTS] = {
    [HWMC_APM_ON_SPECIFY] = {COMM(INIT) | COMM(RTR) | COMM(RTS) | COMM(SQD),
                             PATH(MIGRATED) | PATH(REARM)},
    [HWMC_APM_ON_LOAD] = {COMM(RTR) | COMM(RTS) | COMM(SQD), PATH(MIGRATED) | PATH(REARM)},
    [HWMC_APM_ON_ARMED] = {COMM(RTS) | COMM(SQD) | COMM(SQE), PATH(REARM)},
    [HWMC_APM_ON_MIGRATE] = {COMM(RTS), PATH(ARMED)},
    [HWMC_APM_ON_MIGRATED] = {COMM(RTS) | COMM(SQD) | COMM(SQE), PATH(REARM) | PATH(ARMED)},
    [HWMC_APM_ON_MIG_FAILED] = {COMM(RTS) | COMM(SQD) | COMM(SQE),
                                PATH(MIGRATED) | PATH(REARM) | PATH(ARMED)},
};

void hwmc_apm_init(struct hwmc_apm *m, bool alternate)
{
    memset(m, 0, sizeof(*m));
    m->path = HWMC_APM_MIGRATED;
    m->comm = HWMC_APM_RESET;
    m->alternate = alternate;
    m->active[0] = m->active[1] = true;
}

static void apm_reset(struct hwmc_apm *m)
{
    m->path = HWMC_APM_MIGRATED;
    m->comm = HWMC_APM_RESET;
    m->primary = 0;
    m->specified = m->moving = false;
    m->open = HWMC_APM_SETTLED;
}

enum hwmc_apm_verdict hwmc_apm_on_comm(struct hwmc_apm *m, enum hwmc_apm_comm to)
{
    if (to == HWMC_APM_RESET) {
        apm_reset(m);
        return HWMC_APM_TAKEN;
    }
    if (to != HWMC_APM_ERR && (comm_follows[m->comm] >> to & 1) == 0)
        return HWMC_APM_ILLEGAL;
    m->comm = to;
    if (to == HWMC_APM_ERR)
        m->moving = true;
    return HWMC_APM_TAKEN;
}

/* The alternate path is the primary one now. */
static void note_migrated(struct hwmc_apm *m)
{
    m->path = HWMC_APM_MIGRATED;
    m->primary ^= 1;
    m->specified = false;
    m->last_by = m->open == HWMC_APM_ASKED ? HWMC_APM_BY_SOFTWARE : HWMC_APM_BY_HARDWARE;
    m->open = m->open == HWMC_APM_ASKED ? HWMC_APM_SETTLED : HWMC_APM_DOUBTED;
}

static bool is_request(enum hwmc_apm_event ev)
{
    return ev == HWMC_APM_ON_SPECIFY || ev == HWMC_APM_ON_LOAD || ev == HWMC_APM_ON_MIGRATE;
}

static bool is_allowed(const struct hwmc_apm *m, enum hwmc_apm_event ev)
{
    if ((allows[ev].comm >> m->comm & 1) == 0 || (allows[ev].path >> m->path & 1) == 0)
        return false;
    if (ev == HWMC_APM_ON_SPECIFY)
        return m->alternate;
    if (ev == HWMC_APM_ON_LOAD)
        return m->specified;
    return ev != HWMC_APM_ON_MIGRATE || m->open != HWMC_APM_ASKED;
}

enum hwmc_apm_verdict hwmc_apm_on_event(struct hwmc_apm *m, enum hwmc_apm_event ev)
{
    if (!is_allowed(m, ev))
        return is_request(ev) ? HWMC_APM_ILLEGAL : HWMC_APM_STALE;
    switch (ev) {
        case HWMC_APM_ON_SPECIFY:
            m->specified = true;
            break;
        case HWMC_APM_ON_LOAD:
            m->path = HWMC_APM_REARM;
            m->open = HWMC_APM_SETTLED;
            break;
        case HWMC_APM_ON_ARMED:
            m->path = HWMC_APM_ARMED;
            break;
        case HWMC_APM_ON_MIGRATE:
            m->open = HWMC_APM_ASKED;
            break;
        case HWMC_APM_ON_MIGRATED:
            note_migrated(m);
            break;
        case HWMC_APM_ON_MIG_FAILED:
            m->moving = true;
            break;
        case HWMC_APM_EVENTS:
            assert(0);
    }
    return HWMC_APM_TAKEN;
}

void hwmc_apm_on_port(struct hwmc_apm *m, uint8_t path, bool active)
{
    assert(path < 2);
    if (active && !m->active[path] && path != m->primary)
        hwmc_apm_trust(m);
    m->active[path] = active;
}

void hwmc_apm_trust(struct hwmc_apm *m)
{
    if (m->open == HWMC_APM_DOUBTED)
        m->open = HWMC_APM_SETTLED;
}

/* The primary path's port is down: only a path that is armed helps. */
static enum hwmc_apm_next next_escape(const struct hwmc_apm *m)
{
    if (m->path != HWMC_APM_ARMED || !m->active[m->primary ^ 1])
        return HWMC_APM_MOVE;
    if (m->open == HWMC_APM_ASKED || (allows[HWMC_APM_ON_MIGRATE].comm >> m->comm & 1) == 0)
        return HWMC_APM_NOTHING;
    return HWMC_APM_MIGRATE;
}

enum hwmc_apm_next hwmc_apm_next(const struct hwmc_apm *m)
{
    if (m->comm == HWMC_APM_RESET)
        return HWMC_APM_NOTHING;
    if (m->moving)
        return HWMC_APM_MOVE;
    if (!m->active[m->primary])
        return next_escape(m);
    if (m->path != HWMC_APM_MIGRATED || !m->alternate)
        return HWMC_APM_NOTHING;
    if (!m->active[m->primary ^ 1] || m->open == HWMC_APM_DOUBTED)
        return HWMC_APM_LATER;
    if (!m->specified)
        return is_allowed(m, HWMC_APM_ON_SPECIFY) ? HWMC_APM_SPECIFY : HWMC_APM_NOTHING;
    return is_allowed(m, HWMC_APM_ON_LOAD) ? HWMC_APM_LOAD : HWMC_APM_NOTHING;
}

void hwmc_apm_check(const struct hwmc_apm *m)
{
    assert(m->primary < 2 && m->path <= HWMC_APM_ARMED && m->comm <= HWMC_APM_ERR);
    if (m->path != HWMC_APM_MIGRATED)
        assert(m->specified && m->comm >= HWMC_APM_RTR);
    if (m->path == HWMC_APM_ARMED)
        assert(m->comm >= HWMC_APM_RTS);
    if (m->open == HWMC_APM_ASKED)
        assert(m->path == HWMC_APM_ARMED);
    if (m->open == HWMC_APM_DOUBTED)
        assert(m->path == HWMC_APM_MIGRATED);
    if (m->specified)
        assert(m->alternate && m->comm >= HWMC_APM_INIT);
    if (m->comm == HWMC_APM_ERR)
        assert(m->moving);
    if (m->comm == HWMC_APM_RESET)
        assert(m->path == HWMC_APM_MIGRATED && m->primary == 0 && !m->specified &&
               m->open == HWMC_APM_SETTLED && !m->moving);
}
