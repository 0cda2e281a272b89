/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sessions over lanes in memory: what is kept, pinned and given back, and in which order the upper
 * layer gets it. Which lane is used when is session_test's.
 */
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "session/session_wire.h"
#include "session/virtual_lane.h"
}

namespace {

constexpr uint32_t kHosts = 40;

struct Host;

struct Message {
    std::string head;
    std::string body;   // as it was at the time of send
    const void *pinned; // or as it is when it leaves
    size_t lent_len;
    uint64_t tag;
};

// A lane of a host. What is sent waits in `out` until the test lets it go.
struct MemLane {
    hwmc_lane base;
    Host *host;
    uint32_t index;
    std::deque<std::pair<uint32_t, Message>> out; // to whom
    bool ready = true, broken = false;
    int closed = 0;
};

struct Host {
    hwmc_sessions *sessions;
    hwmc_session_counts counts = {};
    uint32_t rank;
    std::vector<std::unique_ptr<MemLane>> lanes;
    hwmc_lane *streams[2];
    std::vector<std::string> came[2];
    std::vector<uint64_t> sent;
    uint32_t from = UINT32_MAX; // of the last message of stream 2
    std::string said;
    void *ctx[2][2];
};

MemLane *lane_of(hwmc_lane *l)
{
    return reinterpret_cast<MemLane *>(l);
}

int ready(hwmc_lane *l, uint32_t)
{
    return lane_of(l)->ready ? HWMC_OK : HWMC_ERR_PEER;
}

int send(hwmc_lane *l, uint32_t peer, const void *head, size_t head_len, const void *body,
         size_t body_len)
{
    if (lane_of(l)->broken)
        return HWMC_ERR_PEER;
    lane_of(l)->out.push_back({peer,
                               {std::string((const char *) head, head_len),
                                std::string((const char *) body, body_len), nullptr, 0, 0}});
    return HWMC_OK;
}

int send_from(hwmc_lane *l, uint32_t peer, const void *head, size_t head_len, const void *body,
              size_t body_len, uint64_t tag)
{
    if (lane_of(l)->broken)
        return HWMC_ERR_PEER;
    lane_of(l)->out.push_back(
        {peer, {std::string((const char *) head, head_len), "", body, body_len, tag}});
    return HWMC_OK;
}

int none(hwmc_lane *)
{
    return 0;
}

int no_fd(hwmc_lane *)
{
    return -1;
}

uint64_t no_deadline(hwmc_lane *)
{
    return UINT64_MAX;
}

void no_address(hwmc_lane *, const void **addr, size_t *len)
{
    *addr = nullptr;
    *len = 0;
}

void close_lane(hwmc_lane *l)
{
    lane_of(l)->closed++;
}

void cut(hwmc_lane *l)
{
    MemLane *at = lane_of(l);

    at->broken = true;
    while (!at->out.empty()) {
        Message m = at->out.front().second;

        at->out.pop_front();
        if (m.pinned)
            hwmc_sessions_on_sent(hwmc_sessions_port(at->host->sessions, at->index), m.tag);
    }
    for (uint32_t peer = 0; peer < kHosts; peer++)
        hwmc_sessions_on_lost(hwmc_sessions_port(at->host->sessions, at->index), peer);
}

const hwmc_lane_ops mem_ops = {"mem", no_address, ready,       send, send_from,  none,
                               no_fd, none,       no_deadline, none, close_lane, cut};

class Links : public ::testing::Test {
  protected:
    static constexpr uint32_t kRaw = 2;

    static void on_recv(void *ctx, const void *head, size_t head_len, const void *body,
                        size_t body_len)
    {
        Host *h = static_cast<Host *>(static_cast<void **>(ctx)[0]);
        uintptr_t stream = reinterpret_cast<uintptr_t>(static_cast<void **>(ctx)[1]);

        h->came[stream].push_back(std::string((const char *) head, head_len) + "|" +
                                  std::string((const char *) body, body_len));
    }

    static void on_sent(void *ctx, uint64_t tag)
    {
        static_cast<Host *>(static_cast<void **>(ctx)[0])->sent.push_back(tag);
    }

    static void on_raw(void *ctx, uint32_t peer, const void *head, size_t head_len, const void *,
                       size_t)
    {
        Host *h = static_cast<Host *>(ctx);

        h->from = peer;
        h->said = std::string((const char *) head, head_len);
    }

