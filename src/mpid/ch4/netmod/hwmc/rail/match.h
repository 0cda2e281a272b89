/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * match: the rails of a job. One process names its rails by their subnets, in its order. On each
 * host the rail of a number is the port in that subnet. A host without such a port has one in
 * another subnet for it, if any is left: multicast goes among the hosts of that subnet then, and
 * lanes over the router that joins both.
 */
#ifndef HWMC_NETMOD_RAIL_MATCH_H_INCLUDED
#define HWMC_NETMOD_RAIL_MATCH_H_INCLUDED

#include "rail.h"

/* Room for the text of HWMC_RAILS_MAX subnets, commas and a NUL. */
#define HWMC_MATCH_TEXT_MAX (HWMC_ADDR_SUBNET_MAX * HWMC_RAILS_MAX + 1)

/* Writes the subnets of `num` rails as "10.77.0.0/24,fd77:1::/64". */
void hwmc_match_write(const struct hwmc_rail *rails, int num, char *text);

/* For each subnet of `text` in order finds one of the `num` ports `mine`, of several in one subnet
 * the first that is not taken: at[i] is its index, or -1. Returns how many subnets there are;
 * ERR_INVAL: the text is none of hwmc_match_write's. */
int hwmc_match_read(const char *text, const struct hwmc_rail *mine, int num, int *at);

/* For the rails that this host has no port for, at[i] == -1 of `n`: its ports in subnets where it
 * has none of the job's rails, in its order. Returns whether there are such. Hosts of one subnet
 * that choose alike get the same ports. */
bool hwmc_match_elsewhere(const struct hwmc_rail *mine, int num, int *at, int n);

#endif /* HWMC_NETMOD_RAIL_MATCH_H_INCLUDED */
