/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which fabric a rail gets: verbs where it works, as MPIR_CVAR_HWMC_FABRIC allows, else udp.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "mpichconf.h"
#include "info.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_HWMC_VERBS
#include "../fabric/verbs.h"
#include "../fabric/verbs_impl.h"
#endif

#define PORT_FIRST 49152u /* RFC 6335: dynamic ports */
#define JOIN_MS 5000
#define FDS_MAX 16 /* descriptors of a fabric that are waited for */
#define PROBE_NS UINT64_C(2000000000)

uint16_t hwmc_info_port(uint32_t bits)
{
    return (uint16_t) (PORT_FIRST + bits % (65536u - PORT_FIRST));
}

#ifdef HAVE_HWMC_VERBS
const char *hwmc_info_open_verbs(const struct hwmc_rail *rail,
                                 const struct hwmc_info_params *params, struct hwmc_fabric **f)
{
    const struct hwmc_verbs_params verbs = {.key = params->key,
                                            .port = params->port,
                                            .groups = HWMC_RANDOM_GROUPS,
                                            .window = params->window};
    int err = hwmc_fabric_verbs_open(rail, &verbs, f);

    if (err != HWMC_OK)
        return err == HWMC_ERR_DEVICE ? "no RDMA port" : hwmc_err_text(err);
    err = hwmc_fabric_verbs_probe(*f, PROBE_NS);
    if (err == HWMC_OK)
        return NULL;
    (*f)->ops->close(*f);
    return err == HWMC_ERR_GROUP ? "verbs cannot join" : "verbs: nothing came back";
}

int hwmc_info_own(const struct hwmc_fabric *f)
{
    return strcmp(f->ops->name, "verbs") == 0 ? (int) hwmc_fabric_verbs_drops(f)->own : 0;
}

static const char *kind_of(struct hwmc_fabric *f)
{
    return ((struct hwmc_verbs *) f)->port.infiniband ? "InfiniBand" : "RoCE v2";
}
#else
const char *hwmc_info_open_verbs(const struct hwmc_rail *rail,
                                 const struct hwmc_info_params *params, struct hwmc_fabric **f)
{
    (void) rail;
    (void) params;
    (void) f;
    return "built without verbs";
}

int hwmc_info_own(const struct hwmc_fabric *f)
{
    (void) f;
    return 0;
}

static const char *kind_of(struct hwmc_fabric *f)
{
    (void) f;
    return "";
}
#endif

int hwmc_info_open_udp(const struct hwmc_rail *rail, const struct hwmc_info_params *params,
                       struct hwmc_fabric **f)
{
    const struct hwmc_udp_params udp = {.port = params->port,
                                        .key = params->key,
                                        .ttl = 1,
                                        .groups = HWMC_RANDOM_GROUPS,
                                        .loop = true,
                                        .window = params->window};

    return hwmc_udp_open(rail, &udp, f);
}

bool hwmc_info_fabric_may_be(const char *name)
{
    char preference[16];

    hwmc_info_cvar_string("MPIR_CVAR_HWMC_FABRIC", preference, sizeof(preference));
    return preference[0] == '\0' || strcmp(preference, "auto") == 0 ||
           strcmp(preference, name) == 0;
}

int hwmc_info_open(const struct hwmc_rail *rail, const struct hwmc_info_params *params,
                   struct hwmc_fabric **f, char *what, size_t room)
{
    const char *why = "by MPIR_CVAR_HWMC_FABRIC";

    if (hwmc_info_fabric_may_be("verbs")) {
        why = hwmc_info_open_verbs(rail, params, f);
        if (why == NULL) {
            snprintf(what, room, "verbs: %s", kind_of(*f));
            return HWMC_OK;
        }
    }
    if (!hwmc_info_fabric_may_be("udp")) {
        snprintf(what, room, "none: %s", why);
        return HWMC_ERR_DEVICE;
    }
    snprintf(what, room, "udp: %s", why);
    return hwmc_info_open_udp(rail, params, f);
}

int hwmc_info_join(struct hwmc_fabric *f, uint64_t group)
{
    uint64_t end = hwmc_info_now_ms() + JOIN_MS;
    int err;

    while ((err = f->ops->join(f, group)) == HWMC_AGAIN && hwmc_info_now_ms() < end)
        hwmc_info_wait(f, 10);
    return err == HWMC_AGAIN ? HWMC_ERR_GROUP : err;
}

uint64_t hwmc_info_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
}

void hwmc_info_wait(struct hwmc_fabric *f, uint64_t ms)
{
    struct pollfd p[FDS_MAX];
    int fds[FDS_MAX], num = f->ops->fds(f, fds, FDS_MAX);

    num = num < FDS_MAX ? num : FDS_MAX;
    for (int i = 0; i < num; i++)
        p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    poll(p, (nfds_t) num, f->ops->deadline(f) == 0 ? 0 : (int) ms);
}
