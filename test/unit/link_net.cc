// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include "link_net.h"

#include <algorithm>
#include <gtest/gtest.h>

LinkNet::LinkNet(uint8_t lanes, uint8_t streams, uint16_t tells, uint32_t usable)
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
        bcast_hw_link_init(&e.link, &cfg, &e.counts, usable, now);
        e.taken.resize(streams);
        e.posted.resize(streams);
        e.out.resize(lanes);
        e.cut.resize(lanes);
        e.sent_by.resize(lanes);
    }
}

void LinkNet::pump(int end)
{
    End &e = ends[end];
    bcast_hw_link_tx tx;

    if (e.busy)
        return;
    for (int n = 0; bcast_hw_link_next_send(&e.link, &tx, now); n++) {
        ASSERT_LT(n, 10000) << "sends without end";
        bcast_hw_link_check(&e.link);
        ASSERT_NE(BCAST_HW_LINK_OFF, e.link.lanes[tx.lane].state);
        e.out[tx.lane].push_back({now + latency, tx});
        if (tx.kind == BCAST_HW_LINK_FRAME)
            e.sent_by[tx.lane]++;
    }
    bcast_hw_link_check(&e.link);
}

void LinkNet::post(int end, uint32_t stream, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; i++)
        EXPECT_EQ(ends[end].posted[stream]++, bcast_hw_link_post(&ends[end].link, stream));
    pump(end);
}

void LinkNet::cut(uint32_t lane, bool forward, bool back)
{
    ends[0].cut[lane] = forward;
    ends[1].cut[lane] = back;
}

void LinkNet::heal(uint32_t lane)
{
    for (End &e : ends) {
        e.cut[lane] = false;
        for (Message &m : e.out[lane])
            m.at = std::max(m.at, now + latency);
    }
}

void LinkNet::lose(uint32_t lane, uint64_t second_end_later)
{
    for (End &e : ends)
        e.out[lane].clear();
    bcast_hw_link_on_lost(&ends[0].link, lane, now);
    bcast_hw_link_check(&ends[0].link);
    losses.push_back({now + second_end_later, 1, lane});
    pump(0);
}

void LinkNet::usable(uint32_t lane)
{
    losses.erase(std::remove_if(losses.begin(), losses.end(),
                                [&](const Later &l) {
                                    if (l.lane == lane)
                                        bcast_hw_link_on_lost(&ends[l.end].link, lane, now);
                                    return l.lane == lane;
                                }),
                 losses.end());
    for (int end = 0; end < 2; end++)
        if (state(end, lane) == BCAST_HW_LINK_OFF) {
            ends[end].out[lane].clear(); // of the connection before
            bcast_hw_link_on_usable(&ends[end].link, lane, now);
            pump(end);
        }
}

void LinkNet::busy(int end, bool on)
{
    ends[end].busy = on;
    pump(end);
}

void LinkNet::doubt(int end, uint32_t lane)
{
    bcast_hw_link_doubt(&ends[end].link, lane, now);
    pump(end);
}

void LinkNet::deliver(int from, uint32_t lane)
{
    End &to = ends[1 - from];
    bcast_hw_link_tx m = ends[from].out[lane].front().tx;

    ends[from].out[lane].pop_front();
    if (m.kind == BCAST_HW_LINK_FRAME || m.kind == BCAST_HW_LINK_ACK ||
        m.kind == BCAST_HW_LINK_NAK) {
        EXPECT_NE(BCAST_HW_BAD, bcast_hw_link_on_ack(&to.link, lane, m.stream, m.ack,
                                                     m.kind == BCAST_HW_LINK_NAK, now));
    }
    if (m.kind == BCAST_HW_LINK_FRAME &&
        bcast_hw_link_on_frame(&to.link, lane, m.stream, m.number, now) == BCAST_HW_PLACE) {
        EXPECT_EQ(to.taken[m.stream]++, m.number);
    }
    if (m.kind == BCAST_HW_LINK_PROBE)
        bcast_hw_link_on_probe(&to.link, lane, m.number, m.doubts, now);
    if (m.kind == BCAST_HW_LINK_ANSWER)
        bcast_hw_link_on_answer(&to.link, lane, m.number, now);
    bcast_hw_link_check(&to.link);
    pump(1 - from);
}

// The earliest thing that can happen.
bool LinkNet::step(uint64_t until)
{
    uint64_t at = until;
    int end = -1, lane = -1;
    size_t loss = losses.size();

    for (int i = 0; i < 2; i++) {
        if (!ends[i].busy && bcast_hw_link_next_timer(&ends[i].link) < at) {
            at = bcast_hw_link_next_timer(&ends[i].link);
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
        bcast_hw_link_on_lost(&ends[l.end].link, l.lane, now);
        pump(l.end);
    } else if (lane >= 0) {
        deliver(end, (uint32_t) lane);
    } else if (end >= 0) {
        bcast_hw_link_on_timer(&ends[end].link, now);
        bcast_hw_link_check(&ends[end].link);
        pump(end);
    } else {
        return false;
    }
    return true;
}

void LinkNet::run(uint64_t until)
{
    for (int n = 0; step(until); n++)
        ASSERT_LT(n, 5000000) << "events without end";
}
