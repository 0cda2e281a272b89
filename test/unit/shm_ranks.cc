// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// See shm_ranks.h.
#include "shm_ranks.h"

#include <string.h>
#include <sys/mman.h>

#include <chrono>
#include <thread>

namespace node {

Memory::Memory(const hwmc_shm_layout &layout) : bytes_(hwmc_shm_segment_bytes(&layout))
{
    at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

Memory::~Memory()
{
    munmap(at, bytes_);
}

Rank::Rank(const Config &config, const hwmc_shm_segment &segment, uint32_t rank,
           const Script &script, std::atomic<uint64_t> *begun, uint64_t seed)
    : config_(config), segment_(segment), script_(script), begun_(begun), rng_(seed * 1000 + rank)
{
    if (hwmc_shm_group_init(&group, &segment_, rank, config.methods, &config.params) != HWMC_OK)
        wrong = "init";
}

Rank::~Rank()
{
    hwmc_shm_group_fini(&group);
}

void Rank::begin()
{
    const Item &item = script_[done_];
    hwmc_shm_params params = config_.params;
    hwmc_shm_tree tree = tree_of(item, done_, group.rank, group.size, children_);

    if (item.chunk > 0)
        params.chunk = item.chunk;
    if (item.kind == Kind::kBarrier)
        params.barrier = (hwmc_shm_barrier_algorithm) item.algorithm;
    else if (item.kind == Kind::kBcast)
        params.bcast = (hwmc_shm_bcast_algorithm) item.algorithm;
    else
        params.reduction = (hwmc_shm_reduction_algorithm) item.algorithm;
    if (hwmc_shm_group_set(&group, &params) != HWMC_OK)
        wrong = "parameters";
    begun_[group.rank].store(done_ + 1, std::memory_order_relaxed);
    running_ = true;
    idle_ = 0;
    if (item.kind == Kind::kBcast) {
        begin_bcast(tree);
    } else if (item.has_parts()) {
        op_ = parts_.begin(&group, item, done_);
    } else if (item.scans()) {
        op_ = scans_.begin(&group, item, done_, tree);
        if (op_ == nullptr)
            wrong = "is refused";
    } else if (item.kind == Kind::kBarrier) {
        hwmc_shm_barrier_begin(&barrier_, &group, &tree);
        op_ = &barrier_.op;
    } else {
        begin_reduction(tree);
    }
}

// As programs may have it, none where there are no bytes.
static std::unique_ptr<unsigned char[]> memory_of(uint64_t bytes)
{
    std::unique_ptr<unsigned char[]> memory(bytes > 0 ? new unsigned char[bytes] : nullptr);

    if (memory)
        memset(memory.get(), 0x5a, bytes);
    return memory;
}

void Rank::begin_bcast(const hwmc_shm_tree &tree)
{
    const Item &item = script_[done_];
    uint64_t length = item.length_of(group.rank);

    buf_ = memory_of(length);
    ready_ = 0;
    if (group.rank == item.root) {
        ready_ = item.by_bits ? rng_.below(length + 1) : length;
        for (uint64_t i = 0; i < ready_; i++)
            buf_[i] = byte_of(done_, i);
    }
    hwmc_shm_bcast_begin(&bcast_, &group, &tree, item.root, buf_.get(), length, ready_);
    op_ = &bcast_.op;
}

// Memory of the result only where one is needed.
void Rank::begin_reduction(const hwmc_shm_tree &tree)
{
    const Item &item = script_[done_];
    hwmc_shm_operation operation = operation_of(item);
    uint64_t bytes = whole_elements(item), count = bytes / operation.element;
    bool result = item.kind == Kind::kAllreduce || group.rank == item.root;
    bool in_place = item.in_place && result;
    int err;

    if (result || item.algorithm == HWMC_SHM_REDUCTION_TREEMM)
        buf_ = memory_of(bytes);
    if (!in_place)
        in_ = memory_of(bytes);
    fill(item, done_, group.rank, in_place ? buf_.get() : in_.get(), bytes);
    const void *in = in_place ? buf_.get() : in_.get();
    if (item.kind == Kind::kAllreduce) {
        err =
            hwmc_shm_allreduce_begin(&allreduce_, &group, &tree, &operation, in, buf_.get(), count);
        op_ = &allreduce_.op;
    } else {
        err = hwmc_shm_reduction_begin(&reduction_, &group, &tree, item.root, &operation, in,
                                       buf_.get(), count);
        op_ = &reduction_.op;
    }
    if (err != HWMC_OK)
        wrong = hwmc_err_text(err);
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
    hwmc_shm_bcast_more(&bcast_, ready_);
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
    hwmc_shm_operation operation = operation_of(item);
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
        operation.combine(nullptr, expected.data(), one.data(), expected.data(), count);
    }
    for (uint64_t i = 0; i < bytes && wrong.empty(); i++)
        if (buf_[i] != expected[i])
            wrong = "byte " + std::to_string(i) + " is wrong";
}

void Rank::check()
{
    const Item &item = script_[done_];

    if (item.kind == Kind::kBarrier)
        check_barrier();
    else if (item.kind == Kind::kBcast)
        check_bytes(item.is_wrong_at(group.rank) ? 0 : item.length_of(group.rank));
    else if (item.has_parts())
        wrong = parts_.check();
    else if (item.scans())
        wrong = scans_.check();
    else
        check_reduction();
}

void Rank::finish()
{
    const Item &item = script_[done_];
    uint64_t bytes = item.reduces() ? whole_elements(item) : item.length_of(group.rank);

    if (checks)
        check();
    if (buf_)
        memset(buf_.get(), 0xa5, bytes);
    if (in_)
        memset(in_.get(), 0xa5, bytes);
    buf_.reset();
    in_.reset();
    running_ = false;
    done_++;
}

// Lengths disagree; in a broadcast, this rank's and the root's.
bool Rank::may_be_told() const
{
    const Item &item = script_[done_];

    if (!checks)
        return true;
    return item.is_wrong() &&
           (item.kind != Kind::kBcast || group.rank == item.root || item.is_wrong_at(group.rank));
}

// As one who waits under MPI looks. Not a root whose message still comes.
bool Rank::is_stuck()
{
    const Item &item = script_[done_];
    bool comes =
        item.kind == Kind::kBcast && group.rank == item.root && ready_ < item.length_of(group.rank);

    idle_ = op_->moved || comes ? 0 : idle_ + 1;
    return idle_ > 0 && idle_ % HWMC_SHM_MISMATCH_STEPS == 0 && hwmc_shm_mismatch_look(&group);
}

bool Rank::step()
{
    int err;

    if (over())
        return false;
    if (!joined_) {
        joined_ = hwmc_shm_group_join(&group) == HWMC_OK;
        return !over();
    }
    size_t number = done_;
    if (!running_)
        begin();
    else
        more();
    if (!wrong.empty())
        return false;
    err = hwmc_shm_op_step(op_);
    if (err == HWMC_AGAIN && is_stuck())
        wrong = "waits for ever";
    else if (err == HWMC_ERR_INVAL && may_be_told() && hwmc_shm_group_in_step(&group))
        finish();
    else if (err == HWMC_OK && checks &&
             (script_[number].has_parts() ? parts_.must_be_told()
                                          : script_[number].is_wrong_at(group.rank)))
        wrong = "is not told of the wrong length";
    else if (err == HWMC_OK)
        finish();
    else if (err == HWMC_AGAIN && checks && !script_[number].is_wrong() &&
             script_[done_].kind == Kind::kBcast && rng_.below(16) == 0)
        check_bytes(bcast_.here);
    else if (err != HWMC_AGAIN)
        wrong = hwmc_err_text(err);
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

    for (const Item &item : script) {
        uint64_t bytes = item.most() * (item.has_parts() ? 2 * config.layout.ranks
                                        : item.scans()   ? 2
                                                         : 1);

        uint32_t chunk = item.chunk > 0 ? item.chunk : config.params.chunk;

        steps +=
            100 + bytes / config.params.copy_step + bytes / chunk * (20 + 2 * config.layout.ranks);
    }
    return steps * config.layout.ranks * weights * 10;
}

} // namespace

