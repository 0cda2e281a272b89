/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * network_text: see network_text.h.
 */
#include "network_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1e9

bool hwmc_network_take(const char **text, const char *name, double least, double most,
                       double *value)
{
    size_t len = strlen(name);
    char *end;

    if (strncmp(*text, name, len) != 0 || (*text)[len] != '=')
        return false;
    errno = 0;
    *value = strtod(*text + len + 1, &end);
    if (end == *text + len + 1 || errno != 0 || !(*value >= least && *value <= most) ||
        (*end != ',' && *end != '\0'))
        return false;
    *text = *end == ',' ? end + 1 : end;
    return true;
}

static uint32_t rails_of(const struct hwmc_network *net)
{
    return net->mbit > 0 && net->mbit_all > net->mbit ? (net->mbit_all + net->mbit / 2) / net->mbit
                                                      : 1;
}

bool hwmc_network_parse(const char *text, struct hwmc_network *net)
{
    uint32_t rails = rails_of(net);
    double value;

    while (*text != '\0') {
        if (hwmc_network_take(&text, "latency_us", 0, MOST, &value)) {
            net->latency_ns = (uint64_t) (value * 1000);
            if (net->site_latency_ns < net->latency_ns)
                net->site_latency_ns = net->latency_ns;
        } else if (hwmc_network_take(&text, "site_latency_us", 0, MOST, &value)) {
            net->site_latency_ns = (uint64_t) (value * 1000);
        } else if (hwmc_network_take(&text, "mbit", 1, 1e7, &value)) {
            net->mbit = (uint32_t) value;
            net->mbit_all = net->mbit * rails;
        } else if (hwmc_network_take(&text, "loss_ppm", 0, 1e6, &value)) {
            net->loss_ppm = (uint32_t) value;
        } else if (hwmc_network_take(&text, "datagram_ns", 0, MOST, &value)) {
            net->datagram_ns = (uint32_t) value;
        } else if (hwmc_network_take(&text, "message_ns", 0, MOST, &value)) {
            net->message_ns = (uint32_t) value;
        } else if (hwmc_network_take(&text, "loaded_us", 0, MOST, &value)) {
            net->loaded_ns = (uint64_t) (value * 1000);
        } else if (hwmc_network_take(&text, "loaded_mbit", 0, MOST, &value)) {
            net->loaded_mbit = (uint32_t) value;
        } else if (hwmc_network_take(&text, "burst", 0, MOST, &value)) {
            net->burst_bytes = (uint64_t) value;
        } else {
            return false;
        }
    }
    return true;
}
