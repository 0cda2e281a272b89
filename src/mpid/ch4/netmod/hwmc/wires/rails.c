/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../base/counters.h"
#include "rails.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#include <unistd.h>

/* What speaks for and against a family, to be combined by maximum over all processes. Loopback goes
 * by IPv4: Linux has no route for IPv6 multicast there. */
struct families {
    int only_ipv4, only_ipv6; /* there is a rail without the other one */
    int wants_ipv4;
};

static struct families look_at_families(const struct hwmc_job_rails *rails)
{
    const char *ucx = getenv("UCX_TCP_AF_PRIO");
    struct families f = {.wants_ipv4 = !ucx || strncmp(ucx, "inet6", 5) != 0};

    for (int i = 0; i < rails->num; i++) {
        const struct hwmc_rail *r = &rails->mine[i];

        if (r->loopback)
            continue;
        f.only_ipv4 |= r->addr.family == HWMC_IPV4 && r->other.family == HWMC_NO_FAMILY;
        f.only_ipv6 |= r->addr.family == HWMC_IPV6 && r->other.family == HWMC_NO_FAMILY;
    }
    return f;
}

static int agree_on_family(struct hwmc_job_rails *rails, MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    struct families mine = look_at_families(rails), all;

    mpi_errno = MPIR_Allreduce_allcomm_auto(&mine, &all, (int) (sizeof(all) / sizeof(int)),
                                            HWMC_INT, MPI_MAX, world, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    rails->family = all.wants_ipv4 ? HWMC_IPV4 : HWMC_IPV6;
    if (all.only_ipv4 != all.only_ipv6)
        rails->family = all.only_ipv6 ? HWMC_IPV6 : HWMC_IPV4;
    for (int i = 0; i < rails->num; i++)
        hwmc_rail_turn(&rails->mine[i], rails->mine[i].loopback ? HWMC_IPV4 : rails->family);

fn_fail:
    return mpi_errno;
}

int hwmc_job_rails_choose(struct hwmc_job_rails *rails, MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_rail ports[HWMC_RAIL_PORTS_MAX];
    const char *spec = hwmc_settings.ways.rails;
    char wrong[HWMC_RAIL_NAME_MAX];
    int num, chosen;

    rails->num = rails->num_job = 0;
    rails->same = 0;
    num = hwmc_rail_discover(ports, HWMC_RAIL_PORTS_MAX);
    num = MPL_MAX(num, 0);
    chosen = hwmc_rail_select(ports, num, spec, rails->mine, HWMC_RAILS_MAX, wrong);
    MPIR_ERR_CHKANDJUMP1(chosen < 0 && wrong[0] != '\0', mpi_errno, MPI_ERR_OTHER, "**hwmc_rail",
                         "**hwmc_rail %s", wrong);
    rails->num = MPL_MAX(chosen, 0);
    mpi_errno = agree_on_family(rails, world);
    MPIR_ERR_CHECK(mpi_errno);
    if (hwmc_settings.tune.ttl > 1)
        hwmc_rail_span(rails->mine, rails->num, spec);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void hwmc_job_rails_write(const struct hwmc_job_rails *rails, char *text)
{
    hwmc_match_write(rails->mine, rails->num, text);
}

void hwmc_job_rails_match(struct hwmc_job_rails *rails, const char *text, int *mbit)
{
    rails->num_job = MPL_MAX(hwmc_match_read(text, rails->mine, rails->num, rails->at), 0);
    memcpy(rails->port_at, rails->at, sizeof(rails->at));
    rails->elsewhere =
        hwmc_match_elsewhere(rails->mine, rails->num, rails->port_at, rails->num_job);
    for (int i = 0; i < (int) HWMC_RAIL_BITS; i++)
        mbit[i] = i < rails->num_job && rails->port_at[i] >= 0
                      ? (int) rails->mine[rails->port_at[i]].mbit
                      : INT_MAX;
}

uint64_t hwmc_job_rails_elsewhere(const struct hwmc_job_rails *rails)
{
    for (int i = 0; rails->elsewhere && i < rails->num_job; i++)
        if (rails->port_at[i] != rails->at[i]) {
            const struct hwmc_rail *r = &rails->mine[rails->port_at[i]];

            return hwmc_addr_subnet_id(&r->addr, r->prefix);
        }
    return 0;
}

/* Of the host's name: nodes that MPICH is told of may be one host. */
static int name_of_host(void)
{
    char name[256] = "";
    uint32_t hash = 2166136261u; /* FNV-1a */

    gethostname(name, sizeof(name) - 1);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char) *c) * 16777619u;
    return (int) (hash >> 1);
}

/* An IPv4 address, or 32 bits that stand for an IPv6 address. */
static int name_of_addr(const struct hwmc_addr *addr)
{
    return (int) (uint32_t) hwmc_addr_subnet_id(addr, hwmc_addr_bits(addr));
}

/* ~x turns the order round, and unlike -x has a value for each int. */
void hwmc_job_rails_show_ends(const struct hwmc_job_rails *rails, struct hwmc_job_rails_ends *ends)
{
    const int host = name_of_host();

    for (int i = 0; i < (int) HWMC_RAIL_BITS; i++) {
        int addr;

        if (i >= rails->num_job || rails->port_at[i] < 0) {
            ends[i] = (struct hwmc_job_rails_ends){INT_MAX, INT_MAX, INT_MAX, INT_MAX};
            continue;
        }
        addr = name_of_addr(&rails->mine[rails->port_at[i]].addr);
        ends[i] = (struct hwmc_job_rails_ends){addr, ~addr, host, ~host};
    }
}

void hwmc_job_rails_leave_same(struct hwmc_job_rails *rails, const struct hwmc_job_rails_ends *ends)
{
    for (int i = 0; i < rails->num_job; i++)
        if (ends[i].least_addr == ~ends[i].most_addr && ends[i].least_host != ~ends[i].most_host) {
            rails->at[i] = rails->port_at[i] = -1;
            rails->same |= 1u << i;
            hwmc_counters.setup->rails_same++;
        }
}

static struct hwmc_job_rails matched; /* as of the last tell */

static void find_distances(int *distance)
{
    const int near = hwmc_settings.debug.near_rail;

    if (near < 0)
        hwmc_rail_locate(matched.mine, matched.num);
    for (int i = 0; i < (int) HWMC_RAIL_BITS; i++) {
        if (i >= matched.num_job || matched.port_at[i] < 0)
            distance[i] = -1;
        else if (near < 0)
            distance[i] = matched.mine[matched.port_at[i]].distance;
        else
            distance[i] = i == near ? 10 : 20;
    }
}

void hwmc_job_rails_tell(const struct hwmc_job_rails *rails)
{
    matched = *rails;
    hwmc_register_distances(find_distances);
}
