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

static void expect_same(const hwmc_wire_in &a, const hwmc_wire_in &b)
{
    FUZZ_CHECK(a.id.job == b.id.job && a.id.context == b.id.context);
    FUZZ_CHECK(a.id.leader == b.id.leader && a.id.generation == b.id.generation);
    FUZZ_CHECK(a.cast == b.cast && a.len == b.len);
    FUZZ_CHECK(a.msg.type == b.msg.type && a.msg.flags == b.msg.flags);
    FUZZ_CHECK(a.msg.rails == b.msg.rails && a.msg.peer == b.msg.peer && a.msg.bid == b.msg.bid);
    FUZZ_CHECK(a.msg.root == b.msg.root && a.msg.index == b.msg.index);
    FUZZ_CHECK(a.msg.frags == b.msg.frags && a.msg.bytes == b.msg.bytes);
    FUZZ_CHECK(a.msg.late == b.msg.late);
    FUZZ_CHECK(a.msg.tree == b.msg.tree && a.msg.slot == b.msg.slot);
    FUZZ_CHECK((a.msg.bits == nullptr) == (b.msg.bits == nullptr));
    FUZZ_CHECK((a.msg.parameters == nullptr) == (b.msg.parameters == nullptr));
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
    if (planted() && in.msg.type == HWMC_MSG_NACK && in.msg.frags > 100)
        abort();
    again(in);
    return 0;
}
