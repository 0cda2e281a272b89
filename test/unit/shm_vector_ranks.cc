// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// See shm_vector_ranks.h.
#include "shm_vector_ranks.h"

#include <string.h>

#include <algorithm>

namespace node {

namespace {

constexpr unsigned char kUntouched = 0x5a;

unsigned char byte_at(size_t number, uint32_t from, uint32_t to, uint64_t i)
{
    return byte_of(number * 5 + from * 3 + to * 11, i);
}

} // namespace

bool Parts::is_one_to_each() const
{
    return item_.kind == Kind::kScatter || item_.kind == Kind::kAlltoall;
}

bool Parts::gives() const
{
    return item_.kind != Kind::kScatter || group_->rank == item_.root;
}

bool Parts::takes() const
{
    return item_.kind != Kind::kGather || group_->rank == item_.root;
}

// What the reader expects.
uint64_t Parts::expected(uint32_t from, uint32_t to) const
{
    uint32_t who = (item_.kind == Kind::kScatter ? 0 : from * 64) + (is_one_to_each() ? to : 0);
    sim::Rng rng(number_ * 100000 + who);

    if (!item_.uneven)
        return item_.length;
    return rng.below(4) == 0 ? 0 : item_.length * rng.below(9) / 4;
}

uint64_t Parts::given(uint32_t from, uint32_t to) const
{
    return from == item_.odd && item_.is_wrong() ? item_.odd_length : expected(from, to);
}

// Parts of such lengths: in any order, with gaps; or at a stride.
void Parts::lay(Memory &m, const std::vector<uint64_t> &lengths, bool stride)
{
    std::vector<uint32_t> order(lengths.size());
    sim::Rng rng(number_ * 1000 + group_->rank);
    uint64_t gap = rng.below(9);

    m.each.resize(lengths.size());
    m.size = 0;
    for (uint32_t i = 0; i < order.size(); i++)
        order[i] = i;
    for (size_t i = order.size(); i > 1 && !stride; i--)
        std::swap(order[i - 1], order[rng.below(i)]);
    for (uint32_t i : order) {
        m.each[i] = {m.size, lengths[i]};
        m.size += lengths[i] + (stride ? gap : rng.below(9));
    }
    if (stride && !lengths.empty())
        m.size -= gap;
    m.vector = {m.each.data(), 0, 0};
    if (stride && !lengths.empty())
        m.vector = {nullptr, lengths[0] + gap, lengths[0]};
    m.bytes.reset(new unsigned char[m.size]);
    memset(m.bytes.get(), kUntouched, m.size);
}

// The part `from` gave `to`, of which `bytes` are there.
void Parts::write(unsigned char *at, uint32_t from, uint32_t to, uint64_t bytes) const
{
    for (uint64_t i = 0; i < bytes; i++)
        at[i] = byte_at(number_, from, is_one_to_each() ? to : 0, i);
}

void Parts::lay_all()
{
    uint32_t me = group_->rank, n = group_->size;
    std::vector<uint64_t> in, out;

    if (gives())
        for (uint32_t i = 0; i < (is_one_to_each() ? n : 1); i++)
            in.push_back(given(me, i));
    if (takes())
        for (uint32_t i = 0; i < (item_.kind == Kind::kScatter ? 1 : n); i++)
            out.push_back(item_.kind == Kind::kScatter ? expected(item_.root, me)
                                                       : expected(i, me));
    lay(in_, in, !item_.uneven);
    lay(out_, out, !item_.uneven);
    for (uint32_t i = 0; i < in.size(); i++)
        write(in_.bytes.get() + in_.each[i].at, me, i, in[i]);
}

// The own part is where it belongs, or not wanted there.
bool Parts::in_place() const
{
    bool rooted = item_.kind == Kind::kGather || item_.kind == Kind::kScatter;

    return item_.in_place && item_.kind != Kind::kAlltoall &&
           (!rooted || group_->rank == item_.root);
}

hwmc_shm_op *Parts::begin(hwmc_shm_group *g, const Item &item, size_t number)
{
    const void *in;

    group_ = g;
    item_ = item;
    number_ = number;
    lay_all();
    in = in_.bytes.get();
    if (gives() && !is_one_to_each()) {
        in = in_.bytes.get() + in_.each[0].at;
        if (in_place()) {
            write(out_.bytes.get() + out_.each[g->rank].at, g->rank, 0, expected(g->rank, g->rank));
            in = nullptr;
        }
    }
    switch (item.kind) {
        case Kind::kGather:
            hwmc_shm_gather_begin(&gather_, g, item.root, in, in_.each[0].bytes,
                                  takes() ? out_.bytes.get() : nullptr,
                                  takes() ? &out_.vector : nullptr);
            return &gather_.op;
        case Kind::kAllgather:
            hwmc_shm_gather_begin_to_all(&gather_, g, in, in_.each[0].bytes, out_.bytes.get(),
                                         &out_.vector);
            return &gather_.op;
        case Kind::kScatter:
            hwmc_shm_scatter_begin(&scatter_, g, item.root, gives() ? in : nullptr,
                                   gives() ? &in_.vector : nullptr,
                                   in_place() ? nullptr : out_.bytes.get(), out_.each[0].bytes);
            return &scatter_.op;
        default:
            hwmc_shm_scatter_begin_of_all(&scatter_, g, in, &in_.vector, out_.bytes.get(),
                                          &out_.vector);
            return &scatter_.op;
    }
}

bool Parts::must_be_told() const
{
    bool wrong = false;

    if (takes() && item_.kind == Kind::kScatter)
        wrong =
            !in_place() && given(item_.root, group_->rank) != expected(item_.root, group_->rank);
    else if (takes())
        for (uint32_t i = 0; i < group_->size; i++)
            wrong |= given(i, group_->rank) != expected(i, group_->rank);
    return wrong;
}

std::string Parts::check()
{
    std::vector<unsigned char> whole(out_.size, kUntouched);
    uint32_t me = group_->rank;

    for (uint32_t i = 0; i < out_.each.size(); i++) {
        uint32_t from = item_.kind == Kind::kScatter ? item_.root : i;

        if (item_.kind == Kind::kScatter && in_place())
            continue;
        write(whole.data() + out_.each[i].at, from, me,
              std::min(given(from, me), expected(from, me)));
    }
    for (uint64_t i = 0; i < whole.size(); i++)
        if (out_.bytes[i] != whole[i])
            return "byte " + std::to_string(i) + " is wrong";
    memset(in_.bytes.get(), 0xa5, in_.size);
    in_.bytes.reset();
    out_.bytes.reset();
    return "";
}

} // namespace node
