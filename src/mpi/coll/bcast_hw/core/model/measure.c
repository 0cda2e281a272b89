/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * measure: see measure.h.
 */
#include "measure.h"

#include <assert.h>
#include <string.h>

static void measure_ask(struct hwmc_measure *m, uint32_t messages)
{
    m->serial++;
    m->left = messages;
    m->asked_at = 0;
}

static void begin_lane(struct hwmc_measure *m)
{
    m->lane = (uint32_t) __builtin_ctz(m->lanes);
    m->lanes &= m->lanes - 1;
    m->phase = HWMC_MEASURE_PING;
    m->answered = 0;
    m->rtt = UINT64_MAX;
    m->took = m->brief ? 0 : UINT64_MAX;
    m->row = UINT64_MAX;
    m->steps = 0;
    m->train = m->brief ? m->brief : HWMC_MEASURE_FIRST;
    measure_ask(m, 1);
}

void hwmc_measure_start(struct hwmc_measure *m, uint32_t peer, uint32_t lanes, uint32_t brief)
{
    assert(lanes != 0 && lanes >> HWMC_MEASURE_LANES == 0);
    memset(m, 0, sizeof(*m));
    m->peer = peer;
    m->lanes = lanes;
    m->brief = brief;
    begin_lane(m);
}

uint32_t hwmc_measure_train(uint32_t mbit)
{
    const uint64_t segments = HWMC_MEASURE_TRAIN_NS * mbit / 8000 / HWMC_MEASURE_BYTES;

    return segments < HWMC_MEASURE_FIRST  ? HWMC_MEASURE_FIRST
           : segments > HWMC_MEASURE_LAST ? HWMC_MEASURE_LAST
                                          : (uint32_t) segments;
}

static uint32_t mbit_of(uint64_t bytes, uint64_t ns)
{
    uint64_t mbit = bytes * 8000 / (ns > 0 ? ns : 1);

    return mbit < 1 ? 1 : mbit > 10000000 ? 10000000 : (uint32_t) mbit;
}

