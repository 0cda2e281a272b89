/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * turns_way: whether the members of a group gather blocks by multicast in turn (op/turns.h), or in
 * an exchange of all with all. Like the model of broadcasts it is a function of its arguments, in
 * integers: ranks that know the same go the same way.
 *
 * p members, n bytes a block, latency l, bandwidth B of all rails, f datagrams of a block, o a
 * host's time for one, q the part of the datagrams that each member loses:
 *
 *   turns       l + max(p n / B, p f o) (1 + 2 q) + min(1, p f q) 2 l + 3/4 p n y
 *   exchange    2 l + max((p - 1) n / B, 2 (p - 1) f o) + (p - 1) n y
 *
 * In turns a host sends its block once, in an exchange p - 1 times; but its line brings nothing
 * while it sends. y is what a byte takes longer if all hosts send (collective.h): of a multicast
 * less, as it is sent once, but comes to each. The last but one term of turns is the repair of what
 * is lost last.
 */
#ifndef HWMC_CORE_MODEL_TURNS_WAY_H_INCLUDED
#define HWMC_CORE_MODEL_TURNS_WAY_H_INCLUDED

#include "model.h"

/* Bytes that burden hosts as much as so many do in turn. */
#define HWMC_TURNS_LOADED(bytes) ((bytes) / 4 * 3)

/* Turns are faster. `bytes`: of one block, the mean. False where there is no multicast. */
bool hwmc_turns_win(const struct hwmc_network *net, const struct hwmc_shape *shape, uint64_t bytes);

#endif /* HWMC_CORE_MODEL_TURNS_WAY_H_INCLUDED */
