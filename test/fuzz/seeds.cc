// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// seeds DIR: writes what the fuzz targets begin with to DIR/TARGET: one message of each type as it
// is sent, and short courses of a job.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <endian.h>
#include <infiniband/verbs.h>

#include "reader.h"
#include "../unit/any_msg.h"

extern "C" {
#include "session/session_wire.h"
#include "lane/rc/rc_wire.h"
#include "wires/peer_info.h"
#include "engine/wire/wire.h"
}

namespace fs = std::filesystem;

static fs::path root;

static void write(const std::string &target, const std::string &name, const fuzz::Bytes &b)
{
    fs::create_directories(root / target);
    std::ofstream out(root / target / name, std::ios::binary);
    out.write(reinterpret_cast<const char *>(b.data()), (std::streamsize) b.size());
    if (!out) {
        perror(name.c_str());
        exit(1);
    }
}

static const char *name_of(hwmc_msg_type type)
{
    switch (type) {
#define X(name, value)                                                                             \
    case HWMC_MSG_##name:                                                                          \
        return #name;
        HWMC_MSG_TYPES(X)
#undef X
        default:
            return "none";
    }
}

static hwmc_msg message(hwmc_msg_type type)
{
    static const uint64_t bits[2] = {0x8000000000000005, 3};
    static const hwmc_parameters parameters = {1, 0, 2, 3, 1432, 1 << 20, 7, 0, 0xc350efc00001, 11};
    hwmc_msg m = {};
    AnyFields f;

    m.type = type;
    m.peer = f.root = 1;
    m.bid = 5;
    f.index = 1;
    if (type == HWMC_MSG_DATA || type == HWMC_MSG_NACK || type == HWMC_MSG_ROOT_NACK)
        f.frags = 70;
    f.bytes = type == HWMC_MSG_PROBE ? 24 + 7 : 6900; // and its payload
    f.rails = 3;
    f.bits = bits;
    f.parameters = &parameters;
    set_fields(m, f);
    return m;
}

// As wire_fuzz reads it: the first byte says that job and CRC are put right.
static void write_wire(const hwmc_msg &m, const std::string &name)
{
    const hwmc_wire_id id = {0x0102030405060708, 4, 0, 9, false};
    unsigned char head[HWMC_WIRE_HEAD], body[HWMC_WIRE_CONTROL_MAX] = "payload";
    uint32_t len = hwmc_wire_encode(head, &id, 1, &m, body, 7);
    fuzz::Bytes b = {1};

    b.insert(b.end(), head, head + hwmc_wire_head_len(&m));
    b.insert(b.end(), body, body + len);
    write("wire_fuzz", name, b);
}

static void wire()
{
    for (int t = HWMC_MSG_DATA; t < HWMC_MSG_LIMIT; t++)
        write_wire(message((hwmc_msg_type) t), name_of((hwmc_msg_type) t));
    hwmc_msg cast = message(HWMC_MSG_DATA);
    cast.multicast = true;
    write_wire(cast, "CAST");
}

static void rc_wire()
{
    uint8_t bytes[RC_EXCHANGE_MAX];

    for (int t = RC_CONNECT; t <= RC_WANT; t++) {
        rc_exchange x = {};

        x.type = (rc_exchange_type) t;
        x.epoch = 3;
        x.end.qp_num = 17;
        x.end.psn = 1000;
        x.end.credits = 64;
        x.end.hardware = true;
        x.end.num_ports = 2;
        for (int i = 0; i < 2; i++) {
            x.end.port[i].number = (uint8_t) (i + 1);
            x.end.port[i].lid = 9;
            x.end.mtu[i] = IBV_MTU_4096;
        }
        size_t len = rc_wire_write_exchange(&x, bytes);
        write("rc_wire_fuzz", "exchange" + std::to_string(t), fuzz::Bytes(bytes, bytes + len));
    }
    for (int t = RC_DATA; t <= RC_CREDIT; t++) {
        rc_fragment f = {};

        f.type = (rc_fragment_type) t;
        f.credits = 3;
        f.total = t == RC_DATA ? 8 : 0;
        f.head_len = t == RC_DATA ? 4 : 0;
        rc_wire_write_fragment(&f, bytes);
        memset(bytes + RC_HEADER, 'x', 8);
        write("rc_wire_fuzz", "fragment" + std::to_string(t),
              fuzz::Bytes(bytes, bytes + RC_HEADER + f.total));
    }
}

// Operations of session_fuzz: message, say, give back, fail, poll.
static void link()
{
    for (int kind = 0; kind < HWMC_SESSION_KINDS; kind++) {
        unsigned char head[HWMC_SESSION_WIRE_HEAD];
        hwmc_session_tx tx = {};

        tx.kind = (hwmc_session_kind) kind;
        hwmc_session_wire_encode(head, 0, &tx);
        fuzz::Bytes b = {0, sizeof(head)};
        b.insert(b.end(), head, head + sizeof(head));
        write("session_fuzz", "kind" + std::to_string(kind), b);
    }
    write("session_fuzz", "say",
          {3, 0, 0, 0x23, 2, 1, 7, 1, 0, 4, 9, 1, 0, 0, 1, 1, 7, 0xff, 0xff});
    write("session_fuzz", "fail", {0x23, 2, 1, 0x35, 2, 7, 1, 0, 0x15, 7, 0xff, 0xff, 0x14, 9});
    write("session_fuzz", "early", {1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 7, 1, 0, 1, 2, 0, 0, 2});
}

