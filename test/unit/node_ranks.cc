// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// See node_ranks.h.
#include "node_ranks.h"

#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <thread>

namespace node {

namespace {

unsigned char byte_of(size_t number, uint64_t i)
{
    return (unsigned char) (number * 29 + i * 7 + (i >> 8) * 13 + 1);
}

// An affine map of integers; they are composed: not commutative.
struct Affine {
    uint32_t a, b;
};

constexpr uint32_t kNumber = 3; // bytes of what is added where there is no order

void compose(void *, void *inout, const void *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Affine f, g;

        memcpy(&f, (const char *) in + i * sizeof(f), sizeof(f));
        memcpy(&g, (char *) inout + i * sizeof(g), sizeof(g));
        g = {f.a * g.a, f.a * g.b + f.b};
        memcpy((char *) inout + i * sizeof(g), &g, sizeof(g));
    }
}

// Numbers of three bytes, with carry: elements that are cut are seen.
void add(void *, void *inout, const void *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t x = 0, y = 0;

        memcpy(&x, (const char *) in + i * kNumber, kNumber);
        memcpy(&y, (char *) inout + i * kNumber, kNumber);
        x += y;
        memcpy((char *) inout + i * kNumber, &x, kNumber);
    }
}

bcast_hw_node_operation operation_of(const Item &item)
{
    if (item.ordered)
        return {compose, nullptr, sizeof(Affine), false};
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
            name = bcast_hw_node_barrier_name((bcast_hw_node_barrier_algorithm) algorithm);
            break;
        case Kind::kBcast:
            of = "bcast";
            name = bcast_hw_node_bcast_name((bcast_hw_node_bcast_algorithm) algorithm);
            break;
        case Kind::kReduction:
        case Kind::kAllreduce:
            of = kind == Kind::kReduction ? "reduction" : "allreduce";
            name = bcast_hw_node_reduction_name((bcast_hw_node_reduction_algorithm) algorithm);
            break;
    }
    snprintf(s, sizeof(s), "%s %s root %u length %llu degree %u%s%s%s", of, name, root,
             (unsigned long long) length, degree, by_bits ? " bit by bit" : "",
             ordered ? " ordered" : "", in_place ? " in place" : "");
    return is_wrong() ? s + (" rank " + std::to_string(odd)) + " has " + std::to_string(odd_length)
                      : s;
}

Item any_item(const Config &config, sim::Rng &rng, uint32_t chunks)
{
    Item item;

    item.kind = (Kind) rng.below(4);
    item.algorithm =
        (int) rng.below(item.kind == Kind::kBarrier ? (int) BCAST_HW_NODE_BARRIER_NUM
                        : item.kind == Kind::kBcast ? (int) BCAST_HW_NODE_BCAST_NUM
                                                    : (int) BCAST_HW_NODE_REDUCTION_NUM);
    item.root = (uint32_t) rng.below(config.layout.ranks);
    item.length = any_length(config, rng, chunks);
    item.degree = (uint32_t) rng.below(5);
    item.by_bits = item.kind == Kind::kBcast && rng.below(3) == 0;
    if (item.kind == Kind::kBcast && rng.below(10) == 0) {
        item.odd = (uint32_t) rng.below(config.layout.ranks);
        item.odd_length = any_length(config, rng, chunks);
    }
    item.ordered = item.reduces() && rng.below(2);
    item.in_place = item.reduces() && rng.below(2);
    if (item.kind == Kind::kAllreduce)
        item.root = 0;
    return item;
}

