/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The trial itself. Nobody waits for somebody else's answer: each host sends at its own pace, and
 * then listens until it has everything or nothing more is likely to come.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "doctor_try_impl.h"
#include "doctor_tap.h"
#include "info.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 50
#define SHORT_A_ROUND (HWMC_DOCTOR_DATAGRAMS / ROUNDS)
#define ROUND_MS 2
#define UNICAST_EVERY 16 /* rounds */
#define SETTLE_MS 60     /* for switches to note who has joined */
#define LAST_MS 300      /* after the last datagram */
#define CONNECT_MS 1200  /* a lost SYN is repeated after a second */
#define QUERY_MS 1500    /* RFC 3376: a querier asks the members left at once, and after a second */
#define FDS_MAX 64
#define COUNT_MAX 255

enum kind { KIND_SHORT, KIND_LONG };

struct message {
    uint64_t key;
    uint32_t host;
    uint32_t kind;
};

static uint8_t add_up_to(uint32_t count, uint32_t more)
{
    return (uint8_t) (count + more < COUNT_MAX ? count + more : COUNT_MAX);
}

/* Whether the bytes are a message of this trial. */
static bool read_message(const struct hwmc_doctor_try *t, const void *bytes, size_t len,
                         struct message *m)
{
    if (len < sizeof(*m))
        return false;
    memcpy(m, bytes, sizeof(*m));
    return m->key == t->call.key && m->host < (uint32_t) t->hosts.num;
}

static void take_multicast(const struct hwmc_doctor_try *t, struct hwmc_doctor_rail *r)
{
    struct hwmc_in in[32];
    struct message m;
    int n;

    if (r->f == NULL)
        return;
    while ((n = r->f->ops->poll(r->f, in, 32)) > 0)
        for (int i = 0; i < n; i++) {
            struct hwmc_doctor_seen *seen;

            if (!read_message(t, in[i].data, in[i].len, &m))
                continue;
            seen = &r->seen[m.host];
            if (m.kind == KIND_SHORT)
                seen->heard = add_up_to(seen->heard, 1);
            if (in[i].len > seen->longest)
                seen->longest = (uint16_t) in[i].len;
        }
}

static void take_unicast(const struct hwmc_doctor_try *t, struct hwmc_doctor_rail *r)
{
    unsigned char bytes[64];
    struct message m;
    ssize_t len;

    while (r->socket >= 0 && (len = recv(r->socket, bytes, sizeof(bytes), MSG_DONTWAIT)) >= 0)
        if (read_message(t, bytes, (size_t) len, &m))
            r->seen[m.host].unicast = add_up_to(r->seen[m.host].unicast, 1);
}

static void take_frame(struct hwmc_doctor_try *t, int rail, const struct hwmc_doctor_packet *packet)
{
    struct hwmc_doctor_rail *r = &t->rail[rail];

    if (packet->kind == HWMC_DOCTOR_PACKET_QUERY)
        r->look->queries = add_up_to(r->look->queries, 1);
    else if (hwmc_addr_equal(&packet->to, &r->other_at) &&
             !hwmc_addr_equal(&packet->from, &r->port->rail.addr))
        r->look->floods = add_up_to(r->look->floods, 1);
    for (int host = 0; hwmc_addr_equal(&packet->to, &r->group_at) && host < t->hosts.num; host++) {
        const struct hwmc_doctor_port *peer = hwmc_doctor_peer(&t->hosts, host, rail);

        if (peer != NULL && host != t->hosts.me && hwmc_addr_equal(&peer->rail.addr, &packet->from))
            r->seen[host].frames = add_up_to(r->seen[host].frames, 1);
    }
}

static void take_frames(struct hwmc_doctor_try *t, int rail)
{
    struct hwmc_doctor_packet packet;

    while (t->rail[rail].tap >= 0 && hwmc_doctor_tap_read(t->rail[rail].tap, &packet))
        take_frame(t, rail, &packet);
}

