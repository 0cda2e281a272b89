/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * measure: latency and bandwidth of each lane from this process to one other. For each lane in
 * turn it sends pings, and takes the shortest round trip and the median. Then it sends short
 * messages in a row: what the row takes longer than one message is the hosts' time for the others.
 * Then trains of segments, each twice as long as the one before, until one takes TRAIN_NS twice;
 * then some more of that length, one straight after the other. Their shortest time, less the round
 * trip, counts. By then the burst that a shaper lets through at first is used up: it is what the
 * first trains brought more than the rate and their time allow.
 *
 * Measurements of all hosts at once are brief: pings alone, as others' trains would delay them; and
 * pings, and trains of a length that is known. The mean time of the trains after the first one
 * counts.
 *
 * One MEASURE is under way at a time, with a serial number. The other end answers it when
 * everything before it has come, as lanes keep order. The cost is 19 round trips a lane and trains
 * of about twelve TRAIN_NS, 5 MiB at most.
 *
 *   IDLE --start--> PING --16--> ROW --3--> GROW --long enough--> TRAIN --3--> PING, of the next
 *                    \--brief--> TRAIN                                         lane, or DONE
 *                    \--pings alone------------------------------------------>
 *
 * Invariants: what is asked is answered once; DONE means every lane that was to be measured has
 * figures.
 */
#ifndef HWMC_CORE_MODEL_MEASURE_H_INCLUDED
#define HWMC_CORE_MODEL_MEASURE_H_INCLUDED

#include "../base/msg.h"

#define HWMC_MEASURE_LANES 8u
#define HWMC_MEASURE_PINGS 16u
#define HWMC_MEASURE_ROW 32u  /* short messages in a row */
#define HWMC_MEASURE_SHORT 8u /* bytes of each */
#define HWMC_MEASURE_ROWS 3u
#define HWMC_MEASURE_STEPS 8u                   /* trains that grow, at most */
#define HWMC_MEASURE_BYTES 8192u                /* of a train's segment */
#define HWMC_MEASURE_FIRST 2u                   /* segments of the first train */
#define HWMC_MEASURE_LAST 128u                  /* of the longest */
#define HWMC_MEASURE_NONE UINT32_MAX            /* of a brief one: pings alone */
#define HWMC_MEASURE_TRAINS 3u                  /* that count */
#define HWMC_MEASURE_TRAIN_NS UINT64_C(3000000) /* a train that takes so long is long enough */

enum hwmc_measure_phase {
    HWMC_MEASURE_IDLE,
    HWMC_MEASURE_PING,
    HWMC_MEASURE_IN_ROW,
    HWMC_MEASURE_GROW,
    HWMC_MEASURE_TRAIN,
    HWMC_MEASURE_DONE
};

/* Of one lane. */
struct hwmc_measured {
    uint64_t latency_ns; /* one way: half the least round trip */
    uint64_t median_ns;  /* half the median one */
    uint32_t mbit;       /* 1 or more; 1 after pings alone */
    uint32_t message_ns; /* of a short one of several in a row */
    uint64_t burst;      /* bytes that the lane lets through faster than `mbit`, once */
};

struct hwmc_measure {
    enum hwmc_measure_phase phase;
    uint32_t peer;     /* whom to ask */
    uint32_t lanes;    /* a bit each: that are to be measured, and are not yet */
    uint32_t lane;     /* under way */
    uint32_t brief;    /* segments of its trains, or NONE, if it is brief; else 0 */
    uint32_t answered; /* pings, rows, trains of one length, or trains that count, on it */
    uint32_t train;    /* segments of the train under way, or to come */
    uint32_t left;     /* messages of this question that are not sent */
    uint64_t serial;   /* of the question */
    uint64_t asked_at; /* ns at which its first message was sent */
    uint64_t rtt;      /* least on this lane, ns */
    uint64_t trip[HWMC_MEASURE_PINGS]; /* round trips of its pings, ns, ascending */
    uint64_t row;                      /* the least time of a row, ns */
    uint64_t took;  /* the trains that count, at least, ns; the mean if it is brief */
    uint32_t steps; /* trains that grow so far */
    uint64_t grown_ns[HWMC_MEASURE_STEPS]; /* each of them took, at least */
    struct hwmc_measured of[HWMC_MEASURE_LANES];
};

/* Asks `peer` over `lanes`, a bit each, of the first HWMC_MEASURE_LANES; at least one.
 * `brief`: segments of the trains of a brief measurement, HWMC_MEASURE_LAST at most; else 0. */
void hwmc_measure_start(struct hwmc_measure *m, uint32_t peer, uint32_t lanes, uint32_t brief);

/* Segments that a line of `mbit` Mbit/s carries in TRAIN_NS, within bounds. */
uint32_t hwmc_measure_train(uint32_t mbit);

/* MEASURE came that answers (AT_ONCE not set). TAKEN, STALE or BAD. */
enum hwmc_verdict hwmc_measure_on_answer(struct hwmc_measure *m, const struct hwmc_msg *msg,
                                         uint64_t now);

/* Fills `tx` and returns 1, or returns 0: an answer is awaited, or all is done. tx->index is the
 * lane, tx->bytes the payload, whatever it holds. */
int hwmc_measure_next_send(struct hwmc_measure *m, struct hwmc_msg *tx, uint64_t now);

static inline bool hwmc_measure_done(const struct hwmc_measure *m)
{
    return m->phase == HWMC_MEASURE_DONE;
}

#endif /* HWMC_CORE_MODEL_MEASURE_H_INCLUDED */