    // `tells`: lanes that give back what was pinned to them.
    void open(uint32_t lanes, uint16_t tells)
    {
        hwmc_session_cfg cfg = {};

        cfg.lanes = (uint8_t) lanes;
        cfg.streams = 3;
        cfg.tells = tells;
        cfg.suspect_ns = cfg.grace_ns = patience;
        for (uint8_t s = 0; s < 3; s++)
            for (uint8_t k = 0; k < HWMC_SESSION_LANES_MAX; k++)
                cfg.prefers[s][k] = k < lanes ? k : HWMC_SESSION_NO_LANE;
        for (uint32_t i = 0; i < kHosts; i++)
            open_host(i, cfg);
    }

    void open_host(uint32_t rank, const hwmc_session_cfg &cfg)
    {
        Host *h = &hosts[rank];
        std::vector<hwmc_lane *> lanes;

        h->rank = rank;
        h->sessions = hwmc_sessions_create(rank, kHosts, &h->counts);
        for (uint32_t k = 0; k < cfg.lanes; k++) {
            h->lanes.push_back(std::make_unique<MemLane>());
            h->lanes[k]->base.ops = &mem_ops;
            h->lanes[k]->host = h;
            h->lanes[k]->index = k;
            lanes.push_back(&h->lanes[k]->base);
        }
        hwmc_sessions_open(h->sessions, &cfg, lanes.data());
        for (uintptr_t s = 0; s < 2; s++) {
            hwmc_lane_params params = {on_recv, nullptr, nullptr, on_sent, h->ctx[s]};

            h->ctx[s][0] = h;
            h->ctx[s][1] = reinterpret_cast<void *>(s);
            h->streams[s] = hwmc_virtual_lane_open(h->sessions, (uint32_t) s, &params);
        }
        hwmc_sessions_upper raw = {on_raw, nullptr, h};
        hwmc_sessions_use(h->sessions, kRaw, &raw);
    }

    void TearDown() override
    {
        for (Host &h : hosts) {
            for (hwmc_lane *s : h.streams)
                s->ops->close(s);
            hwmc_sessions_close(h.sessions);
            for (auto &l : h.lanes)
                EXPECT_EQ(1, l->closed);
        }
    }

    int say(uint32_t from, uint32_t to, const std::string &text, uint32_t stream = 0)
    {
        hwmc_lane *s = hosts[from].streams[stream];

        return s->ops->send(s, to, "h", 1, text.data(), text.size());
    }

    // What is under way on the lane comes.
    void carry(uint32_t from, uint32_t lane, size_t most = SIZE_MAX)
    {
        MemLane *l = hosts[from].lanes[lane].get();

        for (; !l->out.empty() && most > 0; most--) {
            auto [to, m] = l->out.front();

            l->out.pop_front();
            if (m.pinned) {
                m.body.assign((const char *) m.pinned, m.lent_len);
                hwmc_sessions_on_sent(hwmc_sessions_port(hosts[from].sessions, lane), m.tag);
            }
            hwmc_sessions_on_recv(hwmc_sessions_port(hosts[to].sessions, lane), m.head.data(),
                                  m.head.size(), m.body.data(), m.body.size());
        }
    }

    bool idle()
    {
        for (Host &h : hosts)
            for (auto &l : h.lanes)
                if (!l->out.empty())
                    return false;
        return true;
    }

    // For as long as it takes: sessions ask again for a lane by the clock. A minute is for ever.
    void settle()
    {
        for (auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
             std::chrono::steady_clock::now() < end;) {
            bool done = idle();

            for (Host &h : hosts) {
                for (uint32_t k = 0; k < h.lanes.size(); k++)
                    carry(h.rank, k);
                hwmc_sessions_poll(h.sessions);
                done = done && hwmc_sessions_flush(h.sessions) == HWMC_OK;
            }
            if (done && idle())
                return;
        }
        FAIL() << "does not come to rest";
    }

    // Lanes that are connected first are, and known to be good.
    void connect()
    {
        say(0, 1, "hello", 1);
        settle();
    }

    // Host 0 pins this body for host 1.
    void lend(const std::string &body)
    {
        hwmc_lane *s = hosts[0].streams[0];

        ASSERT_EQ(HWMC_OK, s->ops->send_from(s, 1, "h", 1, body.data(), body.size(), 7));
    }

