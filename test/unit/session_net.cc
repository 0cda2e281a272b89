// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include "session_net.h"

#include <algorithm>
#include <gtest/gtest.h>

SessionNet::SessionNet(uint8_t lanes, uint8_t streams, uint16_t tells, uint32_t usable)
{
    cfg.lanes = lanes;
    cfg.streams = streams;
    cfg.tells = tells;
    cfg.suspect_ns = 50 * kMs;
    cfg.grace_ns = 50 * kMs;
    for (uint8_t s = 0; s < streams; s++)
        for (uint8_t k = 0; k < lanes; k++)
            cfg.prefers[s][k] = (uint8_t) ((s + k) % lanes);
    for (End &e : ends) {
        hwmc_session_init(&e.session, &cfg, &e.counts, usable, now);
        e.taken.resize(streams);
        e.posted.resize(streams);
        e.out.resize(lanes);
        e.cut.resize(lanes);
        e.sent_by.resize(lanes);
    }
}

void SessionNet::pump(int end)
{
    End &e = ends[end];
    hwmc_session_tx tx;

    if (e.busy)
        return;
    for (int n = 0; hwmc_session_next_send(&e.session, &tx, now); n++) {
        ASSERT_LT(n, 10000) << "sends without end";
        hwmc_session_check(&e.session);
        ASSERT_NE(HWMC_SESSION_OFF, e.session.lanes[tx.lane].state);
        e.out[tx.lane].push_back({now + latency, tx});
        if (tx.kind == HWMC_SESSION_FRAME)
            e.sent_by[tx.lane]++;
    }
    hwmc_session_check(&e.session);
}

void SessionNet::post(int end, uint32_t stream, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; i++)
        EXPECT_EQ(ends[end].posted[stream]++, hwmc_session_post(&ends[end].session, stream));
    pump(end);
}

void SessionNet::cut(uint32_t lane, bool forward, bool back)
{
    ends[0].cut[lane] = forward;
    ends[1].cut[lane] = back;
}

void SessionNet::heal(uint32_t lane)
{
    for (End &e : ends) {
        e.cut[lane] = false;
        for (Message &m : e.out[lane])
            m.at = std::max(m.at, now + latency);
    }
}

void SessionNet::lose(uint32_t lane, uint64_t second_end_later)
{
    for (End &e : ends)
        e.out[lane].clear();
    hwmc_session_on_lost(&ends[0].session, lane, now);
    hwmc_session_check(&ends[0].session);
    losses.push_back({now + second_end_later, 1, lane});
    pump(0);
}

void SessionNet::usable(uint32_t lane)
{
    losses.erase(std::remove_if(losses.begin(), losses.end(),
                                [&](const Later &l) {
                                    if (l.lane == lane)
                                        hwmc_session_on_lost(&ends[l.end].session, lane, now);
                                    return l.lane == lane;
                                }),
                 losses.end());
    for (int end = 0; end < 2; end++)
        if (state(end, lane) == HWMC_SESSION_OFF) {
            ends[end].out[lane].clear(); // of the connection before
            hwmc_session_on_usable(&ends[end].session, lane, now);
            pump(end);
        }
}

void SessionNet::busy(int end, bool on)
{
    ends[end].busy = on;
    pump(end);
}

void SessionNet::suspect(int end, uint32_t lane)
{
    hwmc_session_suspect(&ends[end].session, lane, now);
    pump(end);
}

void SessionNet::deliver(int from, uint32_t lane)
{
    End &to = ends[1 - from];
    hwmc_session_tx m = ends[from].out[lane].front().tx;

    ends[from].out[lane].pop_front();
    if (m.kind == HWMC_SESSION_FRAME || m.kind == HWMC_SESSION_ACK || m.kind == HWMC_SESSION_NAK) {
        EXPECT_NE(HWMC_BAD, hwmc_session_on_ack(&to.session, lane, m.stream, m.ack,
                                                m.kind == HWMC_SESSION_NAK, now));
    }
    if (m.kind == HWMC_SESSION_FRAME &&
        hwmc_session_on_frame(&to.session, lane, m.stream, m.number, now) == HWMC_PLACE) {
        EXPECT_EQ(to.taken[m.stream]++, m.number);
    }
    if (m.kind == HWMC_SESSION_PROBE)
        hwmc_session_on_probe(&to.session, lane, m.number, m.doubts, now);
    if (m.kind == HWMC_SESSION_ANSWER)
        hwmc_session_on_answer(&to.session, lane, m.number, now);
    hwmc_session_check(&to.session);
    pump(1 - from);
}

// The earliest thing that can happen.
bool SessionNet::step(uint64_t until)
{
    uint64_t at = until;
    int end = -1, lane = -1;
    size_t loss = losses.size();

    for (int i = 0; i < 2; i++) {
        if (!ends[i].busy && hwmc_session_next_timer(&ends[i].session) < at) {
            at = hwmc_session_next_timer(&ends[i].session);
            end = i;
        }
    }
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < cfg.lanes; k++)
            if (!ends[1 - i].busy && !ends[i].cut[k] && !ends[i].out[k].empty() &&
                ends[i].out[k].front().at < at) {
                at = ends[i].out[k].front().at;
                end = i;
                lane = (int) k;
            }
    for (size_t i = 0; i < losses.size(); i++)
        if (losses[i].at < at) {
            at = losses[i].at;
            loss = i;
        }
    now = std::max(now, at);
    if (loss < losses.size()) {
        Later l = losses[loss];

        losses.erase(losses.begin() + (long) loss);
        ends[0].out[l.lane].clear();
        ends[1].out[l.lane].clear();
        hwmc_session_on_lost(&ends[l.end].session, l.lane, now);
        pump(l.end);
    } else if (lane >= 0) {
        deliver(end, (uint32_t) lane);
    } else if (end >= 0) {
        hwmc_session_on_timer(&ends[end].session, now);
        hwmc_session_check(&ends[end].session);
        pump(end);
    } else {
        return false;
    }
    return true;
}

void SessionNet::run(uint64_t until)
{
    for (int n = 0; step(until); n++)
        ASSERT_LT(n, 5000000) << "events without end";
}
