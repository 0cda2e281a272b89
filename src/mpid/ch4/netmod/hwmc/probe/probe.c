/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SOCK_NONBLOCK */
#endif

#include "probe.h"
#include "../base/addr.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct host {
    struct hwmc_addr addr[HWMC_RAILS_MAX];
    uint32_t heard;  /* rails by which it has answered here */
    uint32_t proven; /* ... or another process */
};

/* A question: by each rail a connection attempt. */
struct place {
    uint32_t host;
    int fd[HWMC_RAILS_MAX]; /* -1: it is over */
    uint32_t answered;
};

struct hwmc_rail_probe {
    struct hwmc_probe super;
    struct hwmc_rail_probe_params params;
    struct host *hosts;
    struct place places[HWMC_RAIL_PROBE_PLACES];
    uint32_t proven; /* rails by which anybody has answered here */
};

enum attempt {
    ATTEMPT_RUNS,
    ATTEMPT_ANSWERED,
    ATTEMPT_UNREACHABLE,
    ATTEMPT_REFUSED_HERE /* this host did not let it be made */
};

static struct hwmc_rail_probe *rail_probe(struct hwmc_probe *k)
{
    return (struct hwmc_rail_probe *) k;
}

/* What became of an attempt, by its errno. */
static enum attempt attempt_by(int error)
{
    switch (error) {
        case 0:
        case ECONNREFUSED:
        case ECONNRESET:
            return ATTEMPT_ANSWERED;
        case EINPROGRESS:
        case EINTR:
            return ATTEMPT_RUNS;
        case ENETUNREACH:
        case EHOSTUNREACH:
        case ENETDOWN:
        case ETIMEDOUT:
            return ATTEMPT_UNREACHABLE;
        default:
            return ATTEMPT_REFUSED_HERE;
    }
}

