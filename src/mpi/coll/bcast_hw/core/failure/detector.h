/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * detector: a failure detector. After a long wait, a rank probes the hosts of all members of its
 * group, in rounds, by each rail. A host's kernel answers, so a process that computes, or is
 * stopped, does not fail. The caller sends the probes and reports the answers. "Member" below is
 * one member of each host.
 *
 * A member that is probed occupies a place; a round fills places as they get free:
 *
 *     FREE --next_ask--> ASKED --answers suffice--> FREE
 *                        ASKED --an eighth of the limit passed--> ASKED again, by the silent rails;
 *                                                                 FREE, if their silence says
 *                                                                 nothing
 *                        ASKED --the limit passed since the first probe--> failed
 *
 * Answers suffice when each of the rails that must answer has; if none must, when one has. A probe
 * that could not be sent counts for nothing. The caller says on which rails silence counts: those
 * by which the host has ever answered. Silence on any of these that must answer means failure; if
 * none must, silence on all that were probed.
 *
 * Example: limit 8 s, members 0 to 3, this is 0, rail 1 must answer. At 0 s members 1, 2, 3 are
 * probed, and 1 and 3 answer. 2 is probed again at 1, 2, ... 7 s, 1 and 3 in a second round as soon
 * as no place is taken. At 8 s 2 has failed.
 *
 * Invariants: silent is within asked, and not empty, in ASKED; counted is within asked; since <=
 * asked_at.
 */
#ifndef HWMC_CORE_FAILURE_DETECTOR_H_INCLUDED
#define HWMC_CORE_FAILURE_DETECTOR_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_DETECTOR_PLACES 32u
#define HWMC_DETECTOR_PARTS 8u         /* of the limit: that often is asked */
#define HWMC_DETECTOR_LOOK_NS 1000000u /* until answers are looked for first; doubles */

struct hwmc_detector_cfg {
    uint32_t size; /* members */
    uint32_t rank; /* this one, which is not asked */
    uint32_t must; /* rails that must answer, a bit each; 0: one of them all */
    uint64_t limit_ns;
};

struct hwmc_detector_place {
    uint32_t member;
    uint32_t asked;    /* rails, a bit each; 0: FREE */
    uint32_t silent;   /* of these: no answer yet */
    uint32_t counted;  /* of these: silence counts */
    uint64_t since;    /* ns: the first question */
    uint64_t asked_at; /* the last */
};

struct hwmc_detector {
    struct hwmc_detector_cfg cfg;
    struct hwmc_detector_place place[HWMC_DETECTOR_PLACES];
    uint32_t next;     /* member of this round; size: all were asked */
    uint64_t round_at; /* ns: when the next round begins, at least */
    uint64_t look_at;  /* ns: when answers are looked for; with a place taken */
    uint64_t look_ns;
};

/* Of each host that any of `size` members runs on, the first one, in their order; how many. host:
 * by member, a number; seen: by that number, all false, which they will not stay. `member` has room
 * for all that there may be. */
uint32_t hwmc_detector_members(const uint32_t *host, uint32_t size, bool *seen, uint32_t *member);

/* The first round begins now. */
void hwmc_detector_init(struct hwmc_detector *r, const struct hwmc_detector_cfg *cfg, uint64_t now);

/* The place whose member is to be asked, by these rails (0: by all there are); false: none now. To
 * be followed by asked. */
bool hwmc_detector_next_ask(struct hwmc_detector *r, uint32_t *place, uint32_t *rails,
                            uint64_t now);

/* By which rails questions are on their way; 0: it cannot be asked, and is passed over. `counted`:
 * of these, those on which silence counts. */
void hwmc_detector_asked(struct hwmc_detector *r, uint32_t place, uint32_t rails, uint32_t counted,
                         uint64_t now);

/* An answer came by these rails. True: they suffice, and the place is FREE. */
bool hwmc_detector_on_answer(struct hwmc_detector *r, uint32_t place, uint32_t rails);

/* The first member that has failed, and the rails it is silent on. */
bool hwmc_detector_failed(const struct hwmc_detector *r, uint64_t now, uint32_t *member,
                          uint32_t *rails);

/* Answers are to be looked for, a member probed, or one has failed: ns. */
uint64_t hwmc_detector_next_timer(const struct hwmc_detector *r);
void hwmc_detector_on_timer(struct hwmc_detector *r, uint64_t now);

void hwmc_detector_check(const struct hwmc_detector *r);

#endif /* HWMC_CORE_FAILURE_DETECTOR_H_INCLUDED */
