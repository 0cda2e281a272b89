/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * counts: what the machines count, one field and one line of text each. The upper floors show every
 * one of them as a PVAR named hwmc_<field>.
 */
#ifndef HWMC_CORE_BASE_COUNTS_H_INCLUDED
#define HWMC_CORE_BASE_COUNTS_H_INCLUDED

#include <stdint.h>

#define HWMC_CORE_COUNTS(X)                                                                        \
    X(two_stage, "broadcasts (pieces) that ran as multicast with ring repair")                     \
    X(multilane, "broadcasts that ran along trees over the lanes of all rails")                    \
    X(sent_segments, "segments sent to children in trees")                                         \
    X(got_segments, "segments received from parents in trees")                                     \
    X(exchanges, "exchanges of blocks between members, as reductions and gathers have them")       \
    X(turns, "allgathers in which each member multicast its block")                                \
    X(sent_parts, "parts of blocks sent to members")                                               \
    X(got_parts, "parts of blocks received from members")                                          \
    X(lane_late, "times a child in a tree said that a rail brought it segments late")              \
    X(lane_eased, "times the share of a rail towards a child was lowered, as it was late")         \
    X(lane_regained,                                                                               \
      "times a rail towards a child that was not used any more, as it was late, was used again")   \
    X(lane_copies, "segments sent by such a rail too, to see how late they come")                  \
    X(cast_frags, "fragments multicast")                                                           \
    X(cast_again, "fragments multicast once more: neighbours lacked them")                         \
    X(got_cast, "fragments received by multicast")                                                 \
    X(got_repair, "fragments received as repairs or forwards over a lane")                         \
    X(lost_gap, "fragments requested because a later one of the broadcast had come")               \
    X(lost_tail, "broadcasts requested because nothing more came in time")                         \
    X(lost_later, "broadcasts requested because a later broadcast had come")                       \
    X(nacks_sent, "NACKs sent to the ring predecessor")                                            \
    X(nacks_received, "NACKs received from the ring successor")                                    \
    X(root_nacks_sent, "fragments that the root was told this rank and its successor lack")        \
    X(sought, "requests to other members, as the ring predecessor did not answer")                 \
    X(offered, "offers to members that requested so: what they lack is here")                      \
    X(found, "fragments received from members that got such requests")                             \
    X(given, "fragments sent to members that sent such requests")                                  \
    X(forwarded, "fragments sent to the ring successor, requested or pushed")                      \
    X(repaired, "broadcasts completed with at least one repaired fragment")                        \
    X(needless, "broadcasts requested that the multicast completed after all")                     \
    X(recovery_ns, "nanoseconds from the first request to completion, summed over repaired")       \
    X(dup, "fragments dropped: already here")                                                      \
    X(stale, "messages dropped: of a broadcast that is over")                                      \
    X(bad, "messages dropped: they contradict what is known")                                      \
    X(stalls, "times a broadcast waited for a free channel")                                       \
    X(syncs, "synchronizations completed: channels freed")                                         \
    X(holds, "broadcasts whose root delayed stage 1")                                              \
    X(held_ns, "nanoseconds by which roots delayed it, but for those that waited for a member")    \
    X(nacks_no_multicast, "broadcasts requested when called: of late nothing came on their rails") \
    X(rails_disabled,                                                                              \
      "rails that a communicator disabled in mid-run: a rank heard too little on them")            \
    X(disabled_silent, "of these, rails on which a rank heard nothing")                            \
    X(disabled_lossy, "of these, rails on which a rank lost too much")                             \
    X(rejoins, "times the network was told of a group again, on a disabled rail")                  \
    X(rails_returned, "rails that it enabled again: all ranks hear them")                          \
    X(trains, "trains of probes multicast on disabled rails")                                      \
    X(without_cast, "broadcasts along trees because all rails were disabled")                      \
    X(pushed, "broadcasts (pieces) whose repair was push, of two_stage")                           \
    X(to_push, "times a communicator went over to push: many broadcasts needed a repair")          \
    X(to_pull, "times a communicator went over to pull")                                           \
    X(periods, "times a communicator's period of synchronization changed")

struct hwmc_counts {
#define X(field, text) uint64_t field;
    HWMC_CORE_COUNTS(X)
#undef X
};

#endif /* HWMC_CORE_BASE_COUNTS_H_INCLUDED */