// While the group is being set up, terms of this stage: in a DECIDE to rank 1, or in a REPORT of it
// to rank 0, each before the true one.
static fuzz::Bytes parameters(hwmc_msg_type type, uint8_t stage, uint8_t frag_bytes)
{
    const bool decide = type == HWMC_MSG_DECIDE;
    fuzz::Bytes b = {2};

    if (stage > 1)
        b.push_back(13); // progress of rank 0
    if (stage > 2)
        b.insert(b.end(), {29, 45, 13}); // of 1, 2 and 0
    if (stage > 1 && decide)
        b.push_back(29);
    b.insert(b.end(), {(uint8_t) (decide ? 17 : 1), 2, (uint8_t) (type - 1), 0, 0, 0, 0, 0, 0});
    b.insert(b.end(), {(uint8_t) (decide ? 0 : 1), stage, 0, 0, 1, 0, frag_bytes});
    b.insert(b.end(), {0, 0, 9, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 5});
    b.insert(b.end(), {29, 13, 45, 29, 11, 0xff, 0xff, 10, 11, 1, 0, 10});
    return b;
}

// Operations of engine_fuzz; 10: all call, 11: time passes, 4: something old comes again.
static void engine()
{
    fuzz::Bytes busy = {64}, trees = {64 + 2 + 8}, loss = {64 + 12 + 1}, old = {64 + 8};

    for (uint8_t i = 0; i < 16; i++) {
        for (fuzz::Bytes *b : {&busy, &trees, &loss, &old})
            b->insert(b->end(), {10, 11, 1, 0});
        loss.insert(loss.end(), {12, i, 11, 0xff, 0xff});
        old.insert(old.end(), {4, i, 1, 4, (uint8_t) (20 * i), 2});
    }
    for (fuzz::Bytes *b : {&busy, &trees, &loss, &old}) {
        fuzz::Bytes keyed = *b;

        keyed[0] += 128;
        keyed.insert(keyed.end(), {0x11, 3, 4, 0, 0, 1, 0, 0, 0, 0, 10, 11, 1, 0});
        write("engine_fuzz", "keyed-" + std::to_string((int) (*b)[0]), keyed);
    }
    write("engine_fuzz", "broadcasts", busy);
    write("engine_fuzz", "trees", trees);
    write("engine_fuzz", "loss", loss);
    write("engine_fuzz", "replays", old);
    write("engine_fuzz", "set-up", {2, 13, 29, 45, 13, 29, 45, 11, 0xff, 0xff, 10, 10});
    write("engine_fuzz", "any", {64, 10, 0, 1, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 1, 1});
    for (uint8_t stage = 1; stage <= 3; stage++)
        for (hwmc_msg_type type : {HWMC_MSG_REPORT, HWMC_MSG_DECIDE})
            for (uint8_t frag_bytes : {0, 100})
                write("engine_fuzz",
                      std::string("terms-") + name_of(type) + std::to_string(stage) + "-" +
                          std::to_string(frag_bytes),
                      parameters(type, stage, frag_bytes));
    for (uint8_t t = 0; t + 1 < HWMC_MSG_LIMIT; t++)
        write("engine_fuzz", std::string("lie-") + name_of((hwmc_msg_type) (t + 1)),
              {64 + 8 + 2, 10, 11, 1, 0, 1, 3, t, 0, 0, 1, 0, 0, 0, 0, 10, 11, 1, 0});
}

// Text of a process manager; frames of one message, header first and last, and of one by
// cross-memory attach.
static void heads()
{
    fuzz::Bytes address, text(1, 0);

    for (uint8_t i = 0; i < 200; i++)
        address.push_back(i % 30);
    std::vector<char> written(hwmc_peer_info_room(address.size()));
    const size_t len = hwmc_peer_info_write(address.data(), address.size(), written.data());
    text.insert(text.end(), written.begin(), written.begin() + (long) len);
    write("heads_fuzz", "address", text);
    // which, data_sz, which, offset, hdr_sz, handler, kind, len
    const fuzz::Bytes begins = {0, 100, 0, 0, 0, 0, 8, 0, 5, 0, 48, 0},
                      goes_on = {0, 100, 0, 0, 40, 0, 8, 0, 5, 0, 60, 0},
                      attached = {0, 100, 0, 0, 0, 0, 8, 0, 5, 1, 48, 0};
    for (int order = 0; order < 2; order++) {
        fuzz::Bytes both(1, 1);

        for (const fuzz::Bytes &b : {order ? goes_on : begins, order ? begins : goes_on})
            both.insert(both.end(), b.begin(), b.end());
        write("heads_fuzz", "frames" + std::to_string(order), both);
    }
    fuzz::Bytes one(1, 1);
    one.insert(one.end(), attached.begin(), attached.end());
    write("heads_fuzz", "attached", one);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: seeds DIR\n");
        return 2;
    }
    root = argv[1];
    wire();
    rc_wire();
    heads();
    link();
    engine();
    return 0;
}
