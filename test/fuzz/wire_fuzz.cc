// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// engine/wire/wire: any bytes as a datagram. The first byte of the input says whether magic,
// version, job and CRC are put right, without which nearly all would end there. What is taken must
// say the same when it is written and read again.
#include <cstdio>
#include <cstdlib>

#include <endian.h>

#include "reader.h"

extern "C" {
#include "engine/wire/crc32c.h"
#include "engine/wire/wire.h"
}

static constexpr uint64_t kJob = 0x0102030405060708;

// Whether the search itself works is tested with a fault that is not there otherwise.
static bool planted()
{
    static const bool yes = getenv("HWMC_FUZZ_PLANTED") != nullptr;

    return yes;
}

static void put_right(fuzz::Bytes &b, uint32_t head)
{
    const uint64_t job = htobe64(kJob);
    uint32_t crc;

    b[0] = HWMC_WIRE_MAGIC >> 8;
    b[1] = HWMC_WIRE_MAGIC & 0xff;
    b[2] = HWMC_WIRE_VERSION;
    memcpy(&b[8], &job, sizeof(job));
    if (head == HWMC_WIRE_HEAD) {
        const uint32_t len = htobe32((uint32_t) (b.size() - head));

        memcpy(&b[52], &len, sizeof(len));
    }
    memset(&b[4], 0, sizeof(crc));
    crc = htobe32(hwmc_crc32c(b.data(), b.size()));
    memcpy(&b[4], &crc, sizeof(crc));
}

// What the type has besides.
static void expect_same_part(const hwmc_msg &a, const hwmc_msg &b)
{
    switch (a.type) {
        case HWMC_MSG_DATA:
            FUZZ_CHECK(a.data.root == b.data.root && a.data.index == b.data.index);
            FUZZ_CHECK(a.data.frags == b.data.frags && a.data.bytes == b.data.bytes);
            FUZZ_CHECK(a.data.rails == b.data.rails);
            break;
        case HWMC_MSG_NACK:
        case HWMC_MSG_ROOT_NACK:
        case HWMC_MSG_SEEK:
            FUZZ_CHECK(a.nack.root == b.nack.root && a.nack.frags == b.nack.frags);
            FUZZ_CHECK(a.nack.bytes == b.nack.bytes && a.nack.bits && b.nack.bits);
            break;
        case HWMC_MSG_OFFER:
        case HWMC_MSG_READY:
            FUZZ_CHECK(a.offer.root == b.offer.root && a.offer.frags == b.offer.frags);
            FUZZ_CHECK(a.offer.bytes == b.offer.bytes);
            break;
        case HWMC_MSG_SYNC_UP:
            FUZZ_CHECK(a.up.repaired == b.up.repaired && a.up.losses == b.up.losses);
            FUZZ_CHECK(a.up.worst == b.up.worst && a.up.train == b.up.train);
            FUZZ_CHECK(a.up.well_rails == b.up.well_rails);
            break;
        case HWMC_MSG_SYNC_DOWN:
            FUZZ_CHECK(a.down.repaired == b.down.repaired);
            break;
        case HWMC_MSG_PROBE:
            FUZZ_CHECK(a.probe.train == b.probe.train && a.probe.number == b.probe.number);
            FUZZ_CHECK(a.probe.bytes == b.probe.bytes);
            break;
        case HWMC_MSG_BLOCK:
        case HWMC_MSG_BLOCK_GRANT:
        case HWMC_MSG_BLOCK_CREDIT:
            FUZZ_CHECK(a.block.index == b.block.index && a.block.bytes == b.block.bytes);
            FUZZ_CHECK(a.block.port == b.block.port);
            break;
        case HWMC_MSG_GRANT:
            FUZZ_CHECK(a.grant.root == b.grant.root && a.grant.limit == b.grant.limit);
            FUZZ_CHECK(a.grant.bytes == b.grant.bytes && a.grant.tree == b.grant.tree);
            FUZZ_CHECK(a.grant.slot == b.grant.slot && a.grant.rails == b.grant.rails);
            FUZZ_CHECK(a.grant.late_rails == b.grant.late_rails);
            break;
        case HWMC_MSG_SEGMENT:
            FUZZ_CHECK(a.segment.root == b.segment.root && a.segment.index == b.segment.index);
            FUZZ_CHECK(a.segment.bytes == b.segment.bytes && a.segment.tree == b.segment.tree);
            FUZZ_CHECK(a.segment.slot == b.segment.slot && a.segment.rails == b.segment.rails);
            break;
        case HWMC_MSG_MEASURE:
            FUZZ_CHECK(a.measure.lane == b.measure.lane && a.measure.bytes == b.measure.bytes);
            break;
        case HWMC_MSG_EPOCH:
            FUZZ_CHECK(a.epoch.number == b.epoch.number && a.epoch.culprit == b.epoch.culprit);
            FUZZ_CHECK(a.epoch.rails == b.epoch.rails && a.epoch.period == b.epoch.period);
            FUZZ_CHECK(a.epoch.reason == b.epoch.reason);
            break;
        case HWMC_MSG_LOST:
            FUZZ_CHECK(a.lost.rank == b.lost.rank && a.lost.finder == b.lost.finder);
            FUZZ_CHECK(a.lost.stage == b.lost.stage && a.lost.rails == b.lost.rails);
            break;
        case HWMC_MSG_REPORT:
        case HWMC_MSG_DECIDE:
            FUZZ_CHECK(a.parameters && b.parameters);
            break;
        default:
            break;
    }
}

