/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_probe: does multicast work here: the one question that attributes of a port do not answer.
 */
#include "verbs_impl.h"

#include <poll.h>
#include <string.h>

#include "../base/random.h"

#define AGAIN_NS UINT64_C(20000000) /* from one datagram of the probe to the next */
#define FDS_MAX 8

/* Until a descriptor of the fabric is readable or `until`. */
static void wait_for(struct hwmc_fabric *f, uint64_t until)
{
    struct pollfd p[FDS_MAX];
    int fds[FDS_MAX];
    int num = f->ops->fds(f, fds, FDS_MAX);
    uint64_t now = hwmc_verbs_now(), at = f->ops->deadline(f);

    for (int i = 0; i < num; i++)
        p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    until = at < until ? at : until;
    poll(p, (nfds_t) num, until > now ? (int) ((until - now) / 1000000 + 1) : 0);
}

static int join_group(struct hwmc_fabric *f, uint64_t group, uint64_t end)
{
    int err;

    while ((err = f->ops->join(f, group)) == HWMC_AGAIN) {
        if (hwmc_verbs_now() >= end) {
            f->ops->leave(f, group);
            return HWMC_AGAIN;
        }
        wait_for(f, end);
    }
    return err;
}

static bool came_back(struct hwmc_fabric *f, uint64_t nonce)
{
    struct hwmc_in in[HWMC_VERBS_RECV_BATCH];
    bool mine = false;
    int n = f->ops->poll(f, in, HWMC_VERBS_RECV_BATCH);

    for (int i = 0; i < n; i++)
        mine =
            mine || (in[i].len == sizeof(nonce) && memcmp(in[i].data, &nonce, sizeof(nonce)) == 0);
    return mine;
}

/* Multicasts and waits for that to come back; once more from time to time, for datagrams get
 * lost. */
static int hear_echo(struct hwmc_fabric *f, uint64_t group, uint64_t nonce, uint64_t end)
{
    const struct hwmc_out out = {.head = &nonce, .head_len = sizeof(nonce)};
    uint64_t next = 0, now;

    while ((now = hwmc_verbs_now()) < end) {
        if (now >= next) {
            int err = f->ops->post(f, group, &out, 1);

            if (err < 0)
                return err;
            next = now + AGAIN_NS;
        }
        if (came_back(f, nonce))
            return HWMC_OK;
        wait_for(f, next < end ? next : end);
    }
    return HWMC_ERR_DEVICE;
}

int hwmc_fabric_verbs_probe(struct hwmc_fabric *fabric, uint64_t timeout_ns)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) fabric;
    uint64_t end = hwmc_verbs_now() + timeout_ns, group, nonce;
    int err = fabric->ops->draw(fabric, &group);

    if (err == HWMC_OK)
        err = hwmc_random(&nonce, sizeof(nonce));
    if (err == HWMC_OK)
        err = join_group(fabric, group, end);
    if (err != HWMC_OK)
        return err;
    v->hears_own = true;
    err = hear_echo(fabric, group, nonce, end);
    v->hears_own = false;
    fabric->ops->leave(fabric, group);
    return err;
}
