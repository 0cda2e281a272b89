/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "info.h"
#include "../base/random.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_MS 200
#define FABRIC_WIDTH 29 /* of the column; more goes beyond it */

/* Multicasts a nonce and waits for it to come back. */
static int ask(struct hwmc_fabric *f)
{
    uint64_t nonce[2], group;
    struct hwmc_out out = {.head = nonce, .head_len = sizeof(nonce)};
    struct hwmc_in in[8];
    uint64_t end = hwmc_info_now_ms() + ANSWER_MS, now;
    int err;

    if (hwmc_random(nonce, sizeof(nonce)) != HWMC_OK)
        return HWMC_ERR_LIMIT;
    err = f->ops->draw(f, &group);
    if (err == HWMC_OK)
        err = hwmc_info_join(f, group);
    if (err != HWMC_OK)
        return err;
    err = f->ops->post(f, group, &out, 1);
    if (err < 0)
        return err;
    while ((now = hwmc_info_now_ms()) < end) {
        int n;

        hwmc_info_wait(f, end - now);
        n = f->ops->poll(f, in, 8);
        for (int i = 0; i < n; i++)
            if (in[i].len == sizeof(nonce) && memcmp(in[i].data, nonce, sizeof(nonce)) == 0)
                return HWMC_OK;
    }
    return HWMC_AGAIN;
}

int hwmc_info_probe(const struct hwmc_rail *rail, char *what, size_t room)
{
    struct hwmc_info_params params = {.window = 65536};
    struct hwmc_fabric *f;
    int err;

    if (hwmc_random(&params.key, sizeof(params.key)) != HWMC_OK)
        return HWMC_ERR_LIMIT;
    params.port = hwmc_info_port((uint32_t) params.key);
    err = hwmc_info_open(rail, &params, &f, what, room);
    if (err != HWMC_OK)
        return err;
    /* The verbs fabric has answered its probe, and does not hear itself otherwise. */
    err = strcmp(f->ops->name, "udp") == 0 ? ask(f) : HWMC_OK;
    f->ops->close(f);
    return err;
}

/* `what`: its fabric; `left_out`: why it is no rail, or NULL. */
static void print_rail(const struct hwmc_rail *r, const char *what, const char *left_out, int err)
{
    char subnet[HWMC_ADDR_SUBNET_MAX], speed[24] = "-", numa[24] = "-";

    hwmc_info_format_subnet(r, subnet);
    if (r->mbit > 0)
        snprintf(speed, sizeof(speed), "%u", r->mbit);
    if (r->numa >= 0)
        snprintf(numa, sizeof(numa), r->distance >= 0 ? "%d at %d" : "%d", r->numa, r->distance);
    printf("%-16s %-19s %8s %6u %-8s ", r->name, subnet, speed, r->mtu, numa);
    printf("%-18s ", !r->up              ? "-"
                     : err == HWMC_OK    ? "answers itself"
                     : err == HWMC_AGAIN ? "nothing came back"
                                         : hwmc_err_text(err));
    printf("%-*s ", FABRIC_WIDTH, what);
    printf("%s%s\n", left_out ? "no: " : "yes", left_out ? left_out : "");
}

static void print_paths(const struct hwmc_rail *rails, int num)
{
    char text[160];

    printf("\n%-16s %s\n", "port", "a path that dies is left");
    for (int i = 0; i < num; i++)
        if (rails[i].up) {
            hwmc_info_path(&rails[i], text, sizeof(text));
            printf("%-16s %s\n", rails[i].name, text);
        }
}

int hwmc_info_rails(void)
{
    struct hwmc_rail rails[HWMC_RAIL_PORTS_MAX];
    int num = hwmc_rail_discover(rails, HWMC_RAIL_PORTS_MAX);
    int working = 0;

    if (num < 0) {
        fprintf(stderr, "hwmc_info: network ports: %s\n", hwmc_err_text(num));
        return 1;
    }
    hwmc_rail_locate(rails, num);
    printf("%-16s %-19s %8s %6s %-8s %-18s %-*s %s\n", "port", "address", "Mbit/s", "MTU", "NUMA",
           "multicast", FABRIC_WIDTH, "fabric", "a rail");
    for (int i = 0; i < num; i++) {
        char what[64] = "-";
        int err = rails[i].up ? hwmc_info_probe(&rails[i], what, sizeof(what)) : HWMC_ERR_DEVICE;

        print_rail(&rails[i], what, hwmc_rail_left_out(rails, num, i), err);
        working += err == HWMC_OK;
    }
    if (num == 0)
        printf("none: no interface with an address is up\n");
    else
        print_paths(rails, num);
    return working > 0 ? 0 : 1;
}
