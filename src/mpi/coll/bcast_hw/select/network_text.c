/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * network_text: see network_text.h.
 */
#include "network_text.h"

#include <string.h>

#define MOST 1e9
#define EXPONENT_MOST 999

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits at `text`, behind those that *value has; returns what follows. */
static const char *take_digits(const char *text, double *value)
{
    for (; is_digit(*text); text++)
        *value = *value * 10 + (*text - '0');
    return text;
}

/* The number at `text`, as 12, 12.5 or 1.25e1, with a point in every locale of the program; returns
 * what follows, NULL: there is none. */
static const char *take_number(const char *text, double *value)
{
    const char *start = text, *point;
    double exponent = 0, scale = 1;
    bool negative = false;
    int power;

    *value = 0;
    point = text = take_digits(text, value);
    if (*text == '.')
        text = take_digits(++point, value);
    if (text == start || (text == point && !is_digit(*start)))
        return NULL;
    power = (int) (point - text); /* of ten, that the digits count */
    if (*text == 'e' || *text == 'E') {
        negative = *++text == '-';
        text += negative || *text == '+';
        if (!is_digit(*text))
            return NULL;
        text = take_digits(text, &exponent);
        exponent = exponent < EXPONENT_MOST ? exponent : EXPONENT_MOST;
    }
    power += negative ? -(int) exponent : (int) exponent;
    for (int i = power < 0 ? -power : power; i > 0; i--)
        scale *= 10;
    *value = power < 0 ? *value / scale : *value * scale;
    return text;
}

bool hwmc_network_take(const char **text, const char *name, double least, double most,
                       double *value)
{
    const char *number = *text + strlen(name) + 1, *end;

    if (strncmp(*text, name, strlen(name)) != 0 || (*text)[strlen(name)] != '=')
        return false;
    end = take_number(number, value);
    if (!end || !(*value >= least && *value <= most) || (*end != ',' && *end != '\0'))
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
