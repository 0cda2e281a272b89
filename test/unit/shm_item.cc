// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// See shm_item.h.
#include "shm_item.h"

#include <string.h>

#include <algorithm>

namespace node {

unsigned char byte_of(size_t number, uint64_t i)
{
    return (unsigned char) (number * 29 + i * 7 + (i >> 8) * 13 + 1);
}

namespace {

// An affine map of integers; they are composed: not commutative.
struct Affine {
    uint32_t a, b;
};

constexpr uint32_t kNumber = 3; // bytes of what is added where there is no order
constexpr uint32_t kWide = 30;  // numbers of a wide element

void compose(void *, void *out, const void *a, const void *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Affine f, g;

        memcpy(&f, (const char *) a + i * sizeof(f), sizeof(f));
        memcpy(&g, (const char *) b + i * sizeof(g), sizeof(g));
        g = {f.a * g.a, f.a * g.b + f.b};
        memcpy((char *) out + i * sizeof(g), &g, sizeof(g));
    }
}

// Numbers of three bytes, with carry: elements that are cut are seen.
void add(void *, void *out, const void *a, const void *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t x = 0, y = 0;

        memcpy(&x, (const char *) a + i * kNumber, kNumber);
        memcpy(&y, (const char *) b + i * kNumber, kNumber);
        x += y;
        memcpy((char *) out + i * kNumber, &x, kNumber);
    }
}

void add_wide(void *, void *out, const void *a, const void *b, size_t count)
{
    add(nullptr, out, a, b, count * kWide);
}

} // namespace

hwmc_shm_operation operation_of(const Item &item)
{
    if (item.ordered)
        return {compose, nullptr, sizeof(Affine), false};
    if (item.wide)
        return {add_wide, nullptr, kNumber * kWide, true};
    return {add, nullptr, kNumber, true};
}

// What a rank adds in collective `number`; a is odd, so that nothing is lost by it.
void fill(const Item &item, size_t number, uint32_t rank, unsigned char *to, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        to[i] = byte_of(number * 3 + rank, i);
    for (uint64_t i = 0; item.ordered && i < bytes; i += sizeof(Affine))
        to[i] |= 1;
}

uint64_t whole_elements(const Item &item)
{
    return item.length - item.length % operation_of(item).element;
}

namespace {

// Parents of a tree by place, place 0 being the root.
uint32_t parent_place(const Item &item, size_t number, uint32_t place)
{
    sim::Rng rng(number * 1000 + place);

    return item.degree > 0 ? (place - 1) / item.degree : (uint32_t) rng.below(place);
}

uint64_t any_length(const Config &config, sim::Rng &rng, uint32_t chunks)
{
    uint64_t chunk = config.params.chunk;
    const uint64_t edges[] = {0,
                              8,
                              config.params.inline_max,
                              64,
                              128,
                              config.params.copy_min,
                              config.params.piece_min * (1 + rng.below(config.layout.ranks)),
                              chunk * rng.between(1, chunks),
                              chunk * config.layout.buffers};
    uint64_t edge = edges[rng.below(std::size(edges))];

    if (edge > chunk * chunks || rng.below(4) == 0)
        return rng.below(chunk * chunks + 1);
    return edge + rng.below(3) - (edge > 0);
}

} // namespace

Config Config::with_whole_slots() const
{
    Config config = *this;

    config.layout.chunk = 512;
    config.params = hwmc_shm_params_default(500);
    return config;
}

std::string Config::text() const
{
    char s[300];

    snprintf(
        s, sizeof(s),
        "ranks %u slots %u buffers %u chunk %u/%u methods %llu inline %u copy_min %llu copy_step "
        "%u piece_min %u shift %u; ",
        layout.ranks, layout.slots, layout.buffers, params.chunk, layout.chunk,
        (unsigned long long) methods, params.inline_max, (unsigned long long) params.copy_min,
        params.copy_step, params.piece_min, params.shift);
    return s;
}