std::string run(const Config &config, const Script &script, uint64_t seed,
                const std::vector<uint32_t> &weights)
{
    Memory memory(config.layout);
    hwmc_shm_segment segment;
    uint32_t n = config.layout.ranks;
    std::vector<std::atomic<uint64_t>> begun(n);
    std::vector<std::unique_ptr<Rank>> ranks;
    std::vector<uint32_t> urn;
    sim::Rng rng(seed);

    if (hwmc_shm_segment_over(&segment, &config.layout, memory.at) != HWMC_OK)
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
        hwmc_shm_group_check(&rank.group);
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
    hwmc_shm_segment segment;
    std::atomic<uint64_t> begun[2] = {};

    if (hwmc_shm_segment_over(&segment, &config.layout, memory.at) != HWMC_OK)
        return {"no segment", "no segment"};
    Rank a(config, segment, 0, one, begun, 1), b(config, segment, 1, two, begun, 2);

    for (int i = 0; i < 100; i++) {
        a.step();
        b.step();
    }
    return {a.wrong, b.wrong};
}

namespace {

// One rank, in its thread. Gives way between steps.
void spin(Rank &rank, const std::atomic<bool> &stop)
{
    hwmc_shm_relax_state wait = {.max = 10, .spins = 0};

    while (!stop && rank.step())
        hwmc_shm_relax_once(&wait);
}

// The same, and sleeps. To wake without a ring is to have been forgotten: nothing takes that long.
void sleep(Rank &rank, const std::atomic<bool> &stop)
{
    constexpr std::chrono::seconds kForgotten{20};

    while (!stop && rank.step()) {
        if (!rank.idle())
            continue;
        hwmc_shm_wakeup_ring(&rank.group);
        uint32_t heard = hwmc_shm_wakeup_listen(&rank.group), steps = 0;
        while (steps < HWMC_SHM_WAKEUP_STEPS && rank.step() && rank.idle() &&
               !hwmc_shm_wakeup_elsewhere(&rank.group))
            steps++;
        hwmc_shm_wakeup_ring(&rank.group);
        if (steps < HWMC_SHM_WAKEUP_STEPS) {
            hwmc_shm_wakeup_leave(&rank.group);
            continue;
        }
        auto begin = std::chrono::steady_clock::now();
        hwmc_shm_wakeup_sleep(&rank.group, heard, std::chrono::nanoseconds(kForgotten).count());
        if (!stop && std::chrono::steady_clock::now() - begin >= kForgotten)
            rank.wrong = "was not woken";
    }
    hwmc_shm_wakeup_ring(&rank.group);
}

std::string run_each(const Config &config, const Script &script, uint64_t seed,
                     void (*one)(Rank &rank, const std::atomic<bool> &stop))
{
    Memory memory(config.layout);
    hwmc_shm_segment segment;
    uint32_t n = config.layout.ranks;
    std::vector<std::atomic<uint64_t>> begun(n);
    std::vector<std::unique_ptr<Rank>> ranks;
    std::vector<std::thread> threads;
    std::atomic<bool> stop = false;
    std::string wrong;

    hwmc_shm_segment_over(&segment, &config.layout, memory.at);
    for (uint32_t r = 0; r < n; r++)
        ranks.push_back(std::make_unique<Rank>(config, segment, r, script, begun.data(), seed));
    for (auto &rank : ranks)
        threads.emplace_back([&rank, &stop, one] {
            one(*rank, stop);
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

} // namespace

std::string run_threads(const Config &config, const Script &script, uint64_t seed)
{
    return run_each(config, script, seed, spin);
}

std::string run_sleepers(const Config &config, Script script, uint64_t seed)
{
    for (Item &item : script)
        item.by_bits = false;
    return run_each(config, script, seed, sleep);
}

} // namespace node
