/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_loans: memory of the program's from which the verbs fabric sends without a copy
 * (port/fabric.h: lend, returned).
 *
 *   LENT -> ASKED -> gone
 *
 *   LENT    bodies that lie there are sent from there
 *   ASKED   the program wants it back; it is gone once what was posted has left
 *
 * Invariant: the device reads none of it after the loan is gone.
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_LOANS_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_LOANS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs_registrations.h"

#define HWMC_VERBS_LOANS_MAX 8 /* at a time: messages under way */

struct hwmc_verbs_loan {
    const void *memory;
    size_t bytes;
    struct hwmc_verbs_registration *registered;
    uint64_t last;     /* datagrams up to this number need it */
    uint64_t asked_ns; /* since when the program wants it back; 0: it does not */
};

struct hwmc_verbs_loans {
    struct hwmc_verbs_registrations *registrations; /* NULL: none yet, or never */
    bool never;
    bool ended; /* one has, and who asked for it may not know yet */
    uint32_t num;
    struct hwmc_verbs_loan one[HWMC_VERBS_LOANS_MAX];
};

/* False: it is not lent. `pd` stays until close. */
bool hwmc_verbs_loans_add(struct hwmc_verbs_loans *l, struct ibv_pd *pd, const void *memory,
                          size_t bytes);

/* The loan that all of these bytes are in; NULL. */
struct hwmc_verbs_loan *hwmc_verbs_loans_of(struct hwmc_verbs_loans *l, const void *memory,
                                            size_t bytes);

/* What is lent at `memory` is wanted back, at `now` (ns, > 0). */
void hwmc_verbs_loans_ask(struct hwmc_verbs_loans *l, const void *memory, uint64_t now);

/* Ends those that are asked for and that no datagram after number `done` needs. */
void hwmc_verbs_loans_end(struct hwmc_verbs_loans *l, uint64_t done);

bool hwmc_verbs_loans_have(const struct hwmc_verbs_loans *l, const void *memory);

/* Since when one is wanted back, ns; UINT64_MAX: none is. */
uint64_t hwmc_verbs_loans_asked(const struct hwmc_verbs_loans *l);

/* The device reads nothing any more. */
void hwmc_verbs_loans_close(struct hwmc_verbs_loans *l);

#endif /* HWMC_NETMOD_FABRIC_VERBS_LOANS_H_INCLUDED */
