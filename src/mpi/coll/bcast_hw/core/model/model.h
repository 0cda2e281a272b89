/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * model: the time of a broadcast by each algorithm, and so which one is selected: Table 1 of Chiba,
 * Endo, Matsuoka 2007, extended by multicast, ring repair, rails and sites. It is a function of its
 * arguments, in integers: ranks that know the same select the same.
 *
 * p ranks on h hosts at n sites, k = p / h a host, M bytes, one way l inside a site and L between
 * sites, b one rail's bandwidth, B that of all rails, q the part of the datagrams that each rank
 * loses, f the fragments of the message, o a host's time for one; log is to the base of 2, rounded
 * up.
 *
 *   two_stage  l + max(M / B, f o) (1 + 2 q) + min(1, f (p - 1) q) 2 l
 *                                                                 the last term: the repair of what
 *                                                                 is lost last, a round trip
 *   multilane  l + d (l + s / b) + k M / B                         s a segment, d the depth of t
 *                                                                 trees; the first l is the grants'
 *   binomial   log h (l + M / b)
 *   doubling   2 log h l + 2 (h - 1) / h M / b                    scatter, recursive-doubling
 *                                                                 allgather
 *   ring       (log h + h - 1) l + 2 (h - 1) / h M / b            scatter, ring allgather
 *
 * The last three are MPICH's. They use one rail at a time, and one rank of a host; the others get
 * the message from that rank's memory. Multicast reaches all ranks of a host at once; trees reach
 * each by itself. Of n sites, multicast adds L - l once, multilane n times, the others log n times.
 * Where multicast goes inside sites only, two_stage is the longer of multilane among one rank of
 * each site and of multicast among p / n ranks, and the multicast of one piece more; it adds L - l
 * n times. MPICH's bandwidth terms are those of one site: the model leaves out what several
 * transfers at once lose on a long line.
 *
 * Of more than two hosts, those that share processors or a line are slower while all work: c is
 * what M bytes over one rail take longer while each host sends to one and receives from another.
 * By multicast a host does one of both, which adds b / B c / 2. multilane adds k b / B c, binomial
 * (log h - 1) c, the others 2 (h - 1) / h c.
 */
#ifndef HWMC_CORE_MODEL_MODEL_H_INCLUDED
#define HWMC_CORE_MODEL_MODEL_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_ALGORITHMS(X)                                                                         \
    X(TWO_STAGE, two_stage, "multicast, then ring repair")                                         \
    X(MULTILANE, multilane, "trees over the lanes of all rails")                                   \
    X(BINOMIAL, binomial, "MPICH's binomial tree")                                                 \
    X(DOUBLING, doubling, "MPICH's scatter and recursive-doubling allgather")                      \
    X(RING, ring, "MPICH's scatter and ring allgather")

enum hwmc_algorithm {
#define X(name, lower, text) HWMC_ALGORITHM_##name,
    HWMC_ALGORITHMS(X)
#undef X
        HWMC_ALGORITHM_LIMIT
};

/* Of a network where nobody says and nothing was measured. A host's time for a datagram is that of
 * several in one system call, CRC and copy included. */
#define HWMC_GUESSED_LATENCY_NS 50000u
#define HWMC_GUESSED_MBIT 1000u
#define HWMC_GUESSED_DATAGRAM_NS 1000u
#define HWMC_GUESSED_MESSAGE_NS 5000u

/* Bytes that a host sends before others that send at the same time slow it down: queues on the way
 * take them. */
#define HWMC_LOADED_FIRST 65536u

/* Between hosts. */
struct hwmc_network {
    uint64_t latency_ns;      /* one way, of a short message */
    uint64_t site_latency_ns; /* the same between sites */
    uint32_t mbit;            /* of the fastest rail, Mbit/s, 1 or more */
    uint32_t mbit_all;        /* of all rails together, as far as they are used */
    uint32_t loss_ppm;        /* datagrams that a rank loses, in a million */
    uint32_t datagram_ns;     /* that a host is busy with a datagram */
    uint32_t message_ns;      /* ... and with a short message of several in a row */
    uint32_t loaded_mbit;     /* `mbit` while all hosts send; 0: not known */
    uint64_t loaded_ns;       /* latency if all hosts have a message on the way; 0: not known */
    uint64_t burst_bytes;     /* that a rail lets through faster than `mbit`, once */
};

