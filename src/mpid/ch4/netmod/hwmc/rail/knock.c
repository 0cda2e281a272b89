/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SOCK_NONBLOCK */
#endif

#include "knock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct host {
    uint32_t addr[BCAST_HW_RAILS_MAX];
    uint32_t heard;  /* rails by which it has answered here */
    uint32_t proven; /* ... or another process */
};

/* A question: by each rail a connection attempt. */
struct place {
    uint32_t host;
    int fd[BCAST_HW_RAILS_MAX]; /* -1: it is over */
    uint32_t answered;
};

struct hwmc_knock {
    struct bcast_hw_knock super;
    struct hwmc_knock_params params;
    struct host *hosts;
    struct place places[HWMC_KNOCK_PLACES];
    uint32_t proven; /* rails by which anybody has answered here */
};

enum attempt {
    ATTEMPT_RUNS,
    ATTEMPT_ANSWERED,
    ATTEMPT_UNREACHABLE,
    ATTEMPT_REFUSED_HERE /* this host did not let it be made */
};

static struct hwmc_knock *knock(struct bcast_hw_knock *k)
{
    return (struct hwmc_knock *) k;
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

static enum attempt start(uint32_t from, uint32_t to, uint16_t port, int *fd)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(from)};
    enum attempt a = ATTEMPT_REFUSED_HERE;

    *fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return ATTEMPT_REFUSED_HERE;
    if (bind(*fd, (struct sockaddr *) &addr, sizeof(addr)) == 0) {
        addr.sin_addr.s_addr = htonl(to);
        addr.sin_port = htons(port);
        a = attempt_by(connect(*fd, (struct sockaddr *) &addr, sizeof(addr)) == 0 ? 0 : errno);
    }
    if (a != ATTEMPT_RUNS)
        hang_up(fd);
    return a;
}

/* What has become of one that runs. */
static enum attempt look(int *fd)
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
static uint32_t common(const struct hwmc_knock *k, uint32_t host)
{
    uint32_t rails = 0;

    if (host >= k->params.hosts)
        return 0;
    for (uint32_t i = 0; i < BCAST_HW_RAILS_MAX; i++)
        if ((k->params.have >> i & 1) != 0 && k->hosts[host].addr[i] != 0)
            rails |= 1u << i;
    return rails;
}

static uint32_t knock_shared(struct bcast_hw_knock *knock_, uint32_t host)
{
    const struct hwmc_knock *k = knock(knock_);

    return host != k->params.host ? common(k, host) : 0;
}

static uint32_t knock_proven(struct bcast_hw_knock *knock_, uint32_t host)
{
    const struct hwmc_knock *k = knock(knock_);

    return host < k->params.hosts ? k->hosts[host].proven & k->proven : 0;
}

static uint32_t knock_control(struct bcast_hw_knock *k)
{
    return knock(k)->params.control(knock(k)->params.ctx);
}

static void knock_end(struct bcast_hw_knock *k, uint32_t place)
{
    struct place *at = &knock(k)->places[place];

    for (uint32_t i = 0; i < BCAST_HW_RAILS_MAX; i++)
        hang_up(&at->fd[i]);
    at->answered = 0;
}

static void note_answer(struct hwmc_knock *k, struct place *at, uint32_t rail)
{
    struct host *host = &k->hosts[at->host];

    at->answered |= 1u << rail;
    k->proven |= 1u << rail;
    host->heard |= 1u << rail;
    host->proven |= 1u << rail;
}

static uint32_t knock_ask(struct bcast_hw_knock *knock_, uint32_t place, uint32_t host,
                          uint32_t rails)
{
    struct hwmc_knock *k = knock(knock_);
    struct place *at = &k->places[place];
    uint32_t asked = 0;

    knock_end(knock_, place);
    at->host = host;
    rails &= knock_shared(knock_, host);
    for (uint32_t i = 0; i < BCAST_HW_RAILS_MAX; i++) {
        enum attempt a;

        if ((rails >> i & 1) == 0)
            continue;
        a = start(k->params.mine[i].addr, k->hosts[host].addr[i], k->params.port, &at->fd[i]);
        if (a == ATTEMPT_ANSWERED)
            note_answer(k, at, i);
        if (a != ATTEMPT_REFUSED_HERE)
            asked |= 1u << i;
    }
    return asked;
}

