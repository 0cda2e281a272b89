/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_registrations: memory of the program's that a device may read or write, kept registered
 * from message to message by UCX's registration cache. UCX forgets a region when the program unmaps
 * it, and, before a fork, those that nobody has.
 *
 * The cache is no part of UCX's public interface, and its interface changes: it is used with UCX
 * 1.13 to 1.16. With others there is none, and messages are copied.
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_REGISTRATIONS_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_REGISTRATIONS_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct hwmc_verbs_registrations;
struct hwmc_verbs_registration;

/* For the devices of `pd`, which stays until close. NULL: there is none here. */
struct hwmc_verbs_registrations *hwmc_verbs_registrations_open(struct ibv_pd *pd);

/* `bytes` bytes at `memory`, until they are put back. NULL: they cannot be registered. */
struct hwmc_verbs_registration *hwmc_verbs_registrations_get(struct hwmc_verbs_registrations *all,
                                                             const void *memory, size_t bytes);
void hwmc_verbs_registrations_put(struct hwmc_verbs_registrations *all,
                                  struct hwmc_verbs_registration *one);

/* The same, to be written too. */
struct hwmc_verbs_registration *
hwmc_verbs_registrations_get_writable(struct hwmc_verbs_registrations *all, void *memory,
                                      size_t bytes);

/* The local key. */
uint32_t hwmc_verbs_registration_key(const struct hwmc_verbs_registration *one);

/* All are put back. NULL is nothing. */
void hwmc_verbs_registrations_close(struct hwmc_verbs_registrations *all);

#endif /* HWMC_NETMOD_FABRIC_VERBS_REGISTRATIONS_H_INCLUDED */
