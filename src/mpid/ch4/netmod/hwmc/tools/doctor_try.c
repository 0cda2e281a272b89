/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "doctor_try_impl.h"
#include "doctor_tap.h"
#include "info.h"
#include "../base/random.h"
#include "../fabric/udp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096 /* connections that nobody takes */

bool hwmc_doctor_draw(struct hwmc_doctor_call *call)
{
    struct hwmc_random_port_list ports;
    uint64_t joined, other;

    memset(call, 0, sizeof(*call));
    if (hwmc_random(&call->key, sizeof(call->key)) != HWMC_OK ||
        hwmc_random_ports(hwmc_random_ephemeral(), &ports) != HWMC_OK ||
        hwmc_random_ipv4(ports.port[0], HWMC_RANDOM_GROUPS, &joined) != HWMC_OK ||
        hwmc_random_ipv4(ports.port[0], HWMC_RANDOM_GROUPS, &other) != HWMC_OK)
        return false;
    call->joined = (uint32_t) joined;
    call->other = (uint32_t) other == call->joined ? call->joined ^ 1 : (uint32_t) other;
    call->num_ports = ports.num;
    memcpy(call->port, ports.port, sizeof(call->port));
    return true;
}

/* A socket at the port's address; its own number in *number. -1: none. */
static int listen_at(const struct hwmc_rail *rail, int type, uint16_t *number)
{
    union hwmc_sockaddr at;
    const socklen_t len = hwmc_addr_to_socket(&rail->addr, 0, rail->index, &at);
    socklen_t room = sizeof(at);
    int fd = socket(at.any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, &at.any, len) != 0 || (type == SOCK_STREAM && listen(fd, BACKLOG) != 0) ||
        getsockname(fd, &at.any, &room) != 0) {
        close(fd);
        return -1;
    }
    *number = hwmc_addr_port_of_socket(&at);
    return fd;
}

/* By a fabric that is opened and closed again. */
static void try_verbs(struct hwmc_doctor_port *port, const struct hwmc_doctor_call *call)
{
    const struct hwmc_info_params params = {
        .key = call->key, .port = call->port[0], .window = 1 << 20};
    struct hwmc_fabric *f;
    const char *why;

    if (!hwmc_info_fabric_may_be("verbs"))
        return;
    why = hwmc_info_open_verbs(&port->rail, &params, &f);
    if (why == NULL) {
        port->flags |= HWMC_DOCTOR_RDMA | HWMC_DOCTOR_VERBS;
        f->ops->close(f);
    } else if (strncmp(why, "verbs", 5) == 0) { /* it opened, and no more */
        port->flags |= HWMC_DOCTOR_RDMA;
    }
}

static void fill_port(struct hwmc_doctor_port *port, const struct hwmc_doctor_call *call)
{
    struct hwmc_info_seen seen;

    hwmc_info_look_at(&port->rail, &seen);
    port->err = seen.err;
    if (seen.err == HWMC_OK) {
        port->datagram = (uint32_t) seen.datagram;
        port->window = seen.window;
        port->wanted = HWMC_FABRIC_WINDOW;
        port->buffer = (uint32_t) hwmc_udp_buffer_for(HWMC_FABRIC_WINDOW, seen.datagram);
        port->flags |= seen.sends_together ? HWMC_DOCTOR_BURSTS : 0;
    }
    hwmc_doctor_look_at_port(port);
    try_verbs(port, call);
}

struct hwmc_doctor_try *hwmc_doctor_try_find(const struct hwmc_doctor_call *call,
                                             struct hwmc_doctor_ports *mine)
{
    struct hwmc_rail ports[HWMC_RAIL_PORTS_MAX], rails[HWMC_RAILS_MAX];
    struct hwmc_doctor_try *t = calloc(1, sizeof(*t));
    int num = hwmc_rail_discover(ports, HWMC_RAIL_PORTS_MAX);
    char spec[256];

    memset(mine, 0, sizeof(*mine));
    if (t == NULL)
        return NULL;
    t->call = *call;
    hwmc_info_cvar_string("MPIR_CVAR_HWMC_RAILS", spec, sizeof(spec));
    hwmc_doctor_look_for_twice(mine->twice);
    num = num < 0 ? 0 : hwmc_rail_select(ports, num, spec, rails, HWMC_RAILS_MAX, mine->wrong);
    for (int i = 0; i < num; i++) {
        struct hwmc_doctor_port *port = &mine->at[mine->num++];

        port->rail = rails[i];
        fill_port(port, call);
        t->listener[i] = listen_at(&rails[i], SOCK_STREAM, &port->tcp);
        t->socket[i] = listen_at(&rails[i], SOCK_DGRAM, &port->udp);
        t->num_found++;
    }
    return t;
}

static bool is_long(const struct hwmc_doctor_rail *r, uint32_t length)
{
    for (int i = 0; i < r->num_lengths; i++)
        if (r->length[i] == length)
            return true;
    return false;
}

