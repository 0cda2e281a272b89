/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * slot: the contents of a rank's block, and in which order they are written and read. After the
 * metadata arrays of the paper (Velamati et al. 2007, section 3.1), with serial numbers in place of
 * the closing barrier (its section 4, ii) and small messages inside (i).
 *
 * Collectives of a group are numbered from 1, alike on all ranks: the serial. Each has in each
 * rank's block slot serial mod K. A slot has two parts, called its lines though the first has
 * several: what one short message needs is in the first of these. Each has one writer, its rank,
 * and is stamped with the serial:
 *
 *     out   what the rank has for others: an address, how much is ready there, or the message
 *     ack   what the rank has taken
 *
 * Words that are not stamped only grow, so a rank that reads a later value knows no less.
 *
 * Rules (C11 memory model). w: the block's rank, r: any other.
 *
 * 1. Opening. w writes the plain fields of a line and then its serial, by release. r looks at the
 *    serial by acquire, and at the other fields only once that is the serial of its own collective.
 *    So r reads what w wrote before opening. A rank that passes a broadcast on opens before it
 *    knows whether its parent has the same length, and may write them once more: its children look
 *    at them only once `ready` is not 0.
 * 2. Progress. `ready` and `taken` grow while the line is open. w stores by release after what they
 *    tell of: bytes written before `ready`, bytes read before `taken`. r loads by acquire. So what
 *    `ready` covers can be read, and what `taken` covers can be overwritten.
 * 3. Run-ahead. w opens a line for serial s only after it has loaded, by acquire, from every rank's
 *    `finished` a value of at least s - K, which that rank stored by release after all it did for
 *    serials up to that. So nobody reads the line for serial s - K while it is written for s, and
 *    rule 1 finds no later serial than its own; and a rank that has something for others is at most
 *    K collectives ahead of the slowest.
 * 4. Buffers. w writes a chunk to a buffer only when the one before it there has been read: of the
 *    same collective, by `taken` of all that read it (rule 2); of an earlier one, by `finished` of
 *    all ranks.
 * 5. Barrier. `up` and `down` are not stamped: they are serials themselves, and grow. w stores by
 *    release, r loads by acquire.
 * 6. `signal` is the only place with many writers: rank i sets bit i by fetch-or, release; its rank
 *    loads by acquire, clears it, and only then stores `down`, after which bits are set anew. The
 *    fetch-ors are one release sequence, so the load that sees all bits sees what all did before.
 * 7. Memory of the program. Its address stands in a line, so it is read, or written, by others
 *    after rule 1; it is the program's again after they have shown that they are done, by rule 2.
 *    What the kernel copies for a rank counts as that rank's own reads and writes.
 *
 * Lengths that disagree are an error of the program, found by whoever looks at another's line.
 * Where it can be had simply, that rank goes by the length that the line says, reads and writes no
 * more than both have, acknowledges as if all were well, and answers ERR_INVAL at the end: then
 * nobody waits for ever, and the group is in step.
 *
 * A rank that has finished serial s owes nobody anything for it: what others need of it stands in
 * its block. So a rank waits only for ranks that are in the same collective or in an earlier one,
 * and no schedule of the ranks ends in a deadlock. Ranks that do not call the same may wait for
 * ever: mismatch.h finds that.
 *
 * C only: C++ has other atomics.
 */
#ifndef HWMC_SHM_SEGMENT_SLOT_H_INCLUDED
#define HWMC_SHM_SEGMENT_SLOT_H_INCLUDED

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../copy/copy.h"
#include "params.h"
#include "segment.h"

/* Two lines of 64 bytes: processors fetch them in pairs. */
#define HWMC_SHM_LINE 128

/* Lines of a slot's `out`. */
#define HWMC_SHM_OUT_LINES 8

struct hwmc_shm_out {
    alignas(HWMC_SHM_LINE) _Atomic uint64_t serial;
    _Atomic uint64_t ready; /* bytes at `addr`, or chunks in buffers; grows */
    uint64_t length;        /* of the message, bytes, as this rank has it */
    uint64_t addr;          /* of this rank's memory; 0: chunks, or inline */
    uint64_t first;         /* chunk i is in buffer (first + i) mod the number of buffers */
    /* The message; reductions that go direct: the address of the result; bcasts that go direct:
     * whose memory `addr` is in. Aligned for elements of any type. */
    alignas(16) unsigned char body[HWMC_SHM_INLINE];
};

struct hwmc_shm_ack {
    alignas(HWMC_SHM_LINE) _Atomic uint64_t serial;
    /* Chunks, in a reduction of all its children; or 1: all; AG: its piece is where it belongs;
     * grows. */
    _Atomic uint64_t taken;
};