/* One that this host ended otherwise than by the network's word stays without an answer, and is
 * made again. */
static uint32_t knock_answered(struct bcast_hw_knock *knock_, uint32_t place)
{
    struct hwmc_knock *k = knock(knock_);
    struct place *at = &k->places[place];

    for (uint32_t i = 0; i < BCAST_HW_RAILS_MAX; i++)
        if (at->fd[i] >= 0 && look(&at->fd[i]) == ATTEMPT_ANSWERED)
            note_answer(k, at, i);
    return at->answered;
}

static void knock_describe(struct bcast_hw_knock *knock_, uint32_t host, uint32_t rails, char *text,
                           size_t room)
{
    struct hwmc_knock *k = knock(knock_);
    size_t at = 0;

    text[0] = '\0';
    rails &= common(k, host);
    for (uint32_t i = 0; i < BCAST_HW_RAILS_MAX && at < room; i++) {
        const struct in_addr addr = {.s_addr = htonl(k->hosts[host].addr[i])};
        char dotted[INET_ADDRSTRLEN];

        if ((rails >> i & 1) == 0 || inet_ntop(AF_INET, &addr, dotted, sizeof(dotted)) == NULL)
            continue;
        at += (size_t) snprintf(text + at, room - at, "%s%s (%s)", at > 0 ? ", " : "",
                                k->params.mine[i].name, dotted);
    }
}

static const struct bcast_hw_knock_ops knock_ops = {
    .shared = knock_shared,
    .proven = knock_proven,
    .control = knock_control,
    .ask = knock_ask,
    .answered = knock_answered,
    .end = knock_end,
    .describe = knock_describe,
};

int hwmc_knock_open(const struct hwmc_knock_params *params, struct bcast_hw_knock **out)
{
    struct hwmc_knock *k = calloc(1, sizeof(*k));

    if (k == NULL)
        return BCAST_HW_ERR_NOMEM;
    k->super = (struct bcast_hw_knock){.ops = &knock_ops, .any = params->any};
    k->params = *params;
    k->params.addr = NULL;
    k->hosts = calloc(params->hosts, sizeof(*k->hosts));
    if (k->hosts == NULL) {
        free(k);
        return BCAST_HW_ERR_NOMEM;
    }
    for (uint32_t h = 0; h < params->hosts; h++)
        memcpy(k->hosts[h].addr, params->addr[h], sizeof(k->hosts[h].addr));
    for (uint32_t p = 0; p < HWMC_KNOCK_PLACES; p++)
        for (uint32_t i = 0; i < BCAST_HW_RAILS_MAX; i++)
            k->places[p].fd[i] = -1;
    *out = &k->super;
    return BCAST_HW_OK;
}

void hwmc_knock_close(struct bcast_hw_knock *knock_)
{
    if (knock_ == NULL)
        return;
    for (uint32_t p = 0; p < HWMC_KNOCK_PLACES; p++)
        knock_end(knock_, p);
    free(knock(knock_)->hosts);
    free(knock_);
}

uint32_t hwmc_knock_heard(const struct bcast_hw_knock *knock, uint32_t host)
{
    const struct hwmc_knock *k = (const struct hwmc_knock *) knock;

    return host < k->params.hosts ? k->hosts[host].heard : 0;
}

void hwmc_knock_learn(struct bcast_hw_knock *knock_, uint32_t host, uint32_t rails)
{
    struct hwmc_knock *k = knock(knock_);

    if (host < k->params.hosts)
        k->hosts[host].proven |= rails;
}
