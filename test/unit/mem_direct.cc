// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include "mem_direct.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mem {

constexpr unsigned char POISON = 0xd7; // in memory that is posted

// Else somebody else has written to memory that is posted.
static void expect_kept(bool kept)
{
    if (kept)
        return;
    fputs("memory that an adapter has was written by somebody else\n", stderr);
    abort();
}

static bool is_poison(const unsigned char *at, size_t len)
{
    return std::all_of(at, at + len, [](unsigned char c) { return c == POISON; });
}

size_t Direct::len_of(uint32_t number) const
{
    const size_t at = number * e_.body;

    return std::min(e_.body, e_.bytes - at);
}

uint64_t Direct::begin(const hwmc_expected &e)
{
    if (!works || !is_idle())
        return 0;
    e_ = e;
    run_ = true;
    slots_ = false;
    next_ = due_ = 0;
    return ++runs;
}

size_t Direct::extend(uint64_t run, size_t bytes)
{
    if (!run_ || run != runs)
        return 0;
    for (; next_ * e_.body < bytes && posted_.size() < room; next_++) {
        posted_.push_back(next_);
        memset(e_.at + next_ * e_.body, POISON, len_of(next_));
    }
    return std::min(next_ * e_.body, e_.bytes);
}

void Direct::arrive(const Bytes &bytes, std::deque<Came> &queue)
{
    Came came(bytes);

    if (posted_.empty() && !slots_) {
        dropped++;
        return;
    }
    if (!posted_.empty()) {
        came.number = posted_.front();
        posted_.pop_front();
        came.at = e_.at + came.number * e_.body;
        came.len = len_of(came.number);
        expect_kept(is_poison(came.at, came.len));
        if (bytes.size() > e_.head)
            memcpy(came.at, bytes.data() + e_.head, std::min(came.len, bytes.size() - e_.head));
    }
    queue.push_back(came);
}

// The bytes come from where they went.
void Direct::move_aside(Came &came)
{
    const size_t len =
        came.bytes.size() > e_.head ? std::min(came.len, came.bytes.size() - e_.head) : 0;

    if (came.at == nullptr)
        return;
    expect_kept(memcmp(came.bytes.data() + e_.head, came.at, len) == 0);
    memset(came.at, 0xbd, came.len);
    came.at = nullptr;
    aside++;
}

void Direct::take_back(bool goes_on, std::deque<Came> &queue)
{
    for (Came &came : queue)
        move_aside(came);
    for (uint32_t number : posted_) {
        expect_kept(is_poison(e_.at + number * e_.body, len_of(number)));
        memset(e_.at + number * e_.body, 0xbd, len_of(number));
    }
    flushes += !posted_.empty();
    posted_.clear();
    run_ = false;
    slots_ = goes_on;
}

void Direct::end(uint64_t run, bool goes_on, std::deque<Came> &queue)
{
    if (run_ && run == runs)
        take_back(goes_on, queue);
}

hwmc_in Direct::take(Came &came, std::deque<Came> &queue)
{
    const Bytes &b = came.bytes;

    if (came.at != nullptr && (came.number != due_ || b.size() != e_.head + came.len ||
                               !e_.is_next(e_.ctx, b.data(), due_))) {
        move_aside(came);
        take_back(true, queue);
    }
    if (came.at == nullptr)
        return {b.data(), b.size(), nullptr, 0};
    expect_kept(memcmp(b.data() + e_.head, came.at, came.len) == 0);
    due_++;
    placed++;
    return {b.data(), e_.head, came.at, came.len};
}

} // namespace mem