struct hwmc_shm_slot {
    struct hwmc_shm_out out;
    struct hwmc_shm_ack ack;
};

/* What ranks sleep on: wakeup.h. */
struct hwmc_shm_wakeup {
    alignas(HWMC_SHM_LINE) _Atomic uint32_t sleepers;
    _Atomic uint32_t rings;
};

/* What a rank tells of itself when the group is made. */
struct hwmc_shm_peer_info {
    alignas(HWMC_SHM_LINE) _Atomic uint64_t there; /* 1: the fields below are written */
    uint64_t methods;                              /* of single copy that it may use, a bit each */
    struct hwmc_shm_owner owner;
};

struct hwmc_shm_words {
    struct hwmc_shm_peer_info peer_info;
    /* 0: not known yet; else the methods by which it reads all others' memory, and VERDICT. */
    alignas(HWMC_SHM_LINE) _Atomic uint64_t verdict;
    /* 0, or one more than the serial of the first collective that it takes no part in. */
    _Atomic uint64_t failed;
    /* Why it failed: 0, or who cannot reach whom (hwmc_shm_loss), the latter plus one. */
    _Atomic uint64_t lost;
    _Atomic uint64_t looks;                           /* while it waits long: mismatch.h; grows */
    alignas(HWMC_SHM_LINE) _Atomic uint64_t finished; /* serial up to which all is done */
    alignas(
        HWMC_SHM_LINE) _Atomic uint64_t up; /* barrier: how far it is; shm/coll/barrier_impl.h */
    alignas(HWMC_SHM_LINE) _Atomic uint64_t down; /* barrier: serial of which it knows the end */
    alignas(HWMC_SHM_LINE) _Atomic uint64_t signal[HWMC_SHM_RANKS_MAX / 64];
    struct hwmc_shm_wakeup wakeup; /* of ranks that wait for this one */
};

#define HWMC_SHM_VERDICT (UINT64_C(1) << 63)

_Static_assert(sizeof(struct hwmc_shm_out) == HWMC_SHM_OUT_LINES * HWMC_SHM_LINE, "whole lines");
_Static_assert(sizeof(struct hwmc_shm_ack) == HWMC_SHM_LINE, "a line");
_Static_assert(sizeof(struct hwmc_shm_words) == 6 * HWMC_SHM_LINE + HWMC_SHM_RANKS_MAX / 8,
               "a line a word, and one bit for each rank");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "words that processes share have no lock");

static inline uint64_t hwmc_shm_load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

static inline void hwmc_shm_store(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

static inline unsigned char *hwmc_shm_block(const struct hwmc_shm_segment *s, uint32_t rank)
{
    return s->base + HWMC_SHM_HEADER + rank * s->block_bytes;
}

static inline struct hwmc_shm_words *hwmc_shm_words(const struct hwmc_shm_segment *s, uint32_t rank)
{
    return (struct hwmc_shm_words *) hwmc_shm_block(s, rank);
}

static inline struct hwmc_shm_slot *hwmc_shm_slot(const struct hwmc_shm_segment *s, uint32_t rank,
                                                  uint64_t serial)
{
    struct hwmc_shm_slot *slots = (struct hwmc_shm_slot *) (hwmc_shm_block(s, rank) + s->slots_at);

    return &slots[serial & (s->layout.slots - 1)];
}

/* Opens a line (rule 1); the run-ahead bound (rule 3) is the caller's to keep. */
static inline void hwmc_shm_open_ack(struct hwmc_shm_ack *ack, uint64_t serial)
{
    atomic_store_explicit(&ack->taken, 0, memory_order_relaxed);
    hwmc_shm_store(&ack->serial, serial);
}

static inline void hwmc_shm_open_out(struct hwmc_shm_out *out, uint64_t serial, uint64_t length,
                                     uint64_t addr, uint64_t first)
{
    atomic_store_explicit(&out->ready, 0, memory_order_relaxed);
    out->length = length;
    out->addr = addr;
    out->first = first;
    hwmc_shm_store(&out->serial, serial);
}

/* The same with a message in the body. */
static inline void hwmc_shm_open_body(struct hwmc_shm_out *out, uint64_t serial, uint64_t length)
{
    out->length = length;
    out->addr = 0;
    out->first = 0;
    hwmc_shm_store(&out->ready, 1);
    hwmc_shm_store(&out->serial, serial);
}

/* How much its rank has taken in this collective; 0 before it came. */
static inline uint64_t hwmc_shm_taken(const struct hwmc_shm_ack *ack, uint64_t serial)
{
    return hwmc_shm_load(&ack->serial) == serial ? hwmc_shm_load(&ack->taken) : 0;
}

#endif /* HWMC_SHM_SEGMENT_SLOT_H_INCLUDED */
