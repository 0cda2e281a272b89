// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// lane/rc_wire: any bytes as a message of the exchange, and as a fragment. What is taken keeps the
// bounds of lane/rc/rc_wire.h, and says the same when it is written and read again.
#include <cstdio>
#include <cstdlib>

#include <infiniband/verbs.h>

#include "reader.h"

extern "C" {
#include "lane/rc/rc.h"
#include "lane/rc/rc_wire.h"
}

static void exchange(const fuzz::Exact &b)
{
    rc_exchange x = {}, copy = {};
    uint8_t first[RC_EXCHANGE_MAX], second[RC_EXCHANGE_MAX];

    if (!rc_wire_read_exchange(b.data(), b.size(), &x))
        return;
    if (x.type == RC_CONNECT || x.type == RC_ACCEPT) {
        FUZZ_CHECK(x.end.num_ports >= 1 && x.end.num_ports <= RC_PORTS_MAX);
        FUZZ_CHECK(x.end.credits >= RC_CREDITS_MIN && x.end.credits <= RC_CREDITS_MAX);
        FUZZ_CHECK(x.end.qp_num < 1u << 24 && x.end.psn < 1u << 24);
    }
    size_t len = rc_wire_write_exchange(&x, first);
    FUZZ_CHECK(len <= RC_EXCHANGE_MAX && rc_wire_read_exchange(first, len, &copy));
    FUZZ_CHECK(rc_wire_write_exchange(&copy, second) == len && memcmp(first, second, len) == 0);
}

static void fragment(const fuzz::Exact &b)
{
    rc_fragment f = {}, copy = {};
    uint8_t bytes[RC_HEADER];

    if (!rc_wire_read_fragment(b.data(), b.size(), &f))
        return;
    if (f.type == RC_DATA) {
        FUZZ_CHECK(f.total <= HWMC_LANE_RC_MESSAGE_MAX && f.head_len <= f.total);
        FUZZ_CHECK(f.offset + (b.size() - RC_HEADER) <= f.total);
    }
    rc_wire_write_fragment(&f, bytes);
    FUZZ_CHECK(rc_wire_read_fragment(bytes, f.type == RC_DATA ? b.size() : RC_HEADER, &copy));
    FUZZ_CHECK(f.type == copy.type && f.credits == copy.credits && f.offset == copy.offset);
    FUZZ_CHECK(f.head_len == copy.head_len && f.total == copy.total);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz::Exact b(data, size);

    exchange(b);
    fragment(b);
    return 0;
}
