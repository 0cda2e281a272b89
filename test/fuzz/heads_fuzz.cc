// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// wires/peer_info and am/am_head: any text of a process manager, and any frames of a message that
// sessions carry. Text that is taken says the same when its bytes are written and read again.
// Frames that are taken stay within the memory that the first of them asks for, and what has come
// is never more than that.
#include <cstdio>
#include <cstdlib>

#include "reader.h"

extern "C" {
#include "am/am_head.h"
#include "wires/peer_info.h"
}

namespace {

constexpr uint64_t kData = 1 << 16; // messages beyond that need memory that this target has not
constexpr size_t kCma = 40;

void peer_info(const uint8_t *data, size_t size)
{
    fuzz::Bytes text(data, data + size);
    size_t len, again;

    text.push_back('\0');
    uint8_t *bytes = hwmc_peer_info_read(reinterpret_cast<const char *>(text.data()), &len);
    if (bytes == nullptr)
        return;
    FUZZ_CHECK(len <= HWMC_PEER_INFO_MAX);
    if (len <= 4096) { // writing takes time in proportion to the square
        std::vector<char> written(hwmc_peer_info_room(len));
        FUZZ_CHECK(hwmc_peer_info_write(bytes, len, written.data()) < written.size());
        uint8_t *copy = hwmc_peer_info_read(written.data(), &again);
        FUZZ_CHECK(copy != nullptr && again == len && memcmp(copy, bytes, len) == 0);
        hwmc_peer_info_free(copy);
    }
    hwmc_peer_info_free(bytes);
}

am_head read_head(fuzz::Reader &r)
{
    am_head h = {};

    h.data_sz = r.u8() & 1 ? r.u64() : r.u16();
    h.offset = r.u8() & 1 ? r.u64() : r.u16();
    h.hdr_sz = r.u16();
    h.handler = r.u8();
    h.kind = r.u8() % (AM_KINDS + 1);
    return h;
}

// As recv.c puts a message together.
void frames(fuzz::Reader r)
{
    am_head first = {};
    fuzz::Bytes whole;
    uint64_t got = 0;
    bool begun = false, started = false;

    while (!r.empty()) {
        const am_head h = read_head(r);
        const size_t len = r.u16(), header = hwmc_am_head_header_in(&h);

        if (!hwmc_am_head_is_sound(&h, len, kCma) || h.data_sz > kData)
            continue;
        if (begun && !hwmc_am_head_is_of(&h, len, &first, got, started))
            continue;
        if (!begun) {
            first = h;
            whole.assign((size_t) h.data_sz, 0);
            begun = true;
        }
        started |= h.offset == 0;
        FUZZ_CHECK(len >= header);
        if (h.kind != AM_DATA)
            continue;
        const size_t bytes = len - header;
        FUZZ_CHECK(h.offset + bytes <= whole.size());
        std::fill_n(whole.begin() + (long) h.offset, bytes, (unsigned char) 1);
        got += bytes;
        FUZZ_CHECK(got <= first.data_sz);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] & 1)
        frames(fuzz::Reader(data + 1, size - 1));
    else
        peer_info(data + 1, size - 1);
    return 0;
}