    // A body of so many bytes that host 0 pins is its own again after the call, comes as it was,
    // and comes back once.
    void expect_given_back_at_once(size_t bytes)
    {
        std::string body(bytes, 'a');

        lend(body);
        EXPECT_EQ(std::vector<uint64_t>({7}), hosts[0].sent);
        std::fill(body.begin(), body.end(), 'b');
        settle();
        EXPECT_EQ("h|" + std::string(bytes, 'a'), hosts[1].came[0].at(0));
        EXPECT_EQ(std::vector<uint64_t>({7}), hosts[0].sent);
    }

    // The lane's end at `host` finds that it fails. What it was pinned comes back.
    void lose(uint32_t host, uint32_t lane, uint32_t peer)
    {
        MemLane *l = hosts[host].lanes[lane].get();

        l->ready = false;
        l->broken = true;
        for (auto &[to, m] : l->out)
            if (m.pinned)
                hwmc_sessions_on_sent(hwmc_sessions_port(hosts[host].sessions, lane), m.tag);
        l->out.clear();
        hwmc_sessions_on_lost(hwmc_sessions_port(hosts[host].sessions, lane), peer);
    }

    Host hosts[kHosts];
    uint64_t patience = UINT64_C(3600000000000); // ns; tests decide when a lane is lost
};

TEST_F(Links, CarriesStreamsAndTellsWhoSpeaks)
{
    open(2, 0);
    say(0, 1, "first");
    say(0, 1, "other", 1);
    say(2, 1, "second");
    ASSERT_EQ(HWMC_OK, hwmc_sessions_send(hosts[2].sessions, kRaw, 1, "raw", 3, "", 0, nullptr));
    settle();
    EXPECT_EQ(std::vector<std::string>({"h|first", "h|second"}), hosts[1].came[0]);
    EXPECT_EQ(std::vector<std::string>({"h|other"}), hosts[1].came[1]);
    EXPECT_EQ(2u, hosts[1].from);
    EXPECT_EQ("raw", hosts[1].said);
}

TEST_F(Links, TimersLookAtPeersThatHaveOne)
{
    uint64_t before;

    patience = 20000000;
    open(1, 0);
    for (uint32_t peer = 1; peer < kHosts; peer++)
        say(0, peer, "hello");
    settle();
    while (hwmc_sessions_deadline(hosts[0].sessions) != UINT64_MAX)
        hwmc_sessions_poll(hosts[0].sessions); // a timer that was of use no more fires once
    say(0, 7, "this one does not answer");
    before = hwmc_sessions_looks(hosts[0].sessions);
    while (hwmc_sessions_looks(hosts[0].sessions) == before)
        hwmc_sessions_poll(hosts[0].sessions);
    EXPECT_LE(hwmc_sessions_looks(hosts[0].sessions), before + 3) << "as if all had one";
    settle();
    EXPECT_EQ("h|this one does not answer", hosts[7].came[0].back());
}

TEST_F(Links, WhatIsMoreThanTheWindowWaits)
{
    open(1, 0);
    EXPECT_EQ(HWMC_SESSION_WINDOW, hwmc_sessions_room(hosts[0].sessions, 0, 1));
    for (uint32_t i = 0; i < 1000; i++) {
        ASSERT_EQ(HWMC_OK, say(0, 1, std::to_string(i)));
        EXPECT_LE(hosts[0].lanes[0]->out.size(), HWMC_SESSION_WINDOW);
    }
    EXPECT_EQ(0u, hwmc_sessions_room(hosts[0].sessions, 0, 1));
    EXPECT_EQ(HWMC_AGAIN, hwmc_sessions_flush(hosts[0].sessions));
    settle();
    ASSERT_EQ(1000u, hosts[1].came[0].size());
    for (uint32_t i = 0; i < 1000; i++)
        EXPECT_EQ("h|" + std::to_string(i), hosts[1].came[0][i]);
    EXPECT_EQ(HWMC_OK, hwmc_sessions_flush(hosts[0].sessions));
}

// A lane that may keep a body while its path is dead gets a copy; the lender has its own again at
// once.
TEST_F(Links, ALaneThatKeepsWhatItIsLentGetsACopy)
{
    open(1, 0);
    expect_given_back_at_once(100000);
}

TEST_F(Links, ALaneThatGivesBackIsLentTheCallersOwn)
{
    std::string body(100000, 'a');

    open(1, 1);
    connect();
    lend(body);
    EXPECT_EQ(body.data(), hosts[0].lanes[0]->out.front().second.pinned);
    EXPECT_TRUE(hosts[0].sent.empty());
    carry(0, 0);
    EXPECT_TRUE(hosts[0].sent.empty()); // it may have to go again
    settle();
    EXPECT_EQ(std::vector<uint64_t>({7}), hosts[0].sent);
}

// A lane that still has it takes nothing more, as it has no memory. It goes over another one, but
// comes back only when the first has done with it.
TEST_F(Links, WhatALaneThatWasGivenUpStillHasComesBackLater)
{
    std::string body(100000, 'a');

    open(2, 1);
    connect();
    lend(body);
    MemLane *first = hosts[0].lanes[0].get();
    ASSERT_EQ(1u, first->out.size());
    const uint64_t tag = first->out.front().second.tag;
    first->out.clear();
    first->broken = true;
    EXPECT_EQ(HWMC_OK, say(0, 1, "next"));
    settle();
    EXPECT_EQ(2u, hosts[1].came[0].size());
    EXPECT_TRUE(hosts[0].sent.empty());
    hwmc_sessions_on_sent(hwmc_sessions_port(hosts[0].sessions, 0), tag);
    settle();
    EXPECT_EQ(std::vector<uint64_t>({7}), hosts[0].sent);
}

// ... but a short one is copied: its lender would wait for an acknowledgement that nobody hurries
// to send.
TEST_F(Links, NobodyWaitsForTheAcknowledgementOfAShortBody)
{
    open(1, 1);
    connect();
    expect_given_back_at_once(2000);
}

// Its lender waits no longer: a copy, and where a lane has it, that lane is cut.
TEST_F(Links, WhatIsTakenBackGoesAsACopy)
{
    for (bool is_out : {false, true}) {
        auto *body = new std::string(5000, 'x');
        const std::string text = *body;
        hwmc_lane *s;

        if (!is_out) {
            open(2, 1);
            connect();
        }
        hosts[0].sent.clear();
        hosts[1].came[0].clear();
        s = hosts[0].streams[0];
        ASSERT_EQ(HWMC_OK, s->ops->send_from(s, 1, "h", 1, body->data(), body->size(), 9));
        if (!is_out)
            carry(0, 0, 1); // it is with the peer, which has not said so
        s->ops->cut(s);
        EXPECT_EQ(std::vector<uint64_t>({9}), hosts[0].sent);
        EXPECT_EQ(is_out, hosts[0].lanes[0]->broken);
        delete body;
        settle();
        EXPECT_EQ(std::vector<std::string>({"h|" + text}), hosts[1].came[0]);
        EXPECT_EQ(1u, hosts[0].sent.size());
    }
}

// Moved from a lane that gives back to one that keeps: a copy then.
TEST_F(Links, WhatALostLaneHadGoesByAnother)
{
    std::string body(5000, 'x');
    hwmc_lane *s;

    open(2, 1);
    connect();
    s = hosts[0].streams[0];
    say(0, 1, "one");
    ASSERT_EQ(HWMC_OK, s->ops->send_from(s, 1, "h", 1, body.data(), body.size(), 9));
    say(0, 1, "three");
    carry(0, 0, 1);
    lose(0, 0, 1);
    hwmc_sessions_poll(hosts[0].sessions);
    EXPECT_EQ(std::vector<uint64_t>({9}), hosts[0].sent);
    settle();
    EXPECT_EQ(std::vector<std::string>({"h|one", "h|" + body, "h|three"}), hosts[1].came[0]);
    EXPECT_EQ(1u, hosts[0].counts.losses);
    EXPECT_EQ(1u, hosts[1].counts.repeats);
}

TEST_F(Links, ALaneIsTakenWhenItIsReady)
{
    open(2, 3);
    hosts[0].lanes[0]->ready = hosts[0].lanes[1]->ready = false;
    say(0, 1, "patience");
    EXPECT_TRUE(idle());
    EXPECT_LT(hwmc_sessions_deadline(hosts[0].sessions), UINT64_MAX);
    hosts[0].lanes[1]->ready = true;
    settle();
    EXPECT_EQ(std::vector<std::string>({"h|patience"}), hosts[1].came[0]);
}

// Nothing more is said to host 2, and yet its lane is known to be dead: a rail has died. Both know
// it too, who have nothing to say at all.
TEST_F(Links, WhatOnePeersLaneDiesOfOthersAreAskedAbout)
{
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);

