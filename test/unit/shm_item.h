// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// A collective of a script of those that ranks of a node run: what it is, and what each rank adds.
#ifndef HWMC_TEST_UNIT_SHM_ITEM_H_INCLUDED
#define HWMC_TEST_UNIT_SHM_ITEM_H_INCLUDED

#include <stdint.h>

#include <string>
#include <vector>

#include "sim_rng.h"

extern "C" {
#include "shm/copy/copy.h"
#include "shm/segment/params.h"
#include "shm/coll/reduction.h"
#include "shm/segment/segment.h"
#include "shm/topo/tree.h"
}

namespace node {

constexpr uint64_t kMemcpy = HWMC_SHM_COPY_BIT(HWMC_SHM_COPY_MEMCPY);
constexpr uint64_t kXpmem = HWMC_SHM_COPY_BIT(HWMC_SHM_COPY_XPMEM);
constexpr uint64_t kCma = HWMC_SHM_COPY_BIT(HWMC_SHM_COPY_CMA);

// Of small chunks: so that lengths about them are not all inline, that ends long before a slot
// does.
constexpr uint32_t kInline = 88;

inline hwmc_shm_params params_of(uint32_t chunk)
{
    hwmc_shm_params p = hwmc_shm_params_default(chunk);

    p.inline_max = kInline;
    return p;
}

// About the ends of a slot's lines, and what does not fit in it.
constexpr uint64_t kSlotLengths[] = {88, 120, 128, 504, 960, 968, 975, 976, 977, 984, 1500};

struct Config {
    hwmc_shm_layout layout = {4, 8, 2, 64}; // ranks, slots, buffers, chunk
    uint64_t methods = 0;
    hwmc_shm_params params = params_of(64);

    // The same with chunks of 500 bytes, and messages inline as far as they fit.
    Config with_whole_slots() const;

    std::string text() const;
};

enum class Kind {
    kBcast,
    kBarrier,
    kReduction,
    kAllreduce,
    kGather,
    kAllgather,
    kScatter,
    kAlltoall,
    kReduceScatter,
    kScan,
    kExscan
};
constexpr uint32_t kKinds = 11;

struct Item {
    Kind kind = Kind::kBcast;
    int algorithm = 0;
    uint32_t root = 0;
    uint64_t length = 0;
    uint32_t chunk = 0;        // bytes; 0: as the configuration says
    uint32_t degree = 2;       // of a heap; 0: some tree
    bool by_bits = false;      // bcast: the root gets the message bit by bit
    bool ordered = false;      // reductions: the operation is not commutative
    bool wide = false;         // ... else: elements longer than most chunks
    bool in_place = false;     // reductions, where there is a result; parts: the own one
    bool uneven = false;       // parts: of different lengths, in any order
    uint32_t odd = UINT32_MAX; // bcast, parts: rank that gives another length than is expected
    uint64_t odd_length = 0;

    uint64_t length_of(uint32_t rank) const
    {
        return rank == odd ? odd_length : length;
    }
    uint64_t most() const
    {
        return odd_length > length ? odd_length : length;
    }
    // Ranks may be told so, as lengths disagree.
    bool is_wrong() const
    {
        return odd != UINT32_MAX && odd_length != length;
    }
    // bcast: as the length is not the root's, it must be told.
    bool is_wrong_at(uint32_t rank) const
    {
        return is_wrong() && length_of(rank) != length_of(root);
    }

    bool reduces() const
    {
        return kind == Kind::kReduction || kind == Kind::kAllreduce;
    }

    bool has_parts() const
    {
        return kind >= Kind::kGather && kind <= Kind::kAlltoall;
    }
    bool scans() const
    {
        return kind >= Kind::kReduceScatter;
    }

    std::string text() const;
};

using Script = std::vector<Item>;

// One collective at random. Lengths about the places where something changes, up to `chunks`
// chunks.
Item any_item(const Config &config, sim::Rng &rng, uint32_t chunks = 7);

// The tree of an item, as a rank sees it; its children in `children`.
hwmc_shm_tree tree_of(const Item &item, size_t number, uint32_t rank, uint32_t size,
                      std::vector<uint16_t> &children);

// The bytes of message, or part, `number`.
unsigned char byte_of(size_t number, uint64_t i);

// Of reductions: the operation; what a rank adds in collective `number`.
hwmc_shm_operation operation_of(const Item &item);
void fill(const Item &item, size_t number, uint32_t rank, unsigned char *to, uint64_t bytes);

// Its length as far as that is whole elements.
uint64_t whole_elements(const Item &item);

} // namespace node

#endif // HWMC_TEST_UNIT_SHM_ITEM_H_INCLUDED
