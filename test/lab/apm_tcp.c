/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * apm_tcp: see apm_tcp.h.
 */
#include "apm_tcp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static int tcp = -1;

void apm_fail(const char *what)
{
    fprintf(stderr, "apm_pingpong: %s%s%s\n", what, errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    exit(1);
}

void apm_tcp_open(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_INET,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = host == NULL ? AI_PASSIVE : 0},
                    *to;
    int one = 1, fd, tries = 100;

    if (getaddrinfo(host, port, &hints, &to) != 0)
        apm_fail("no such host");
    fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (host == NULL) {
        if (bind(fd, to->ai_addr, to->ai_addrlen) != 0 || listen(fd, 1) != 0)
            apm_fail("listen");
        tcp = accept(fd, NULL, NULL);
        close(fd);
    } else {
        while (connect(fd, to->ai_addr, to->ai_addrlen) != 0 && --tries > 0)
            usleep(100000); /* the server may be about to start */
        tcp = tries > 0 ? fd : -1;
    }
    freeaddrinfo(to);
    if (tcp < 0)
        apm_fail("connect");
    setsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* its waits are measured too */
}

void apm_tcp_put(const void *bytes, size_t n)
{
    if (send(tcp, bytes, n, MSG_NOSIGNAL) != (ssize_t) n)
        apm_fail("send");
}

void apm_tcp_get(void *bytes, size_t n)
{
    if (recv(tcp, bytes, n, MSG_WAITALL) != (ssize_t) n)
        apm_fail("the other end is gone");
}

int apm_tcp_fd(void)
{
    return tcp;
}
