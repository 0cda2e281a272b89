/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * In the process manager's key-value space:
 *
 *   hwmc-R-ports   the ports of process R in its order, as 0a4d0101/24,0a4d0201/24; "-": it has none
 *
 * The port of another process on a rail is the one in the same subnet; of several the one that comes there in as
 * manyeth a place as this process's own.
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_knock.h"
#include "hwmc_lanes.h"
#include "rail/knock.h"

#define TEXT_MAX (12 * BCAST_HW_RAILS_MAX + 1)
#define TRIAL 0 /* place */

static struct bcast_hw_knock *knock;
static struct MPIDI_HWMC_rails own;

static void key_of(char *key, size_t room, unsigned rank)
{
    snprintf(key, room, "hwmc-%u-ports", rank);
}

int MPIDI_HWMC_knock_put(const struct MPIDI_HWMC_rails *rails)
{
    char key[32], text[TEXT_MAX] = "-";
    int at = 0;

    for (int i = 0; i < rails->num; i++)
        at += snprintf(text + at, sizeof(text) - (size_t) at, "%s%08x/%u", i > 0 ? "," : "",
                       (unsigned) rails->mine[i].addr, (unsigned) rails->mine[i].prefix);
    key_of(key, sizeof(key), (unsigned) MPIR_Process.rank);
    return MPIR_pmi_kvs_put(key, text);
}

/* How many of the ports before `at` are in the subnet of `port`. */
static int before(const struct bcast_hw_rail *ports, int at, uint32_t addr, uint32_t prefix)
{
    int n = 0;

    for (int i = 0; i < at; i++)
        n += ports[i].prefix == prefix &&
             hwmc_rail_subnet(ports[i].addr, prefix) == hwmc_rail_subnet(addr, prefix);
    return n;
}

static uint32_t port_on(const struct bcast_hw_rail *rail, int place,
                        const struct bcast_hw_rail *ports, int num)
{
    for (int i = 0; i < num; i++)
        if (before(&ports[i], 1, rail->addr, rail->prefix) == 1 &&
            before(ports, i, rail->addr, rail->prefix) == place)
            return ports[i].addr;
    return 0;
}

static int read_ports(const char *text, struct bcast_hw_rail *ports)
{
    unsigned addr, prefix;
    int n = 0, len;

    while (n < BCAST_HW_RAILS_MAX && sscanf(text, "%8x/%2u%n", &addr, &prefix, &len) == 2 &&
           prefix <= 32) {
        ports[n++] = (struct bcast_hw_rail){.addr = addr, .prefix = prefix};
        text += len;
        if (*text++ != ',')
            break;
    }
    return n;
}

static bool addresses(void *ctx, uint32_t peer, uint32_t *addr)
{
    struct bcast_hw_rail ports[BCAST_HW_RAILS_MAX];
    char key[32], text[TEXT_MAX];
    int num;

    (void) ctx;
    memset(addr, 0, BCAST_HW_RAILS_MAX * sizeof(*addr));
    if (MPIR_Bcast_hw_same_host(peer))
        return true;
    key_of(key, sizeof(key), (unsigned) peer);
    if (MPIDI_HWMC_global.pmi_in_use ||
        MPIR_pmi_kvs_get((int) peer, key, text, (int) sizeof(text)) != MPI_SUCCESS)
        return false;
    num = read_ports(text, ports);
    for (int i = 0; i < own.num_job; i++) {
        const int at = own.at[i];

        if (at >= 0)
            addr[i] =
                port_on(&own.mine[at], before(own.mine, at, own.mine[at].addr, own.mine[at].prefix),
                        ports, num);
    }
    return true;
}

static uint32_t control(void *ctx)
{
    (void) ctx;
    return MPIDI_HWMC_lanes_control(&own);
}

/* The first process that is not on this host, after this one. -1: there is none. */
static int other_host(void)
{
    for (int i = 1; i < MPIR_Process.size; i++) {
        int rank = (MPIR_Process.rank + i) % MPIR_Process.size;

        if (!MPIR_Bcast_hw_same_host((uint32_t) rank))
            return rank;
    }
    return -1;
}

struct bcast_hw_knock *MPIDI_HWMC_knock_open(const struct MPIDI_HWMC_rails *rails, bool any)
{
    struct hwmc_knock_params params = {.size = (uint32_t) MPIR_Process.size,
                                       .port = HWMC_KNOCK_PORT,
                                       .any = any,
                                       .addresses = addresses,
                                       .control = control};
    const int other = other_host();

    own = *rails;
    for (int i = 0; i < rails->num_job; i++)
        if (rails->at[i] >= 0) {
            params.mine[i] = rails->mine[rails->at[i]];
            params.have |= 1u << i;
        }
    if (other < 0 || !params.have || hwmc_knock_open(&params, &knock) != BCAST_HW_OK)
        return NULL;
    knock->ops->ask(knock, TRIAL, (uint32_t) other, params.have);
    return knock;
}

void MPIDI_HWMC_knock_tried(void)
{
    if (!knock)
        return;
    knock->ops->answered(knock, TRIAL);
    knock->ops->end(knock, TRIAL);
}

void MPIDI_HWMC_knock_close(void)
{
    hwmc_knock_close(knock);
    knock = NULL;
}
