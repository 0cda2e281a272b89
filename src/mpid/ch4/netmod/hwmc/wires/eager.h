/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * eager: the length from which rendezvous is faster between processes of a host, as measured on
 * this host. With rendezvous the kernel copies once from the sender's memory to the receiver's
 * (cross-memory attach); for that it is entered and pins each page. With eager both processes copy,
 * by way of shared memory. Which is faster depends on processor, kernel and hypervisor, by an order
 * of magnitude, and one process can measure both alone.
 */
#ifndef HWMC_NETMOD_WIRES_EAGER_H_INCLUDED
#define HWMC_NETMOD_WIRES_EAGER_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* What is not expected is kept by the receiver, so there is a limit: messages of half of it. */
#define HWMC_EAGER_MIN ((size_t) 8192)
#define HWMC_EAGER_MAX ((size_t) 262144)

/* What n bytes take, in ns; UINT64_MAX: it cannot be done. */
struct hwmc_eager_costs {
    uint64_t (*read)(void *ctx, size_t n); /* one copy by the kernel */
    uint64_t (*copy)(void *ctx, size_t n); /* two copies, by a buffer in between */
    void *ctx;
};

/* The least length for rendezvous, a power of two from 2 * HWMC_EAGER_MIN to HWMC_EAGER_MAX; 0: one
 * copy by the kernel is faster already at HWMC_EAGER_MIN. */
size_t hwmc_eager_end(const struct hwmc_eager_costs *costs);

/* The same, with the costs on this host: 0.2 ms of work. 0 as well without memory for that. */
size_t hwmc_eager_measure(void);

#endif /* HWMC_NETMOD_WIRES_EAGER_H_INCLUDED */