    patience = 1000000;
    open(2, 0);
    say(0, 1, "hello");
    say(0, 2, "hello");
    settle();
    say(0, 1, "by the other");
    while ((hosts[0].counts.deaths < 2 || hosts[1].counts.deaths + hosts[2].counts.deaths < 2) &&
           std::chrono::steady_clock::now() < end) {
        for (uint32_t i = 0; i < 3; i++) {
            hwmc_sessions_poll(hosts[i].sessions);
            carry(i, 1);
        }
    }
    EXPECT_EQ(2u, hosts[0].counts.deaths);
    EXPECT_EQ(1u, hosts[1].counts.deaths);
    EXPECT_EQ(1u, hosts[2].counts.deaths);
    EXPECT_EQ(std::vector<std::string>({"h|hello", "h|by the other"}), hosts[1].came[0]);
    settle();
}

// A send that fails is a loss that nobody else has told of.
TEST_F(Links, ASendThatFailsMovesTheStream)
{
    open(2, 0);
    hosts[0].lanes[0]->broken = true;
    hosts[0].lanes[0]->ready = true;
    say(0, 1, "by the other");
    carry(0, 1);
    EXPECT_EQ(std::vector<std::string>({"h|by the other"}), hosts[1].came[0]);
    hosts[0].lanes[0]->broken = false;
    settle();
}