/* The longest datagrams of all hosts, and those of usual MTUs, as far as this host can send
 * them. */
static void choose_lengths(const struct hwmc_doctor_hosts *hosts, int number,
                           struct hwmc_doctor_rail *r, size_t most)
{
    static const uint16_t usual[] = {8972, 4068, 2016, 1472, 1422, 1372, 1232, 548};

    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (usual[i] <= most)
            r->length[r->num_lengths++] = usual[i];
    for (int host = 0; host < hosts->num && r->num_lengths < HWMC_DOCTOR_LENGTHS_MAX; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_peer(hosts, host, number);

        if (p != NULL && p->datagram > 0 && p->datagram <= most && !is_long(r, p->datagram))
            r->length[r->num_lengths++] = (uint16_t) p->datagram;
    }
}

/* As a job: verbs where all hosts can, else udp, as MPIR_CVAR_HWMC_FABRIC allows. */
static int open_fabric(const struct hwmc_doctor_try *t, int number, uint16_t port,
                       struct hwmc_doctor_rail *r)
{
    const struct hwmc_info_params params = {
        .key = t->call.key, .port = port, .window = HWMC_FABRIC_WINDOW};
    bool verbs = true;

    for (int host = 0; host < t->hosts.num; host++) {
        const struct hwmc_doctor_port *p = hwmc_doctor_peer(&t->hosts, host, number);

        verbs = verbs && (p == NULL || (p->flags & HWMC_DOCTOR_VERBS) != 0);
    }
    r->udp = !verbs;
    if (!verbs && !hwmc_info_fabric_may_be("udp"))
        return HWMC_ERR_DEVICE;
    if (verbs)
        return hwmc_info_open_verbs(&r->port->rail, &params, &r->f) == NULL ? HWMC_OK
                                                                            : HWMC_ERR_DEVICE;
    return hwmc_info_open_udp(&r->port->rail, &params, &r->f);
}

static void open_rail(struct hwmc_doctor_try *t, int number, uint16_t port)
{
    struct hwmc_doctor_rail *r = &t->rail[number];
    struct hwmc_fabric_attr attr;

    r->look->err = open_fabric(t, number, port, r);
    if (r->look->err != HWMC_OK) {
        r->f = NULL;
        return;
    }
    r->group = (uint64_t) port << 32 | t->call.joined;
    r->other = (uint64_t) port << 32 | t->call.other;
    r->look->err = hwmc_info_join(r->f, r->group);
    if (r->look->err == HWMC_OK && t->hosts.me == 0)
        r->look->err = hwmc_info_join(r->f, r->other);
    if (r->look->err != HWMC_OK) {
        r->f->ops->close(r->f);
        r->f = NULL;
        return;
    }
    if (r->udp) {
        r->group_at = hwmc_udp_group_address(r->f, r->group);
        r->other_at = hwmc_udp_group_address(r->f, r->other);
    }
    r->f->ops->query(r->f, &attr);
    choose_lengths(&t->hosts, number, r, attr.max_datagram);
    if (r->udp)
        r->tap = hwmc_doctor_tap_open(&r->port->rail);
    r->look->open = 1;
    r->look->taps = r->tap >= 0;
}

bool hwmc_doctor_try_open(struct hwmc_doctor_try *t, const struct hwmc_doctor_hosts *hosts,
                          uint16_t port, struct hwmc_doctor_seen *seen,
                          struct hwmc_doctor_look *look)
{
    t->hosts = *hosts;
    for (int i = 0; i < hosts->num_rails; i++) {
        struct hwmc_doctor_rail *r = &t->rail[i];
        const int at = hosts->at[hosts->me][i];

        r->seen = &seen[i * hosts->num];
        r->look = &look[i];
        r->tap = r->listener = r->socket = -1;
        r->connection = malloc((size_t) hosts->num * sizeof(*r->connection));
        if (r->connection == NULL)
            return false;
        for (int host = 0; host < hosts->num; host++)
            r->connection[host] = -1;
        if (at < 0)
            continue;
        r->port = &hosts->ports[hosts->me].at[at];
        r->listener = t->listener[at];
        r->socket = t->socket[at];
        if (port != 0 && r->port->err == HWMC_OK)
            open_rail(t, i, port);
    }
    return true;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void hwmc_doctor_try_close(struct hwmc_doctor_try *t)
{
    for (int i = 0; i < t->hosts.num_rails; i++) {
        struct hwmc_doctor_rail *r = &t->rail[i];

        if (r->f != NULL)
            r->f->ops->close(r->f);
        close_fd(r->tap);
        for (int host = 0; r->connection != NULL && host < t->hosts.num; host++)
            close_fd(r->connection[host]);
        free(r->connection);
    }
    for (int i = 0; i < t->num_found; i++) {
        close_fd(t->listener[i]);
        close_fd(t->socket[i]);
    }
    free(t);
}