std::string Item::text() const
{
    char s[200];

    const char *of = "", *name = "";

    switch (kind) {
        case Kind::kBarrier:
            of = "barrier";
            name = hwmc_shm_barrier_name((hwmc_shm_barrier_algorithm) algorithm);
            break;
        case Kind::kBcast:
            of = "bcast";
            name = hwmc_shm_bcast_name((hwmc_shm_bcast_algorithm) algorithm);
            break;
        case Kind::kReduction:
        case Kind::kAllreduce:
            of = kind == Kind::kReduction ? "reduction" : "allreduce";
            name = hwmc_shm_reduction_name((hwmc_shm_reduction_algorithm) algorithm);
            break;
        case Kind::kGather:
            of = "gather";
            break;
        case Kind::kAllgather:
            of = "allgather";
            break;
        case Kind::kScatter:
            of = "scatter";
            break;
        case Kind::kAlltoall:
            of = "alltoall";
            break;
        case Kind::kReduceScatter:
            of = "reduce_scatter";
            name = hwmc_shm_reduction_name((hwmc_shm_reduction_algorithm) algorithm);
            break;
        case Kind::kScan:
            of = "scan";
            break;
        case Kind::kExscan:
            of = "exscan";
            break;
    }
    snprintf(s, sizeof(s), "%s %s root %u length %llu chunk %u degree %u%s%s%s%s%s", of, name, root,
             (unsigned long long) length, chunk, degree, by_bits ? " bit by bit" : "",
             ordered ? " ordered" : "", wide ? " wide" : "", in_place ? " in place" : "",
             uneven ? " uneven" : "");
    return is_wrong() ? s + (" rank " + std::to_string(odd)) + " has " + std::to_string(odd_length)
                      : s;
}

Item any_item(const Config &config, sim::Rng &rng, uint32_t chunks)
{
    Item item;

    item.kind = (Kind) rng.below(kKinds);
    item.algorithm = (int) rng.below(item.kind == Kind::kBarrier ? (int) HWMC_SHM_BARRIER_NUM
                                     : item.kind == Kind::kBcast ? (int) HWMC_SHM_BCAST_NUM
                                                                 : (int) HWMC_SHM_REDUCTION_NUM);
    item.root = (uint32_t) rng.below(config.layout.ranks);
    item.length = any_length(config, rng, chunks);
    if (rng.below(3) == 0)
        item.chunk = (uint32_t) rng.between(40, config.layout.chunk);
    item.degree = (uint32_t) rng.below(5);
    item.by_bits = item.kind == Kind::kBcast && rng.below(3) == 0;
    item.ordered = (item.reduces() || item.scans()) && rng.below(2);
    item.wide = kNumber * kWide <= config.layout.chunk / 2 && rng.below(3) == 0;
    item.in_place = item.kind >= Kind::kReduction && rng.below(2);
    item.uneven = item.kind >= Kind::kGather && rng.below(2);
    if ((item.kind == Kind::kBcast || (item.has_parts() && !item.in_place)) && rng.below(10) == 0) {
        item.odd = (uint32_t) rng.below(config.layout.ranks);
        item.odd_length = any_length(config, rng, chunks);
    }
    if (item.kind == Kind::kAllreduce || item.kind == Kind::kReduceScatter)
        item.root = 0;
    return item;
}

hwmc_shm_tree tree_of(const Item &item, size_t number, uint32_t rank, uint32_t size,
                      std::vector<uint16_t> &children)
{
    uint32_t place = (rank + size - item.root) % size;
    uint32_t up = place > 0 ? parent_place(item, number, place) : 0;

    children.clear();
    for (uint32_t p = place + 1; p < size; p++)
        if (parent_place(item, number, p) == place)
            children.push_back((uint16_t) ((p + item.root) % size));
    return {(uint16_t) ((up + item.root) % size), (uint16_t) children.size(), children.data()};
}

} // namespace node
