// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// See shm_scan_ranks.h.
#include "shm_scan_ranks.h"

#include <string.h>

#include <algorithm>

namespace node {

namespace {

constexpr unsigned char kUntouched = 0x5a;

} // namespace

bool Scans::in_place() const
{
    return item_.in_place && item_.kind != Kind::kReduceScatter;
}

// Alike, or cut anywhere.
void Scans::lay_blocks()
{
    uint64_t element = operation_of(item_).element, n = group_->size;
    std::vector<uint64_t> cuts = {0};
    sim::Rng rng(number_);

    if (!item_.uneven)
        length_ -= length_ % (n * element);
    for (uint32_t r = 1; r < n; r++)
        cuts.push_back(rng.below(length_ / element + 1) * element);
    cuts.push_back(length_);
    std::sort(cuts.begin(), cuts.end());
    each_.clear();
    for (uint32_t r = 0; r < n; r++)
        each_.push_back({cuts[r], cuts[r + 1] - cuts[r]});
    blocks_ = {each_.data(), 0, 0};
    if (!item_.uneven)
        blocks_ = {nullptr, length_ / n, length_ / n};
}

hwmc_shm_op *Scans::begin(hwmc_shm_group *g, const Item &item, size_t number,
                          const hwmc_shm_tree &tree)
{
    hwmc_shm_operation operation = operation_of(item);

    group_ = g;
    item_ = item;
    number_ = number;
    length_ = whole_elements(item);
    if (item.kind == Kind::kReduceScatter)
        lay_blocks();
    room_ = item.kind == Kind::kReduceScatter ? hwmc_shm_part_of(&blocks_, g->rank).bytes : length_;
    out_.reset(new unsigned char[room_]);
    memset(out_.get(), kUntouched, room_);
    in_.reset(in_place() ? nullptr : new unsigned char[length_]);
    unsigned char *in = in_place() ? out_.get() : in_.get();
    fill(item, number, g->rank, in, length_);
    if (item.kind == Kind::kReduceScatter) {
        if (hwmc_shm_reduce_scatter_needs_work(g, length_))
            work_.reset(new unsigned char[length_]);
        return hwmc_shm_reduce_scatter_begin(&reduce_scatter_, g, &tree, &operation, in, &blocks_,
                                             length_, out_.get(), work_.get()) == HWMC_OK
                   ? &reduce_scatter_.op
                   : nullptr;
    }
    return hwmc_shm_scan_begin(&scan_, g, &operation, item.kind == Kind::kExscan, in, out_.get(),
                               length_ / operation.element) == HWMC_OK
               ? &scan_.op
               : nullptr;
}

// Of the first so many ranks, from the last to the first.
std::vector<unsigned char> Scans::result(uint32_t ranks) const
{
    hwmc_shm_operation operation = operation_of(item_);
    std::vector<unsigned char> all(length_), one(length_);

    fill(item_, number_, ranks - 1, all.data(), length_);
    for (uint32_t r = ranks - 1; r-- > 0;) {
        fill(item_, number_, r, one.data(), length_);
        operation.combine(nullptr, all.data(), one.data(), all.data(), length_ / operation.element);
    }
    return all;
}

std::string Scans::check()
{
    std::vector<unsigned char> expected(room_, kUntouched), added(length_);
    uint32_t rank = group_->rank;

    fill(item_, number_, rank, added.data(), length_);
    if (in_ && length_ > 0 && memcmp(added.data(), in_.get(), length_) != 0)
        return "what was added has changed";
    if (item_.kind == Kind::kReduceScatter) {
        hwmc_shm_range own = hwmc_shm_part_of(&blocks_, rank);
        std::vector<unsigned char> all = result(group_->size);

        std::copy_n(all.begin() + (long) own.at, own.bytes, expected.begin());
    } else if (item_.kind == Kind::kScan) {
        expected = result(rank + 1);
    } else if (rank > 0) {
        expected = result(rank);
    } else if (in_place()) {
        expected = added;
    }
    for (uint64_t i = 0; i < room_; i++)
        if (out_[i] != expected[i])
            return "byte " + std::to_string(i) + " is wrong";
    if (in_)
        memset(in_.get(), 0xa5, length_);
    in_.reset();
    out_.reset();
    work_.reset();
    return "";
}

} // namespace node
