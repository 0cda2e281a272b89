// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Ranks of a node that run a script of collectives, each checking what it gets. A rank makes one
// step at a time, so one thread can run them all in any order; or each has a thread or a process of
// its own.
#ifndef HWMC_TEST_UNIT_SHM_RANKS_H_INCLUDED
#define HWMC_TEST_UNIT_SHM_RANKS_H_INCLUDED

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shm_item.h"
#include "shm_vector_ranks.h"
#include "shm_scan_ranks.h"

extern "C" {
#include "shm/coll/allreduce.h"
#include "shm/coll/barrier.h"
#include "shm/coll/bcast.h"
#include "shm/segment/wakeup.h"
#include "shm/segment/relax.h"
}

namespace node {

// Zeroed memory for a segment over it.
class Memory {
  public:
    explicit Memory(const hwmc_shm_layout &layout);
    ~Memory();
    void *at;

  private:
    size_t bytes_;
};

class Rank {
  public:
    // `begun`: for all ranks, how many collectives they have begun; shared by them.
    Rank(const Config &config, const hwmc_shm_segment &segment, uint32_t rank, const Script &script,
         std::atomic<uint64_t> *begun, uint64_t seed);
    Rank(const Rank &) = delete;
    ~Rank();

    // One step; false: it is through, or something is wrong.
    bool step();
    // The last step found nothing to do.
    bool idle() const
    {
        return running_ && idle_ > 0;
    }
    size_t done() const
    {
        return done_;
    }
    // Bytes that are here of the broadcast under way; 0: none is.
    uint64_t here() const
    {
        return running_ && op_ == &bcast_.op ? bcast_.here : 0;
    }
    bool over() const
    {
        return (joined_ && done_ == script_.size()) || !wrong.empty();
    }

    std::string wrong;  // empty: nothing
    bool checks = true; // what it gets; not where ranks do not call the same
    hwmc_shm_group group = {};

  private:
    void begin();
    void begin_bcast(const hwmc_shm_tree &tree);
    void begin_reduction(const hwmc_shm_tree &tree);
    void more();
    void check();
    void finish();
    bool may_be_told() const;
    bool is_stuck();
    void check_barrier();
    void check_reduction();
    void check_bytes(uint64_t n);

    const Config config_;
    hwmc_shm_segment segment_;
    const Script &script_;
    std::atomic<uint64_t> *begun_;
    sim::Rng rng_;
    size_t done_ = 0;
    bool joined_ = false, running_ = false;
    uint32_t idle_ = 0; // steps one after the other that did nothing
    hwmc_shm_barrier barrier_;
    hwmc_shm_bcast bcast_;
    hwmc_shm_reduction reduction_;
    hwmc_shm_allreduce allreduce_;
    Parts parts_;
    Scans scans_;
    hwmc_shm_op *op_ = nullptr;
    std::vector<uint16_t> children_;
    // Of this collective only: a late access is seen. in_: what is added, where that is not in
    // place.
    std::unique_ptr<unsigned char[]> buf_, in_;
    uint64_t ready_ = 0;
};

// All ranks in one thread, in an order drawn by `seed`, rank r in proportion to weight[r] (none:
// alike). What is wrong, or nothing.
std::string run(const Config &config, const Script &script, uint64_t seed,
                const std::vector<uint32_t> &weights = {});

// Two ranks of a group of two that do not call the same: what each says is wrong.
std::pair<std::string, std::string> run_two(const Config &config, const Script &one,
                                            const Script &two);

// Each rank in a thread of its own.
std::string run_threads(const Config &config, const Script &script, uint64_t seed);

// The same; a rank that finds nothing to do sleeps until another rings. Messages come whole.
std::string run_sleepers(const Config &config, Script script, uint64_t seed);

} // namespace node

#endif // HWMC_TEST_UNIT_SHM_RANKS_H_INCLUDED