// Peers in their hundreds of frames, lanes lost in between, all lanes fail at times.
TEST_F(Links, EverythingOnceAndInOrderWhileLanesComeAndGo)
{
    open(2, 3);
    for (int round = 0; round < 40; round++) {
        uint32_t lane = (uint32_t) round % 2, host = (uint32_t) round / 2 % 2;

        for (int i = 0; i < 30; i++)
            say(0, 1, std::to_string(30 * round + i));
        carry(0, lane, 7);
        lose(host, lane, 1 - host);
        lose(1 - host, lane, host);
        for (Host &h : hosts)
            hwmc_sessions_poll(h.sessions);
        carry(0, 1 - lane, 20);
        for (Host &h : hosts)
            for (auto &l : h.lanes)
                l->ready = true, l->broken = false;
    }
    settle();
    ASSERT_EQ(1200u, hosts[1].came[0].size());
    for (int i = 0; i < 1200; i++)
        EXPECT_EQ("h|" + std::to_string(i), hosts[1].came[0][(size_t) i]);
}

TEST_F(Links, BytesThatAreNoLinksAreDropped)
{
    unsigned char head[HWMC_SESSION_WIRE_HEAD] = {};
    hwmc_session_tx tx = {HWMC_SESSION_FRAME, 0, 0, 0, 0, 0};
    struct hwmc_sessions_port *port;

    open(1, 0);
    port = hwmc_sessions_port(hosts[1].sessions, 0);
    hwmc_session_wire_encode(head, 0, &tx);
    hwmc_sessions_on_recv(port, head, sizeof(head) - 1, "", 0);
    for (int at : {0, 1, 2, 3, 4}) {
        unsigned char wrong[sizeof(head)];

        memcpy(wrong, head, sizeof(head));
        wrong[at] = 77;
        hwmc_sessions_on_recv(port, wrong, sizeof(wrong), "", 0);
    }
    tx.ack = 5; // of what was never sent
    hwmc_session_wire_encode(head, 0, &tx);
    hwmc_sessions_on_recv(port, head, sizeof(head), "", 0);
    EXPECT_TRUE(hosts[1].came[0].empty());
    settle();
}

// What a host was last told of its lanes.
struct Watched {
    std::vector<hwmc_lane_state> stands = std::vector<hwmc_lane_state>(2);
    int calls = 0;

    static void changed(void *ctx, uint32_t lane, const hwmc_lane_state *stand)
    {
        static_cast<Watched *>(ctx)->stands.at(lane) = *stand;
        static_cast<Watched *>(ctx)->calls++;
    }
};

