/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rdma_getaddrinfo: names and numbers of IPv4 as the system's getaddrinfo knows them. The answer is
 * one piece of memory.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>

struct answer {
    struct rdma_addrinfo info; /* first */
    struct sockaddr_in addr;
};

static int lookup(const char *node, const char *service, int flags, struct sockaddr_in *addr)
{
    const struct addrinfo hints = {
        .ai_family = AF_INET,
        .ai_socktype = SOCK_DGRAM,
        .ai_flags =
            (flags & RAI_PASSIVE ? AI_PASSIVE : 0) | (flags & RAI_NUMERICHOST ? AI_NUMERICHOST : 0),
    };
    struct addrinfo *found;
    int e = getaddrinfo(node, service, &hints, &found);

    if (e != 0)
        return e;
    *addr = *(const struct sockaddr_in *) (const void *) found->ai_addr;
    freeaddrinfo(found);
    return 0;
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
                     struct rdma_addrinfo **res)
{
    struct answer *a = calloc(1, sizeof(*a));
    struct rdma_addrinfo *info;
    int e;

    if (a == NULL)
        return EAI_MEMORY;
    info = &a->info;
    info->ai_flags = hints != NULL ? hints->ai_flags : 0;
    e = lookup(node, service, info->ai_flags, &a->addr);
    if (e != 0) {
        free(a);
        return e;
    }
    info->ai_family = AF_INET;
    info->ai_port_space =
        hints != NULL && hints->ai_port_space != 0 ? hints->ai_port_space : RDMA_PS_TCP;
    info->ai_qp_type = info->ai_port_space == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD;
    if (info->ai_flags & RAI_PASSIVE) {
        info->ai_src_addr = (struct sockaddr *) &a->addr;
        info->ai_src_len = sizeof(a->addr);
    } else {
        info->ai_dst_addr = (struct sockaddr *) &a->addr;
        info->ai_dst_len = sizeof(a->addr);
    }
    *res = info;
    return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
    free(res);
}
