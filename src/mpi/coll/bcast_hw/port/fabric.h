/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * fabric: unreliable multicast on one rail, which keeps the order of what is posted as a rule.
 * Datagrams may be lost, doubled, reordered or corrupted; a datagram comes whole or not at all. No
 * call blocks. Not thread-safe: the caller has one lock for a fabric and all its calls.
 *
 * An implementation is a struct that begins with struct hwmc_fabric and a table of operations, all
 * slots filled but those that may be NULL. What it returns: HWMC_OK (0), a count where the slot
 * says so, or a negative enum hwmc_err; on failure outputs are untouched.
 */
#ifndef HWMC_PORT_FABRIC_H_INCLUDED
#define HWMC_PORT_FABRIC_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct hwmc_fabric {
    const struct hwmc_fabric_ops *ops;
};

/* A datagram to send: head and body are sent as one; both are borrowed for the call only, but for
 * bodies in memory that is lent. */
struct hwmc_out {
    const void *head;
    size_t head_len;
    const void *body;
    size_t body_len;
};

/* A datagram that came: owned by the fabric, valid until its next poll. */
struct hwmc_in {
    const void *data; /* all of it; or the header, and the rest is at `body` */
    size_t len;
    const void *body; /* where it was expected (struct hwmc_expected); NULL */
    size_t body_len;
};

/* What is likely to come next: datagrams that follow each other, each a header and a body. The
 * bodies belong at `at`, one behind the other. Until poll_into has returned that memory may get
 * anything, so nothing is to be there that counts. */
struct hwmc_expected {
    size_t head;       /* bytes of a header, 1 to HWMC_EXPECTED_HEAD */
    size_t body;       /* bytes of each body but the last, 1 or more */
    unsigned char *at; /* the caller's */
    size_t bytes;      /* of the bodies that are expected, together; 1 or more */
    /* Whether this is the header of number `i` of them, counted from 0. */
    bool (*is_next)(const void *ctx, const void *head, uint32_t i);
    const void *ctx;
};

/* Direct reception: an adapter takes memory that is posted for datagrams to come, in order, and
 * puts the next datagram into what was posted first, whichever it is. Datagrams of a group of its
 * own, the twin of a group, come to memory that is posted for them and to nothing else; if none is
 * there, they are lost. A run is one message whose bodies are to come so, one at a time in a
 * fabric.
 *
 *   no run --begin--> RUN --extend: memory is posted--> RUN --end--> no run
 *                      \--poll finds another datagram than expected--> no run
 *
 * While anything is posted its bytes are the fabric's: nobody else reads or writes there. A body
 * that came where it belongs is handed over like those of poll_into, and is the caller's again, as
 * is everything after end. If another datagram comes, the fabric takes all back that is posted, has
 * copied what came to wrong places, and hands that over as datagrams that came elsewhere. */
struct hwmc_fabric_direct_ops {
    /* The caller, who has joined `group`, joins its twin as by join, and leaves it as by leave.
     * *twin is the number that it posts to, and leaves. */
    int (*join)(struct hwmc_fabric *f, uint64_t group, uint64_t *twin);
    int (*leave)(struct hwmc_fabric *f, uint64_t twin);

    /* A run begins: bodies that belong to `e`, from the first on, come to a twin that is joined.
     * `e` is copied; its memory and ctx stay until the run is over. Its number, which no other one
     * has had; 0: not now, or not to this memory. */
    uint64_t (*begin)(struct hwmc_fabric *f, const struct hwmc_expected *e);

    /* Has memory posted for the first `bytes` bytes of the run at least, a whole number of bodies,
     * unless there is no room. For how many it is; 0 if the run is over. */
    size_t (*extend)(struct hwmc_fabric *f, uint64_t run, size_t bytes);

    /* Ends the run, if it is not over: when it returns, nothing is written to its memory any more.
     * `goes_on`: more of the message may come to the twin; it is handed over like what comes
     * elsewhere. */
    void (*end)(struct hwmc_fabric *f, uint64_t run, bool goes_on);
};

/* A burst: as many datagrams as some fabric or system carries in one piece. */
#define HWMC_BURST 64u          /* the most datagrams of one */
#define HWMC_BURST_BYTES 65507u /* ... and bytes: what IPv4 and UDP headers leave of 64 KiB */

#define HWMC_EXPECTED_HEAD 80u

#define HWMC_FABRIC_WINDOW ((size_t) 4 << 20) /* bytes that a job wants to be able to wait unread */

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

    /* The `bytes` bytes at `memory` stay as they are until `returned` has answered true: bodies
     * that lie there may be sent from there, also after post has returned. False: they are not
     * lent, and post copies them. NULL, and `returned` too: the fabric cannot do that. */
    bool (*lend)(struct hwmc_fabric *f, const void *memory, size_t bytes);

    /* What was lent at `memory` is wanted back. Whether nothing posted needs it any more, or it was
     * not lent. If not: to be asked again. It is lent no longer then, even if nobody asks. */
    bool (*returned)(struct hwmc_fabric *f, const void *memory);

    /* Bytes posted that have not left this host yet, as the system counts them; 0 where it does not
     * tell. */
    size_t (*queued)(struct hwmc_fabric *f);

    /* Takes up to `n` datagrams that came, of any joined group; returns how many. */
    int (*poll)(struct hwmc_fabric *f, struct hwmc_in *in, int n);

    /* The same, and the caller says what it expects. Bodies of datagrams that came as expected are
     * where they belong, and all of these are handed over. `n` is HWMC_BURST or more. NULL: the
     * fabric cannot do that. */
    int (*poll_into)(struct hwmc_fabric *f, const struct hwmc_expected *expected,
                     struct hwmc_in *in, int n);

    /* Who is about to wait calls this, then deadline, then waits. Descriptors that become readable
     * when from now on poll gets something, post may take what it did not, what was lent comes
     * back, or a join that was under way is answered: writes up to `max`, returns how many there
     * are. */
    int (*fds)(struct hwmc_fabric *f, int *fds, int max);

    /* ns (CLOCK_MONOTONIC) at which one of these is so though no descriptor is readable; 0: it is;
     * UINT64_MAX: never. */
    uint64_t (*deadline)(struct hwmc_fabric *f);

    /* Leaves all groups and frees everything. */
    void (*close)(struct hwmc_fabric *f);

    /* NULL: the fabric cannot do that. */
    const struct hwmc_fabric_direct_ops *direct;
};

/* Datagrams of `bytes` in a burst, 1 or more. */
static inline uint32_t hwmc_fabric_burst(size_t bytes)
{
    const size_t fit = HWMC_BURST_BYTES / bytes;

    return fit < 1 ? 1 : fit > HWMC_BURST ? HWMC_BURST : (uint32_t) fit;
}

#endif /* HWMC_PORT_FABRIC_H_INCLUDED */