TEST_F(Links, WhoWatchesIsToldWhatHasChanged)
{
    Watched w;
    int calls;

    open(2, 3);
    hwmc_sessions_watch(hosts[0].sessions, Watched::changed, &w);
    say(0, 1, "a");
    say(0, 2, "b", 1);
    settle();
    EXPECT_EQ(2u, w.stands[0].streams);
    EXPECT_EQ(0u, w.stands[1].streams);
    EXPECT_EQ(0u, w.stands[0].peers[HWMC_SESSION_OFF]);
    calls = w.calls;
    say(0, 1, "c");
    settle();
    EXPECT_EQ(calls, w.calls) << "nothing has changed";

    lose(0, 0, 2);
    settle();
    EXPECT_LT(calls, w.calls);
    EXPECT_EQ(1u, w.stands[0].peers[HWMC_SESSION_OFF]);
    EXPECT_EQ(1u, w.stands[0].streams);
    EXPECT_EQ(1u, w.stands[0].moved);
    EXPECT_EQ(1u, w.stands[1].streams);
}

// How a session adds to the stands of two lanes.
class Stands : public testing::Test {
  protected:
    Stands()
    {
        cfg.lanes = 2;
        cfg.streams = 2;
        for (auto &row : cfg.prefers)
            for (uint8_t k = 0; k < HWMC_SESSION_LANES_MAX; k++)
                row[k] = k < 2 ? k : HWMC_SESSION_NO_LANE;
        for (uint32_t peer : {1, 2}) {
            hwmc_session_init(&session[peer], &cfg, &counts, 3, 0);
            take(peer);
        }
    }
    uint32_t take(uint32_t peer)
    {
        return hwmc_lane_state_take(stands, &share[peer], peer, &session[peer], 1u << (peer - 1));
    }
    // The lane can be tried, is, and answers.
    void mend(uint32_t peer, uint32_t lane)
    {
        hwmc_session_tx tx;

        hwmc_session_on_usable(&session[peer], lane, 1);
        take(peer);
        EXPECT_EQ(1u, stands[lane].peers[HWMC_SESSION_DEAD]);
        EXPECT_EQ(1u, stands[lane].num_lost) << "until it is good again";
        while (hwmc_session_next_send(&session[peer], &tx, 1))
            if (tx.kind == HWMC_SESSION_PROBE && tx.lane == lane)
                hwmc_session_on_answer(&session[peer], lane, tx.number, 1);
    }

    hwmc_session_cfg cfg = {};
    hwmc_session_counts counts = {};
    hwmc_session session[3];
    hwmc_lane_state_share share[3] = {};
    hwmc_lane_state stands[2] = {};
};

TEST_F(Stands, CountPeersAndWhatGoesByALane)
{
    EXPECT_EQ(2u, stands[0].peers[HWMC_SESSION_GOOD]);
    EXPECT_EQ(2u, stands[1].peers[HWMC_SESSION_GOOD]);
    EXPECT_EQ(2u, stands[0].streams);
    EXPECT_EQ(0u, stands[1].streams + stands[0].moved + stands[0].num_lost);
    EXPECT_EQ(0u, take(1)) << "nothing has changed";
}

TEST_F(Stands, KnowWhoIsLostAndWhatWasMovedUntilItIsBack)
{
    hwmc_session_on_lost(&session[2], 0, 1);
    EXPECT_EQ(3u, take(2));
    EXPECT_EQ(1u, stands[0].peers[HWMC_SESSION_GOOD]);
    EXPECT_EQ(1u, stands[0].peers[HWMC_SESSION_OFF]);
    EXPECT_EQ(1u, stands[0].streams);
    EXPECT_EQ(1u, stands[0].moved);
    ASSERT_EQ(1u, stands[0].num_lost);
    EXPECT_EQ(2u, stands[0].lost[0]);
    EXPECT_EQ(1u, stands[1].streams);
    EXPECT_EQ(0u, stands[1].num_lost);

    mend(2, 0);
    EXPECT_NE(0u, take(2));
    EXPECT_EQ(0u, stands[0].num_lost);
    EXPECT_EQ(2u, stands[0].peers[HWMC_SESSION_GOOD]);
    EXPECT_EQ(0u, stands[0].peers[HWMC_SESSION_OFF] + stands[0].peers[HWMC_SESSION_DEAD]);
}

} // namespace
