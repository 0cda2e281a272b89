/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "segments.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

static size_t len_of(const struct hwmc_out *out)
{
    return out->head_len + out->body_len;
}

int hwmc_segments_run(const struct hwmc_out *out, int n)
{
    size_t len = len_of(&out[0]), total = len;
    int run = 1;

    while (run < n && run < (int) HWMC_BURST && len_of(&out[run - 1]) == len &&
           len_of(&out[run]) > 0 && len_of(&out[run]) <= len &&
           total + len_of(&out[run]) <= HWMC_BURST_BYTES) {
        total += len_of(&out[run]);
        run++;
    }
    return run;
}

bool hwmc_segments_are_taken(int fd)
{
    const int none = 0; /* each message says its own */

    return setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none)) == 0;
}

void hwmc_segments_mark(struct msghdr *msg, union hwmc_segments_control *control, size_t len)
{
    uint16_t size = (uint16_t) len;
    struct cmsghdr *c;

    msg->msg_control = control;
    msg->msg_controllen = CMSG_SPACE(sizeof(size));
    c = CMSG_FIRSTHDR(msg);
    c->cmsg_level = IPPROTO_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof(size));
    memcpy(CMSG_DATA(c), &size, sizeof(size));
}

bool hwmc_segments_accept(int fd)
{
    const int on = 1;

    return setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on)) == 0;
}

size_t hwmc_segments_len(struct msghdr *msg, size_t len)
{
    int size = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c))
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO)
            memcpy(&size, CMSG_DATA(c), sizeof(size));
    return size > 0 && (size_t) size < len ? (size_t) size : len;
}