/* Of a communicator. */
struct hwmc_shape {
    uint32_t ranks;      /* 2 or more */
    uint32_t hosts;      /* that they run on, 1 to ranks */
    uint32_t sites;      /* 1 or more */
    uint32_t frag_bytes; /* payload of a datagram; 0: there is no multicast */
    uint32_t trees;      /* of multilane; 0: it cannot run */
    uint32_t seg_bytes;  /* of its segments */
    uint32_t
        site_frag_bytes; /* payload of a datagram where multicast goes inside each site only, and
                               * trees from site to site; 0: it does not */
};

/* Nanoseconds, or UINT64_MAX where the algorithm cannot run, or nothing is known: a network without
 * bandwidth, a shape without ranks. `bytes` is any length. */
uint64_t hwmc_model_ns(const struct hwmc_network *net, const struct hwmc_shape *shape,
                       enum hwmc_algorithm algorithm, uint64_t bytes);

/* The fastest of those before `end` in the list above; of equal ones the first. Where nothing is
 * known: binomial. */
enum hwmc_algorithm hwmc_model_best(const struct hwmc_network *net, const struct hwmc_shape *shape,
                                    enum hwmc_algorithm end, uint64_t bytes);

/* The time of the fastest of hwmc's own. */
uint64_t hwmc_model_ours_ns(const struct hwmc_network *net, const struct hwmc_shape *shape,
                            uint64_t bytes);

/* How long messages keep hosts busy, ns: the busiest host for so long by itself. If hosts hinder
 * each other, all of them with so many messages, of so many bytes, of all members: the longer
 * counts, as they may be busy with the same. */
uint64_t hwmc_model_busy_ns(const struct hwmc_network *net, uint64_t busiest, uint64_t messages,
                            uint64_t bytes, uint32_t members);

/* How many times as long a host takes for something while all hosts are busy, as they share
 * processors or a line: 1 or more. */
uint64_t hwmc_model_crowd(const struct hwmc_network *net);

/* What hwmc saves with a message of `bytes`, ns: MPICH's fastest time less hwmc's fastest, or 0. */
uint64_t hwmc_model_gain(const struct hwmc_network *net, const struct hwmc_shape *shape,
                         uint64_t bytes);

/* What a group's set-up (core/negotiation) costs who waits for it, ns: three times up and down the
 * tree and a probe, and as much as once up and down for connections that are yet to be made. */
uint64_t hwmc_model_setup(const struct hwmc_network *net, const struct hwmc_shape *shape,
                          uint32_t fanout);

/* What is to be under way so that no sender waits for answers: twice bandwidth times round trip,
 * between sites if `far`. As segments of one tree, and as bytes of one of so many channels. At
 * least what serves in a host's neighbourhood. A channel has more bytes on a network that carries
 * more than a processor can send: a synchronization comes with so many pieces, and costs the same
 * whatever their length. */
uint32_t hwmc_model_segments(const struct hwmc_network *net, bool far, uint32_t trees,
                             uint32_t seg_bytes);
#define HWMC_MODEL_PIECE 65536u /* serves there, bytes */
uint32_t hwmc_model_piece(const struct hwmc_network *net, bool far, uint32_t channels);

/* The network carries more than a processor sends in short messages: longer ones are worth it. */
bool hwmc_model_is_fast(const struct hwmc_network *net);

/* A block takes longer on the wires than the messages do that it goes with: four latencies. What
 * every rank sends every other one goes straight then; shorter ones are better sent on together, in
 * fewer messages. */
bool hwmc_model_is_long(const struct hwmc_network *net, uint64_t block);

/* It is one of MPICH's own. */
static inline bool hwmc_algorithm_is_mpich(enum hwmc_algorithm a)
{
    return a >= HWMC_ALGORITHM_BINOMIAL;
}

#endif /* HWMC_CORE_MODEL_MODEL_H_INCLUDED */
