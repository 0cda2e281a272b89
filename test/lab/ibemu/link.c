/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Whether an interface is up and has a carrier, and news of that: a netlink socket.
 */
#include "net.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int em_link_open(int *fd)
{
    struct sockaddr_nl a = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};

    *fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (*fd < 0)
        return errno;
    if (bind(*fd, (struct sockaddr *) &a, sizeof(a)) != 0) {
        int e = errno;

        close(*fd);
        *fd = -1;
        return e;
    }
    return 0;
}

/* What the news are is not read: the interfaces are looked at afterwards. */
void em_link_drain(int fd)
{
    char news[8192];

    while (recv(fd, news, sizeof(news), MSG_DONTWAIT) > 0 || errno == ENOBUFS)
        continue;
}

bool em_link_is_up(const char *name)
{
    struct ifreq r = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool up;

    if (fd < 0)
        return false;
    memcpy(r.ifr_name, name, strnlen(name, sizeof(r.ifr_name) - 1));
    up = ioctl(fd, SIOCGIFFLAGS, &r) == 0 && (r.ifr_flags & IFF_UP) && (r.ifr_flags & IFF_RUNNING);
    close(fd);
    return up;
}