/* Takes what comes within `ms`. */
static void listen_for(struct hwmc_doctor_try *t, uint64_t ms)
{
    const uint64_t end = hwmc_info_now_ms() + ms;
    uint64_t now;

    do {
        struct pollfd p[FDS_MAX];
        int fds[FDS_MAX], num = 0;

        for (int i = 0; i < t->hosts.num_rails; i++) {
            struct hwmc_doctor_rail *r = &t->rail[i];
            const int n = r->f ? r->f->ops->fds(r->f, fds + num, FDS_MAX - num) : 0;

            take_multicast(t, r);
            take_unicast(t, r);
            take_frames(t, i);
            num = num + n < FDS_MAX ? num + n : FDS_MAX;
            if (r->tap >= 0 && num < FDS_MAX)
                fds[num++] = r->tap;
            if (r->socket >= 0 && num < FDS_MAX)
                fds[num++] = r->socket;
        }
        now = hwmc_info_now_ms();
        for (int i = 0; i < num; i++)
            p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        if (now < end)
            poll(p, (nfds_t) num, (int) (end - now < ROUND_MS ? end - now : ROUND_MS));
    } while (now < end);
}

static bool is_other(const struct hwmc_doctor_try *t, int host, int rail)
{
    return host != t->hosts.me && hwmc_doctor_peer(&t->hosts, host, rail) != NULL;
}

/* All datagrams of all others have come. */
static bool has_all(const struct hwmc_doctor_try *t)
{
    for (int i = 0; i < t->hosts.num_rails; i++)
        for (int host = 0; host < t->hosts.num; host++) {
            const struct hwmc_doctor_seen *seen = &t->rail[i].seen[host];

            if (t->rail[i].port == NULL || (!is_other(t, host, i) && t->hosts.num > 1))
                continue;
            if (seen->heard < HWMC_DOCTOR_DATAGRAMS || (t->hosts.num > 1 && seen->unicast == 0))
                return false;
        }
    return true;
}

static void connect_all(struct hwmc_doctor_try *t, int rail)
{
    struct hwmc_doctor_rail *r = &t->rail[rail];

    for (int host = 0; host < t->hosts.num; host++) {
        const struct hwmc_doctor_port *peer = hwmc_doctor_peer(&t->hosts, host, rail);
        union hwmc_sockaddr from, to;
        socklen_t from_len, to_len;
        int fd;

        if (r->port == NULL || !is_other(t, host, rail) || peer->tcp == 0)
            continue;
        from_len = hwmc_addr_to_socket(&r->port->rail.addr, 0, r->port->rail.index, &from);
        to_len = hwmc_addr_to_socket(&peer->rail.addr, peer->tcp, r->port->rail.index, &to);
        fd = socket(from.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        if (bind(fd, &from.any, from_len) == 0 &&
            (connect(fd, &to.any, to_len) == 0 || errno == EINPROGRESS))
            r->connection[host] = fd;
        else
            close(fd);
    }
}

/* Looks how a connection has ended; true: it has. */
static bool note_connection(struct hwmc_doctor_rail *r, int host)
{
    struct pollfd p = {.fd = r->connection[host], .events = POLLOUT};
    socklen_t room = sizeof(int);
    int err = 0;

    if (p.fd < 0)
        return true;
    if (poll(&p, 1, 0) == 0)
        return false;
    getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &err, &room);
    if (err == 0)
        r->seen[host].tcp = HWMC_DOCTOR_TCP_CONNECTED;
    else if (err == ECONNREFUSED)
        r->seen[host].tcp = HWMC_DOCTOR_TCP_REFUSED;
    close(p.fd);
    r->connection[host] = -1;
    return true;
}

static bool are_connected(struct hwmc_doctor_try *t)
{
    bool all = true;

    for (int i = 0; i < t->hosts.num_rails; i++)
        for (int host = 0; host < t->hosts.num; host++)
            all = note_connection(&t->rail[i], host) && all;
    return all;
}

