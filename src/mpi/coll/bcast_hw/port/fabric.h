/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * fabric: unreliable multicast on one rail, which keeps the order of what is posted as a rule.
 * Datagrams may be lost, doubled, reordered or corrupted; a datagram comes whole or not at all. No
 * call blocks. Not thread-safe: the caller has one lock for a fabric and all its calls.
 *
 * An implementation is a struct that begins with struct hwmc_fabric and a table of operations,
 * all slots filled. What it returns: HWMC_OK (0), a count where the slot says so, or a negative
 * enum hwmc_err; on failure outputs are untouched.
 */
#ifndef HWMC_PORT_FABRIC_H_INCLUDED
#define HWMC_PORT_FABRIC_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct hwmc_fabric {
    const struct hwmc_fabric_ops *ops;
};

/* A datagram to send: head and body are sent as one; both are borrowed for the call only. */
struct hwmc_out {
    const void *head;
    size_t head_len;
    const void *body;
    size_t body_len;
};

/* A datagram that came: owned by the fabric, valid until its next poll. */
struct hwmc_in {
    const void *data;
    size_t len;
};

struct hwmc_fabric_attr {
    size_t max_datagram; /* head and body together, bytes */
    size_t window;       /* bytes of datagram payload that can wait unread without loss */
    int group_bits;      /* of a group's number that are drawn; the fabric with the fewest draws
                          * numbers that those with more can use as well */
};

struct hwmc_fabric_ops {
    const char *name; /* "udp", ... */

    /* What this fabric can do; constant while it is open. */
    void (*query)(struct hwmc_fabric *f, struct hwmc_fabric_attr *attr);

    /* Chooses a group at random, from a cryptographically secure source. The number means the same
     * on every host of the job. */
    int (*draw)(struct hwmc_fabric *f, uint64_t *group);

    /* From here on datagrams to `group` come. AGAIN: that is under way; call it again until it
     * answers otherwise, or leave. ERR_GROUP, ERR_LIMIT, ERR_DEVICE. */
    int (*join)(struct hwmc_fabric *f, uint64_t group);

    /* Undoes one join that answered OK; gives up one that answered AGAIN. */
    int (*leave)(struct hwmc_fabric *f, uint64_t group);

    /* Has the network told once more that this host is in a joined group, as far as the system can
     * be made to: a switch may have forgotten. Meanwhile datagrams may be lost. NULL: networks of
     * this kind do not forget. */
    void (*refresh)(struct hwmc_fabric *f, uint64_t group);

    /* Multicasts to a joined group the first k of `n` datagrams, 0 <= k <= n, and returns k; fewer
     * than n means that the rest would block. A member that joined may get its own. Negative:
     * nothing more can be sent. */
    int (*post)(struct hwmc_fabric *f, uint64_t group, const struct hwmc_out *out, int n);

    /* Bytes posted that have not left this host yet, as the system counts them; 0 where it does not
     * tell. */
    size_t (*queued)(struct hwmc_fabric *f);

    /* Takes up to `n` datagrams that came, of any joined group; returns how many. */
    int (*poll)(struct hwmc_fabric *f, struct hwmc_in *in, int n);

    /* Who is about to wait calls this, then deadline, then waits. Descriptors that become readable
     * when from now on poll gets something, post may take what it did not, or a join that was under
     * way is answered: writes up to `max`, returns how many there are. */
    int (*fds)(struct hwmc_fabric *f, int *fds, int max);

    /* ns (CLOCK_MONOTONIC) at which one of these is so though no descriptor is readable; 0: it is;
     * UINT64_MAX: never. */
    uint64_t (*deadline)(struct hwmc_fabric *f);

    /* Leaves all groups and frees everything. */
    void (*close)(struct hwmc_fabric *f);
};

#endif /* HWMC_PORT_FABRIC_H_INCLUDED */
