/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * expect: where the payloads of the next datagrams on a rail belong, if a message that lies in the
 * program's memory is coming there. A fabric that can puts them there at once (port/fabric.h), and
 * a byte is copied by the system alone.
 *
 * What is guessed wrong costs a copy, not more: only memory is offered of which no fragment is
 * here, and what comes is looked at as always.
 */
#ifndef HWMC_ENGINE_GROUP_EXPECT_H_INCLUDED
#define HWMC_ENGINE_GROUP_EXPECT_H_INCLUDED

#include "../../core/bcast/coming.h"
#include "groups.h"

/* Valid until something of the group changes. */
struct hwmc_expectation {
    struct hwmc_expected expected; /* for the fabric */
    const struct hwmc_group *group;
    struct hwmc_coming coming;
    size_t auth; /* bytes before a header */
};

/* Fills in `x` for a rail; false: nothing is expected there. `x` is not to be copied. */
bool hwmc_expect(const struct hwmc_groups *all, uint32_t rail, struct hwmc_expectation *x);

#endif /* HWMC_ENGINE_GROUP_EXPECT_H_INCLUDED */