static void multicast(struct hwmc_doctor_try *t, int rail, int round)
{
    static const unsigned char body[65536];
    struct hwmc_doctor_rail *r = &t->rail[rail];
    struct message m = {t->call.key, (uint32_t) t->hosts.me, KIND_SHORT};
    struct hwmc_out out[SHORT_A_ROUND];
    const int length = round % HWMC_DOCTOR_LENGTHS_MAX; /* each three times */
    int sent;

    if (r->f == NULL)
        return;
    for (int i = 0; i < SHORT_A_ROUND; i++)
        out[i] = (struct hwmc_out){.head = &m, .head_len = sizeof(m)};
    sent = r->f->ops->post(r->f, r->group, out, SHORT_A_ROUND);
    r->look->sent = add_up_to(r->look->sent, sent > 0 ? (uint32_t) sent : 0);
    if (t->hosts.me == 0 && r->udp)
        r->f->ops->post(r->f, r->other, out, 1);
    if (length < r->num_lengths) {
        m.kind = KIND_LONG;
        out[0].body = body;
        out[0].body_len = r->length[length] - sizeof(m);
        r->f->ops->post(r->f, r->group, out, 1);
    }
}

static void send_to_each(const struct hwmc_doctor_try *t, int rail)
{
    const struct hwmc_doctor_rail *r = &t->rail[rail];
    const struct message m = {t->call.key, (uint32_t) t->hosts.me, KIND_SHORT};

    for (int host = 0; r->socket >= 0 && host < t->hosts.num; host++) {
        const struct hwmc_doctor_port *peer = hwmc_doctor_peer(&t->hosts, host, rail);
        union hwmc_sockaddr to;
        socklen_t len;

        if (!is_other(t, host, rail))
            continue;
        len = hwmc_addr_to_socket(&peer->rail.addr, peer->udp, r->port->rail.index, &to);
        sendto(r->socket, &m, sizeof(m), MSG_DONTWAIT, &to.any, len);
    }
}

void hwmc_doctor_try_run(struct hwmc_doctor_try *t)
{
    uint64_t start, end;

    if (t->hosts.num > 1)
        listen_for(t, SETTLE_MS);
    start = hwmc_info_now_ms();
    for (int i = 0; i < t->hosts.num_rails; i++)
        connect_all(t, i);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < t->hosts.num_rails; i++) {
            multicast(t, i, round);
            if (round % UNICAST_EVERY == 0)
                send_to_each(t, i);
        }
        listen_for(t, ROUND_MS);
    }
    end = hwmc_info_now_ms() + LAST_MS;
    while (!has_all(t) && hwmc_info_now_ms() < end)
        listen_for(t, ROUND_MS);
    /* The verbs fabric hears of its own datagrams without handing them over. */
    for (int i = 0; i < t->hosts.num_rails; i++)
        if (t->rail[i].f != NULL && !t->rail[i].udp)
            t->rail[i].seen[t->hosts.me].heard =
                add_up_to(0, (uint32_t) hwmc_info_own(t->rail[i].f));
    while (!are_connected(t) && hwmc_info_now_ms() < start + CONNECT_MS)
        listen_for(t, ROUND_MS);
}

/* A switch that floods need not be asked, nor one that has asked by itself; nor a host that cannot
 * hear it, nor one that is alone. */
static bool waits_for_query(const struct hwmc_doctor_try *t)
{
    for (int i = 0; i < t->hosts.num_rails; i++) {
        const struct hwmc_doctor_rail *r = &t->rail[i];

        if (t->hosts.me > 0 && r->look->taps && r->look->floods == 0 && r->look->queries == 0 &&
            r->seen[0].frames > 0)
            return true;
    }
    return false;
}

void hwmc_doctor_try_leave(struct hwmc_doctor_try *t)
{
    const uint64_t end = hwmc_info_now_ms() + QUERY_MS;

    for (int i = 0; i < t->hosts.num_rails; i++) {
        struct hwmc_doctor_rail *r = &t->rail[i];

        if (r->f == NULL)
            continue;
        r->f->ops->leave(r->f, r->group);
        if (t->hosts.me == 0)
            r->f->ops->leave(r->f, r->other);
    }
    while (waits_for_query(t) && hwmc_info_now_ms() < end)
        listen_for(t, ROUND_MS);
}
