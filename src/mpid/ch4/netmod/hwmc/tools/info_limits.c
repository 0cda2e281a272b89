/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What of this host's settings limits a job. A socket's buffers are asked for as a job does it, and
 * a burst is multicast to this host itself: whether the kernel took it in one piece, and handed it
 * over so. What a network card does with it on its way out is not seen here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "info.h"
#include "../base/random.h"

#include <stdio.h>
#include <string.h>

#define BURST HWMC_INFO_BURST
#define ANSWER_MS 200
#define PORTS_TRIED 16

long hwmc_info_setting(const char *name)
{
    char path[64];
    long value = -1;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/sys/net/core/%s", name);
    f = fopen(path, "r");
    if (f == NULL)
        return -1;
    if (fscanf(f, "%ld", &value) != 1)
        value = -1;
    fclose(f);
    return value;
}

static int listen_for(struct hwmc_fabric *f, uint64_t nonce, struct hwmc_info_seen *seen)
{
    uint64_t end = hwmc_info_now_ms() + ANSWER_MS, now;
    struct hwmc_in in[BURST];

    while (seen->came < BURST && (now = hwmc_info_now_ms()) < end) {
        int n;

        hwmc_info_wait(f, end - now);
        n = f->ops->poll(f, in, BURST);
        for (int i = 0; i < n; i++)
            seen->came += in[i].len == seen->datagram && memcmp(in[i].data, &nonce, 8) == 0;
        if (n > 0 && hwmc_udp_came_together(f) > seen->together)
            seen->together = hwmc_udp_came_together(f);
    }
    return seen->came;
}

/* Multicasts a burst of the longest datagrams and waits for it. */
static int try_burst(struct hwmc_fabric *f, uint64_t nonce, struct hwmc_info_seen *seen)
{
    static const char body[65536];
    struct hwmc_out out[BURST];
    uint64_t group;
    int err = f->ops->draw(f, &group);

    if (err == HWMC_OK)
        err = hwmc_info_join(f, group);
    if (err != HWMC_OK)
        return err;
    for (int i = 0; i < BURST; i++)
        out[i] = (struct hwmc_out){&nonce, sizeof(nonce), body, seen->datagram - sizeof(nonce)};
    err = f->ops->post(f, group, out, BURST);
    if (err < 0)
        return err;
    listen_for(f, nonce, seen);
    seen->sends_together = hwmc_udp_sends_together(f);
    return HWMC_OK;
}

static bool may_bind(const struct hwmc_rail *rail, uint16_t port)
{
    return hwmc_udp_may_bind((enum hwmc_family) rail->addr.family, port);
}

void hwmc_info_look_at(const struct hwmc_rail *rail, struct hwmc_info_seen *seen)
{
    struct hwmc_info_params params = {.window = HWMC_FABRIC_WINDOW};
    struct hwmc_fabric_attr attr;
    struct hwmc_fabric *f;

    *seen = (struct hwmc_info_seen){.err = HWMC_ERR_LIMIT};
    if (hwmc_random(&params.key, sizeof(params.key)) != HWMC_OK)
        return;
    /* Somebody may have a port for himself. */
    for (int i = 0; i < PORTS_TRIED && (i == 0 || !may_bind(rail, params.port)); i++)
        params.port = hwmc_info_port((uint32_t) (params.key >> i));
    seen->err = hwmc_info_open_udp(rail, &params, &f);
    if (seen->err != HWMC_OK)
        return;
    f->ops->query(f, &attr);
    seen->datagram = attr.max_datagram;
    seen->window = attr.window;
    seen->err = try_burst(f, params.key, seen);
    f->ops->close(f);
}

/* `beyond`: this process has got more all the same. */
static void print_setting(const char *name, long asked, bool beyond)
{
    const long value = hwmc_info_setting(name);

    printf("net.core.%-9s ", name);
    if (value < 0)
        printf("%10s %12ld  not shown here\n", "-", asked);
    else
        printf("%10ld %12ld  %s\n", value, asked,
               value >= asked ? "enough"
               : beyond       ? "less, but this process may go beyond"
                              : "less");
}

static bool has_window(const struct hwmc_info_seen *seen)
{
    return seen->window >= HWMC_FABRIC_WINDOW / 16 * 15;
}

static const char *text_of_burst(const struct hwmc_info_seen *seen)
{
    if (seen->came == 0)
        return "nothing came back";
    if (!seen->sends_together)
        return "sent one by one";
    return seen->together > 1 ? "sent and received in one piece"
                              : "sent in one, received one by one";
}

static void print_port(const struct hwmc_rail *rail, const struct hwmc_info_seen *seen)
{
    printf("%-16s %6u ", rail->name, rail->mtu);
    if (seen->err != HWMC_OK) {
        printf("%s\n", hwmc_err_text(seen->err));
        return;
    }
    printf("%10d %10zu  %-28s %s\n", hwmc_udp_buffer_for(HWMC_FABRIC_WINDOW, seen->datagram),
           seen->window, has_window(seen) ? "as asked" : "less: net.core.rmem_max",
           text_of_burst(seen));
}

int hwmc_info_limits(void)
{
    struct hwmc_rail rails[HWMC_RAIL_PORTS_MAX];
    struct hwmc_info_seen seen[HWMC_RAIL_PORTS_MAX];
    const int num = hwmc_rail_discover(rails, HWMC_RAIL_PORTS_MAX);
    bool beyond = true;
    int most = 0;

    if (num < 0) {
        fprintf(stderr, "hwmc_info: network ports: %s\n", hwmc_err_text(num));
        return 1;
    }
    for (int i = 0; i < num; i++) {
        seen[i] = (struct hwmc_info_seen){.err = HWMC_ERR_DEVICE};
        if (rails[i].up)
            hwmc_info_look_at(&rails[i], &seen[i]);
        if (seen[i].err == HWMC_OK) {
            const int asked = hwmc_udp_buffer_for(HWMC_FABRIC_WINDOW, seen[i].datagram);

            most = asked > most ? asked : most;
            beyond = beyond && has_window(&seen[i]);
        }
    }
    printf("%-18s %10s %12s\n", "setting", "is", "asked for");
    print_setting("rmem_max", most, beyond);
    print_setting("wmem_max", HWMC_UDP_SEND_BUFFER, false);
    printf("\n%-16s %6s %10s %10s  %-28s %s\n", "port", "MTU", "asks for", "can wait",
           "of 4194304 bytes", "a burst is");
    for (int i = 0; i < num; i++)
        print_port(&rails[i], &seen[i]);
    return 0;
}