/* Nothing of it is to stay in any kernel. */
static void hang_up(int *fd)
{
    const struct linger now = {.l_onoff = 1};

    if (*fd < 0)
        return;
    setsockopt(*fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close(*fd);
    *fd = -1;
}

static enum attempt start_attempt(const struct hwmc_rail *by, const struct hwmc_addr *to,
                                  uint16_t port, int *fd)
{
    union hwmc_sockaddr addr;
    socklen_t len = hwmc_addr_to_socket(&by->addr, 0, by->index, &addr);
    enum attempt a = ATTEMPT_REFUSED_HERE;

    *fd = socket(addr.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return ATTEMPT_REFUSED_HERE;
    if (bind(*fd, &addr.any, len) == 0) {
        len = hwmc_addr_to_socket(to, port, by->index, &addr);
        a = attempt_by(connect(*fd, &addr.any, len) == 0 ? 0 : errno);
    }
    if (a != ATTEMPT_RUNS)
        hang_up(fd);
    return a;
}

/* What has become of one that runs. */
static enum attempt look_at(int *fd)
{
    struct pollfd p = {.fd = *fd, .events = POLLOUT};
    int error = 0;
    socklen_t len = sizeof(error);
    enum attempt a;

    if (poll(&p, 1, 0) <= 0 || getsockopt(*fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        return ATTEMPT_RUNS;
    a = attempt_by(error);
    hang_up(fd);
    return a;
}

/* Rails that both have. */
static uint32_t common_rails(const struct hwmc_rail_probe *k, uint32_t host)
{
    uint32_t rails = 0;

    if (host >= k->params.hosts)
        return 0;
    for (uint32_t i = 0; i < HWMC_RAILS_MAX; i++)
        if ((k->params.have >> i & 1) != 0 && k->hosts[host].addr[i].family != HWMC_NO_FAMILY)
            rails |= 1u << i;
    return rails;
}

static uint32_t probe_shared(struct hwmc_probe *probe_of, uint32_t host)
{
    const struct hwmc_rail_probe *k = rail_probe(probe_of);

    return host != k->params.host ? common_rails(k, host) : 0;
}

static uint32_t probe_proven(struct hwmc_probe *probe_of, uint32_t host)
{
    const struct hwmc_rail_probe *k = rail_probe(probe_of);

    return host < k->params.hosts ? k->hosts[host].proven & k->proven : 0;
}

static uint32_t probe_control(struct hwmc_probe *k)
{
    return rail_probe(k)->params.control(rail_probe(k)->params.ctx);
}

static void probe_end(struct hwmc_probe *k, uint32_t place)
{
    struct place *at = &rail_probe(k)->places[place];

    for (uint32_t i = 0; i < HWMC_RAILS_MAX; i++)
        hang_up(&at->fd[i]);
    at->answered = 0;
}

static void note_answer(struct hwmc_rail_probe *k, struct place *at, uint32_t rail)
{
    struct host *host = &k->hosts[at->host];

    at->answered |= 1u << rail;
    k->proven |= 1u << rail;
    host->heard |= 1u << rail;
    host->proven |= 1u << rail;
}

static uint32_t probe_ask(struct hwmc_probe *probe_of, uint32_t place, uint32_t host,
                          uint32_t rails)
{
    struct hwmc_rail_probe *k = rail_probe(probe_of);
    struct place *at = &k->places[place];
    uint32_t asked = 0;

    probe_end(probe_of, place);
    at->host = host;
    rails &= probe_shared(probe_of, host);
    for (uint32_t i = 0; i < HWMC_RAILS_MAX; i++) {
        enum attempt a;

        if ((rails >> i & 1) == 0)
            continue;
        a = start_attempt(&k->params.mine[i], &k->hosts[host].addr[i], k->params.port, &at->fd[i]);
        if (a == ATTEMPT_ANSWERED)
            note_answer(k, at, i);
        if (a != ATTEMPT_REFUSED_HERE)
            asked |= 1u << i;
    }
    return asked;
}

/* One that this host ended otherwise than by the network's word stays without an answer, and is
 * made again. */
static uint32_t probe_answered(struct hwmc_probe *probe_of, uint32_t place)
{
    struct hwmc_rail_probe *k = rail_probe(probe_of);
    struct place *at = &k->places[place];

    for (uint32_t i = 0; i < HWMC_RAILS_MAX; i++)
        if (at->fd[i] >= 0 && look_at(&at->fd[i]) == ATTEMPT_ANSWERED)
            note_answer(k, at, i);
    return at->answered;
}

static void probe_describe(struct hwmc_probe *probe_of, uint32_t host, uint32_t rails, char *text,
                           size_t room)
{
    struct hwmc_rail_probe *k = rail_probe(probe_of);
    size_t at = 0;

    text[0] = '\0';
    rails &= common_rails(k, host);
    for (uint32_t i = 0; i < HWMC_RAILS_MAX && at < room; i++) {
        char addr[HWMC_ADDR_TEXT_MAX];

        if ((rails >> i & 1) == 0)
            continue;
        hwmc_addr_write(&k->hosts[host].addr[i], addr);
        at += (size_t) snprintf(text + at, room - at, "%s%s (%s)", at > 0 ? ", " : "",
                                k->params.mine[i].name, addr);
    }
}

static const struct hwmc_probe_ops probe_ops = {
    .shared = probe_shared,
    .proven = probe_proven,
    .control = probe_control,
    .ask = probe_ask,
    .answered = probe_answered,
    .end = probe_end,
    .describe = probe_describe,
};

int hwmc_rail_probe_open(const struct hwmc_rail_probe_params *params, struct hwmc_probe **out)
{
    struct hwmc_rail_probe *k = calloc(1, sizeof(*k));

    if (k == NULL)
        return HWMC_ERR_NOMEM;
    k->super = (struct hwmc_probe){.ops = &probe_ops, .any = params->any};
    k->params = *params;
    k->params.addr = NULL;
    k->hosts = calloc(params->hosts, sizeof(*k->hosts));
    if (k->hosts == NULL) {
        free(k);
        return HWMC_ERR_NOMEM;
    }
    for (uint32_t h = 0; h < params->hosts; h++)
        memcpy(k->hosts[h].addr, params->addr[h], sizeof(k->hosts[h].addr));
    for (uint32_t p = 0; p < HWMC_RAIL_PROBE_PLACES; p++)
        for (uint32_t i = 0; i < HWMC_RAILS_MAX; i++)
            k->places[p].fd[i] = -1;
    *out = &k->super;
    return HWMC_OK;
}

void hwmc_rail_probe_close(struct hwmc_probe *probe_of)
{
    if (probe_of == NULL)
        return;
    for (uint32_t p = 0; p < HWMC_RAIL_PROBE_PLACES; p++)
        probe_end(probe_of, p);
    free(rail_probe(probe_of)->hosts);
    free(probe_of);
}

uint32_t hwmc_rail_probe_heard(const struct hwmc_probe *probe, uint32_t host)
{
    const struct hwmc_rail_probe *k = (const struct hwmc_rail_probe *) probe;

    return host < k->params.hosts ? k->hosts[host].heard : 0;
}

void hwmc_rail_probe_learn(struct hwmc_probe *probe_of, uint32_t host, uint32_t rails)
{
    struct hwmc_rail_probe *k = rail_probe(probe_of);

    if (host < k->params.hosts)
        k->hosts[host].proven |= rails;
}