static void expect_same(const hwmc_wire_in &a, const hwmc_wire_in &b)
{
    FUZZ_CHECK(a.id.job == b.id.job && a.id.context == b.id.context);
    FUZZ_CHECK(a.id.leader == b.id.leader && a.id.generation == b.id.generation);
    FUZZ_CHECK(a.cast == b.cast && a.len == b.len);
    FUZZ_CHECK(a.msg.type == b.msg.type && a.msg.flags == b.msg.flags);
    FUZZ_CHECK(a.msg.peer == b.msg.peer && a.msg.bid == b.msg.bid);
    expect_same_part(a.msg, b.msg);
    FUZZ_CHECK(memcmp(a.payload, b.payload, a.len) == 0 || a.len == 0);
}

static void again(const hwmc_wire_in &in)
{
    static unsigned char head[HWMC_WIRE_HEAD], control[HWMC_WIRE_CONTROL_MAX];
    static hwmc_wire_in copy;
    hwmc_msg msg = in.msg;
    void *body = hwmc_wire_carries(msg.type) ? (void *) (uintptr_t) in.payload : control;

    msg.multicast = in.cast;
    uint32_t len = hwmc_wire_encode(head, &in.id, msg.peer, &msg, body, in.len);
    FUZZ_CHECK(len == in.len);
    FUZZ_CHECK(hwmc_wire_decode(&copy, kJob, false, head, hwmc_wire_head_len(&msg), body, len) ==
               HWMC_WIRE_OK);
    expect_same(in, copy);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static hwmc_wire_in in;
    fuzz::Reader r(data, size);
    bool right = r.u8() & 1;
    fuzz::Bytes b = r.rest();
    uint32_t head_len = hwmc_wire_head_of(b.data(), b.size());

    if (head_len == 0)
        return 0;
    if (right)
        put_right(b, head_len);
    fuzz::Exact head(b.data(), head_len), body(b.data() + head_len, b.size() - head_len);
    if (hwmc_wire_decode(&in, kJob, false, head.data(), head.size(), body.data(), body.size()) !=
        HWMC_WIRE_OK)
        return 0;
    FUZZ_CHECK(in.id.job == kJob && in.len == body.size());
    if (planted() && in.msg.type == HWMC_MSG_NACK && in.msg.nack.frags > 100)
        abort();
    again(in);
    return 0;
}