bcast_hw_node_tree tree_of(const Item &item, size_t number, uint32_t rank, uint32_t size,
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

Memory::Memory(const bcast_hw_node_layout &layout) : bytes_(bcast_hw_node_segment_bytes(&layout))
{
    at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

Memory::~Memory()
{
    munmap(at, bytes_);
}

Rank::Rank(const Config &config, const bcast_hw_node_segment &segment, uint32_t rank,
           const Script &script, std::atomic<uint64_t> *begun, uint64_t seed)
    : config_(config), segment_(segment), script_(script), begun_(begun), rng_(seed * 1000 + rank)
{
    if (bcast_hw_node_group_init(&group, &segment_, rank, config.methods, &config.params) !=
        BCAST_HW_OK)
        wrong = "init";
}

void Rank::begin()
{
    const Item &item = script_[done_];
    bcast_hw_node_params params = config_.params;
    bcast_hw_node_tree tree = tree_of(item, done_, group.rank, group.size, children_);

    if (item.kind == Kind::kBarrier)
        params.barrier = (bcast_hw_node_barrier_algorithm) item.algorithm;
    else if (item.kind == Kind::kBcast)
        params.bcast = (bcast_hw_node_bcast_algorithm) item.algorithm;
    else
        params.reduction = (bcast_hw_node_reduction_algorithm) item.algorithm;
    if (bcast_hw_node_group_set(&group, &params) != BCAST_HW_OK)
        wrong = "parameters";
    begun_[group.rank].store(done_ + 1, std::memory_order_relaxed);
    running_ = true;
    if (item.kind == Kind::kBcast) {
        begin_bcast(tree);
    } else if (item.kind == Kind::kBarrier) {
        bcast_hw_node_barrier_begin(&barrier_, &group, &tree);
        op_ = &barrier_.op;
    } else {
        begin_reduction(tree);
    }
}

void Rank::begin_bcast(const bcast_hw_node_tree &tree)
{
    const Item &item = script_[done_];
    uint64_t length = item.length_of(group.rank);

    buf_.reset(new unsigned char[length]);
    memset(buf_.get(), 0x5a, length);
    ready_ = 0;
    if (group.rank == item.root) {
        ready_ = item.by_bits ? rng_.below(length + 1) : length;
        for (uint64_t i = 0; i < ready_; i++)
            buf_[i] = byte_of(done_, i);
    }
    bcast_hw_node_bcast_begin(&bcast_, &group, &tree, item.root, buf_.get(), length, ready_);
    op_ = &bcast_.op;
}

// Memory of the result only where one is needed.
void Rank::begin_reduction(const bcast_hw_node_tree &tree)
{
    const Item &item = script_[done_];
    bcast_hw_node_operation operation = operation_of(item);
    uint64_t bytes = whole_elements(item), count = bytes / operation.element;
    bool result = item.kind == Kind::kAllreduce || group.rank == item.root;
    bool in_place = item.in_place && result;
    int err;

    if (result || item.algorithm == BCAST_HW_NODE_REDUCTION_TREEMM)
        buf_.reset(new unsigned char[bytes]);
    if (!in_place)
        in_.reset(new unsigned char[bytes]);
    fill(item, done_, group.rank, in_place ? buf_.get() : in_.get(), bytes);
    const void *in = in_place ? buf_.get() : in_.get();
    if (item.kind == Kind::kAllreduce) {
        err = bcast_hw_node_allreduce_begin(&allreduce_, &group, &tree, &operation, in, buf_.get(),
                                            count);
        op_ = &allreduce_.op;
    } else {
        err = bcast_hw_node_reduction_begin(&reduction_, &group, &tree, item.root, &operation, in,
                                            buf_.get(), count);
        op_ = &reduction_.op;
    }
    if (err != BCAST_HW_OK)
        wrong = bcast_hw_err_text(err);
}

// More of the message comes to the root.
void Rank::more()
{
    const Item &item = script_[done_];
    uint64_t length = item.length_of(group.rank);

    if (item.kind != Kind::kBcast || group.rank != item.root || ready_ == length ||
        rng_.below(3) > 0)
        return;
    for (uint64_t n = rng_.between(1, length - ready_); n > 0; n--, ready_++)
        buf_[ready_] = byte_of(done_, ready_);
    bcast_hw_node_bcast_more(&bcast_, ready_);
}

void Rank::check_bytes(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (buf_[i] != byte_of(done_, i)) {
            wrong = "byte " + std::to_string(i) + " is wrong";
            return;
        }
}

void Rank::check_barrier()
{
    for (uint32_t r = 0; r < group.size; r++)
        if (begun_[r].load(std::memory_order_relaxed) <= done_)
            wrong = "out of the barrier before rank " + std::to_string(r) + " came";
}

// The result where there is one, from the last rank to the first; what was added is as it was.
void Rank::check_reduction()
{
    const Item &item = script_[done_];
    bcast_hw_node_operation operation = operation_of(item);
    uint64_t bytes = whole_elements(item), count = bytes / operation.element;
    std::vector<unsigned char> expected(bytes), one(bytes);

    if (in_ && bytes > 0) {
        fill(item, done_, group.rank, one.data(), bytes);
        if (memcmp(one.data(), in_.get(), bytes) != 0)
            wrong = "what was added has changed";
    }
    if (item.kind == Kind::kReduction && group.rank != item.root)
        return;
    fill(item, done_, group.size - 1, expected.data(), bytes);
    for (uint32_t r = group.size - 1; r-- > 0;) {
        fill(item, done_, r, one.data(), bytes);
        operation.combine(nullptr, expected.data(), one.data(), count);
    }
    for (uint64_t i = 0; i < bytes && wrong.empty(); i++)
        if (buf_[i] != expected[i])
            wrong = "byte " + std::to_string(i) + " is wrong";
}

void Rank::finish()
{
    const Item &item = script_[done_];
    uint64_t bytes = item.reduces() ? whole_elements(item) : item.length_of(group.rank);

    if (item.kind == Kind::kBarrier)
        check_barrier();
    else if (item.kind == Kind::kBcast)
        check_bytes(item.is_wrong_at(group.rank) ? 0 : bytes);
    else
        check_reduction();
    if (buf_)
        memset(buf_.get(), 0xa5, bytes);
    if (in_)
        memset(in_.get(), 0xa5, bytes);
    buf_.reset();
    in_.reset();
    running_ = false;
    done_++;
}

bool Rank::step()
{
    int err;

    if (over())
        return false;
    if (!joined_) {
        joined_ = bcast_hw_node_group_join(&group) == BCAST_HW_OK;
        return !over();
    }
    size_t number = done_;
    if (!running_)
        begin();
    else
        more();
    if (!wrong.empty())
        return false;
    err = bcast_hw_node_op_step(op_);
    if (err == BCAST_HW_ERR_INVAL && script_[number].is_wrong() &&
        bcast_hw_node_group_in_step(&group))
        finish();
    else if (err == BCAST_HW_OK && script_[number].is_wrong_at(group.rank))
        wrong = "is not told of the wrong length";
    else if (err == BCAST_HW_OK)
        finish();
    else if (err == BCAST_HW_AGAIN && !script_[number].is_wrong() &&
             script_[done_].kind == Kind::kBcast && rng_.below(16) == 0)
        check_bytes(bcast_.here);
    else if (err != BCAST_HW_AGAIN)
        wrong = bcast_hw_err_text(err);
    if (!wrong.empty())
        wrong = "rank " + std::to_string(group.rank) + " collective " + std::to_string(number) +
                " (" + script_[number].text() + "): " + wrong;
    return !over();
}

namespace {

// Steps within which a script is through, whatever the order.
uint64_t enough(const Config &config, const Script &script, uint64_t weights)
{
    uint64_t steps = 1000;

    for (const Item &item : script)
        steps += 100 + item.most() / config.params.copy_step +
                 item.most() / config.params.chunk * (20 + 2 * config.layout.ranks);
    return steps * config.layout.ranks * weights * 10;
}

} // namespace

std::string run(const Config &config, const Script &script, uint64_t seed,
                const std::vector<uint32_t> &weights)
{
    Memory memory(config.layout);
    bcast_hw_node_segment segment;
    uint32_t n = config.layout.ranks;
    std::vector<std::atomic<uint64_t>> begun(n);
    std::vector<std::unique_ptr<Rank>> ranks;
    std::vector<uint32_t> urn;
    sim::Rng rng(seed);

    if (bcast_hw_node_segment_over(&segment, &config.layout, memory.at) != BCAST_HW_OK)
        return "layout";
    for (uint32_t r = 0; r < n; r++) {
        ranks.push_back(std::make_unique<Rank>(config, segment, r, script, begun.data(), seed));
        urn.insert(urn.end(), weights.empty() ? 1 : weights[r], r);
    }
    uint64_t left = enough(config, script, urn.size()), over = 0;
    for (; over < n && left > 0; left--) {
        Rank &rank = *ranks[urn[rng.below(urn.size())]];

        if (rank.over())
            continue;
        rank.step();
        bcast_hw_node_group_check(&rank.group);
        if (!rank.wrong.empty())
            return config.text() + rank.wrong;
        over += rank.over();
    }
    for (auto &rank : ranks)
        if (!rank->over())
            return config.text() + "rank " + std::to_string(rank->group.rank) +
                   " waits for ever in collective " + std::to_string(rank->done()) + " (" +
                   script[rank->done()].text() + ")";
    return "";
}

std::pair<std::string, std::string> run_two(const Config &config, const Script &one,
                                            const Script &two)
{
    Memory memory(config.layout);
    bcast_hw_node_segment segment;
    std::atomic<uint64_t> begun[2] = {};

    if (bcast_hw_node_segment_over(&segment, &config.layout, memory.at) != BCAST_HW_OK)
        return {"no segment", "no segment"};
    Rank a(config, segment, 0, one, begun, 1), b(config, segment, 1, two, begun, 2);

    for (int i = 0; i < 100; i++) {
        a.step();
        b.step();
    }
    return {a.wrong, b.wrong};
}

std::string run_threads(const Config &config, const Script &script, uint64_t seed)
{
    Memory memory(config.layout);
    bcast_hw_node_segment segment;
    uint32_t n = config.layout.ranks;
    std::vector<std::atomic<uint64_t>> begun(n);
    std::vector<std::unique_ptr<Rank>> ranks;
    std::vector<std::thread> threads;
    std::atomic<bool> stop = false;
    std::string wrong;

    bcast_hw_node_segment_over(&segment, &config.layout, memory.at);
    for (uint32_t r = 0; r < n; r++)
        ranks.push_back(std::make_unique<Rank>(config, segment, r, script, begun.data(), seed));
    for (auto &rank : ranks)
        threads.emplace_back([&rank, &stop] {
            bcast_hw_node_wait wait = {.max = 10, .spins = 0};

            while (!stop && rank->step())
                bcast_hw_node_wait_once(&wait);
            if (!rank->wrong.empty())
                stop = true;
        });
    for (std::thread &thread : threads)
        thread.join();
    for (auto &rank : ranks)
        if (!rank->wrong.empty())
            wrong += config.text() + rank->wrong + "\n";
    return wrong;
}

} // namespace node