/* 0 where that is negative. */
static uint64_t minus_u64(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* A bucket fills at the lane's rate, also while an answer travels. What trains in a row brought
 * more than that gave meanwhile came from it; it is empty when one is less than twice as fast. One
 * that was late for another reason says nothing of it, and meanwhile it has filled. */
static uint64_t burst_of(const struct hwmc_measure *m, uint32_t mbit)
{
    const uint64_t between = m->rtt * mbit / 8000;
    uint64_t bytes = 0, most = 0;

    for (uint32_t i = 0; i < m->steps; i++) {
        const uint64_t train = (uint64_t) HWMC_MEASURE_FIRST * HWMC_MEASURE_BYTES << i;
        const uint64_t rated = minus_u64(m->grown_ns[i], m->rtt) * mbit / 8000;
        const bool is_fast = train >= 2 * rated;

        bytes = is_fast || bytes > 0 ? minus_u64(minus_u64(bytes, between) + train, rated) : 0;
        most = bytes > most ? bytes : most;
        if (!is_fast)
            bytes = 0;
    }
    return most;
}

static void end_lane(struct hwmc_measure *m)
{
    const uint64_t bytes = (uint64_t) m->train * HWMC_MEASURE_BYTES;
    const uint64_t trip = m->brief ? m->trip[HWMC_MEASURE_PINGS / 2] : m->rtt;
    struct hwmc_measured *of = &m->of[m->lane];

    of->latency_ns = m->rtt / 2;
    of->median_ns = m->trip[HWMC_MEASURE_PINGS / 2] / 2;
    of->mbit = m->brief == HWMC_MEASURE_NONE
                   ? 1
                   : mbit_of(bytes, m->took > trip ? m->took - trip : m->took);
    if (!m->brief) {
        of->message_ns =
            m->row > m->rtt ? (uint32_t) ((m->row - m->rtt) / (HWMC_MEASURE_ROW - 1)) : 0;
        of->burst = burst_of(m, of->mbit);
    }
    if (m->lanes != 0)
        begin_lane(m);
    else
        m->phase = HWMC_MEASURE_DONE;
}

static void keep_trip(struct hwmc_measure *m, uint64_t ns)
{
    uint32_t i = m->answered;

    for (; i > 0 && m->trip[i - 1] > ns; i--)
        m->trip[i] = m->trip[i - 1];
    m->trip[i] = ns;
}

static void on_ping(struct hwmc_measure *m, uint64_t ns)
{
    keep_trip(m, ns);
    m->rtt = ns < m->rtt ? ns : m->rtt;
    if (++m->answered < HWMC_MEASURE_PINGS) {
        measure_ask(m, 1);
        return;
    }
    m->answered = 0;
    if (m->brief == HWMC_MEASURE_NONE) {
        end_lane(m);
        return;
    }
    m->phase = m->brief ? HWMC_MEASURE_TRAIN : HWMC_MEASURE_IN_ROW;
    measure_ask(m, m->brief ? m->train : HWMC_MEASURE_ROW);
}

static void on_row(struct hwmc_measure *m, uint64_t ns)
{
    m->row = ns < m->row ? ns : m->row;
    if (++m->answered < HWMC_MEASURE_ROWS) {
        measure_ask(m, HWMC_MEASURE_ROW);
        return;
    }
    m->phase = HWMC_MEASURE_GROW;
    m->answered = 0;
    measure_ask(m, m->train);
}

/* A train that seems long enough is sent once more: the other end may have been late for once. */
static void on_growing(struct hwmc_measure *m, uint64_t ns)
{
    uint64_t *least = &m->grown_ns[m->steps];

    *least = m->answered == 0 || ns < *least ? ns : *least;
    if (*least < HWMC_MEASURE_TRAIN_NS + m->rtt && m->train < HWMC_MEASURE_LAST) {
        m->steps++;
        m->train *= 2;
        m->answered = 0;
    } else if (m->answered == 0 && m->train < HWMC_MEASURE_LAST) {
        m->answered = 1;
    } else {
        m->steps++;
        m->phase = HWMC_MEASURE_TRAIN;
        m->answered = 0;
    }
    measure_ask(m, m->train);
}

static void on_train(struct hwmc_measure *m, uint64_t ns)
{
    if (!m->brief)
        m->took = ns < m->took ? ns : m->took;
    else if (m->answered > 0)
        m->took += ns / (HWMC_MEASURE_TRAINS - 1);
    if (++m->answered < HWMC_MEASURE_TRAINS)
        measure_ask(m, m->train);
    else
        end_lane(m);
}

enum hwmc_verdict hwmc_measure_on_answer(struct hwmc_measure *m, const struct hwmc_msg *msg,
                                         uint64_t now)
{
    uint64_t ns = now - m->asked_at;

    if (m->phase == HWMC_MEASURE_IDLE || msg->peer != m->peer || msg->bid > m->serial)
        return HWMC_BAD;
    if (m->phase == HWMC_MEASURE_DONE || msg->bid < m->serial)
        return HWMC_STALE;
    if (m->left > 0)
        return HWMC_BAD;
    if (m->phase == HWMC_MEASURE_PING)
        on_ping(m, ns);
    else if (m->phase == HWMC_MEASURE_IN_ROW)
        on_row(m, ns);
    else if (m->phase == HWMC_MEASURE_GROW)
        on_growing(m, ns);
    else
        on_train(m, ns);
    return HWMC_TAKEN;
}

int hwmc_measure_next_send(struct hwmc_measure *m, struct hwmc_msg *tx, uint64_t now)
{
    if (m->left == 0)
        return 0;
    if (m->asked_at == 0)
        m->asked_at = now;
    m->left--;
    *tx = (struct hwmc_msg){
        .type = HWMC_MSG_MEASURE,
        .flags = m->left == 0 ? HWMC_FLAG_AT_ONCE : 0,
        .peer = m->peer,
        .bid = m->serial,
        .measure = {.lane = m->lane,
                    .bytes = m->phase == HWMC_MEASURE_PING     ? 0
                             : m->phase == HWMC_MEASURE_IN_ROW ? HWMC_MEASURE_SHORT
                                                               : HWMC_MEASURE_BYTES},
    };
    return 1;
}
