/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * eager: the length from which rendezvous is faster, as measured on this host by one process alone.
 *
 * Between processes of a host, rendezvous means that the kernel copies once from the sender's
 * memory to the receiver's (cross-memory attach); for that it is entered and pins each page. With
 * eager both processes copy, by way of shared memory. So rendezvous fetches each byte once from
 * what another processor wrote, and eager twice: all that comes from another processor is taken
 * out of the caches first. Which is faster depends on processor, kernel and hypervisor, by an order
 * of magnitude.
 *
 * Over TCP, rendezvous has a round trip before the message: on any network at least what the kernel
 * takes for one by the loopback device. Eager has one copy more, where the message was not
 * expected.
 */
#ifndef HWMC_NETMOD_WIRES_EAGER_H_INCLUDED
#define HWMC_NETMOD_WIRES_EAGER_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* What is not expected is kept by the receiver, so there is a limit: messages of half of it. */
#define HWMC_EAGER_MIN ((size_t) 8192)
#define HWMC_EAGER_MAX ((size_t) 262144)

/* What n bytes take, but for what both ways have in common, in ns; UINT64_MAX: it cannot be. */
struct hwmc_eager_costs {
    uint64_t (*rendezvous)(void *ctx, size_t n);
    uint64_t (*eager)(void *ctx, size_t n);
    void *ctx;
};

/* The least length for rendezvous, a power of two from 2 * HWMC_EAGER_MIN to HWMC_EAGER_MAX; 0:
 * rendezvous is faster already at HWMC_EAGER_MIN. */
size_t hwmc_eager_end(const struct hwmc_eager_costs *costs);

/* The same, between processes of this host: 0.2 ms of work. 0 as well without memory for that, and
 * where caches cannot be told what to give up. */
size_t hwmc_eager_end_in_host(void);

/* Over TCP: 0.2 ms. 0 as well without memory or a loopback device. */
size_t hwmc_eager_end_by_tcp(void);

/* `end`, or less where ports carry `mbit`: of what is longer on the wire than HWMC_EAGER_WIRE_US,
 * a round trip is a small part, and ranks that all send to one without asking overrun what a switch
 * can store. 0 Mbit/s: not known. */
#define HWMC_EAGER_WIRE_US 130u
size_t hwmc_eager_end_on_wire(size_t end, uint32_t mbit);

#endif /* HWMC_NETMOD_WIRES_EAGER_H_INCLUDED */
