/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * In MPI_Init all get to know the hosts' addresses on the job's rails, those of the first process
 * on each host, so that nobody has to be asked for them when a host is silent. Each process asks a
 * host, and at the end of MPI_Init all get to know which hosts have answered. The k-th process of a
 * host asks the k-th host after it: with several processes a host a host is asked by several
 * others.
 *
 * On a rail that is several subnets, hosts of two of them may be joined by a router, or not. So the
 * silence of a host in another subnet says something only if all that asked across subnets were
 * answered.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "probe.h"
#include "lanes.h"
#include "../probe/probe.h"

#define TRIAL 0 /* place */

typedef struct hwmc_addr addresses[HWMC_RAILS_MAX];

_Static_assert(sizeof(addresses) == HWMC_RAILS_MAX * 5 * sizeof(uint32_t),
               "an address is combined in words");

static struct hwmc_probe *probe;
static struct hwmc_job_rails own;
static uint32_t num_hosts, asked; /* asked: the host */
static uint32_t *far;             /* by host: rails on which it is in another subnet */

/* Words that all processes combine, after one for each host: rails by which somebody was answered
 * from another subnet, and was not. */
enum { CROSSED, NOT_CROSSED, NUM_MORE };

static uint32_t host_of(int rank)
{
    return (uint32_t) hwmc_host_of((uint32_t) rank);
}

static uint32_t count_hosts(void)
{
    uint32_t num = 0;

    for (int i = 0; i < MPIR_Process.size; i++)
        num = MPL_MAX(num, host_of(i) + 1);
    return num;
}

/* How many processes on this host come before this one. */
static uint32_t place_on_host(void)
{
    uint32_t before = 0;

    for (int i = 0; i < MPIR_Process.rank; i++)
        before += host_of(i) == host_of(MPIR_Process.rank);
    return before;
}

static uint32_t host_to_ask(void)
{
    return (host_of(MPIR_Process.rank) + 1 + place_on_host() % (num_hosts - 1)) % num_hosts;
}

static uint32_t control(void *ctx)
{
    (void) ctx;
    return hwmc_lanes_control(&own);
}

/* Each word has been set by one process at most, or may be combined. Collective over `world`. */
static int combine(void *words, size_t num, MPIR_Comm *world)
{
    return MPIR_Allreduce_allcomm_auto(MPI_IN_PLACE, words, (int) num, HWMC_INT, MPI_BOR, world,
                                       HWMC_NO_ERRORS);
}

/* By host. Collective. */
static int tell_addresses(addresses *addr, MPIR_Comm *world)
{
    addresses *mine = &addr[host_of(MPIR_Process.rank)];

    if (place_on_host() == 0)
        for (int i = 0; i < own.num_job; i++)
            if (own.cast_at[i] >= 0)
                (*mine)[i] = own.mine[own.cast_at[i]].addr;
    return combine(addr, num_hosts * sizeof(*addr) / sizeof(uint32_t), world);
}

/* Rails on which a host of these addresses is in another subnet. */
static uint32_t find_far(const struct hwmc_addr *addr)
{
    uint32_t rails = 0;

    for (int i = 0; i < own.num_job; i++) {
        const struct hwmc_rail *r = own.cast_at[i] >= 0 ? &own.mine[own.cast_at[i]] : NULL;

        if (r && addr[i].family == r->addr.family && !hwmc_addr_in(&addr[i], &r->addr, r->prefix))
            rails |= 1u << i;
    }
    return rails;
}

/* Without memory, or a rail, this process asks nobody. */
static void open_knock(const addresses *addr, bool any)
{
    struct hwmc_rail_probe_params params = {.hosts = num_hosts,
                                            .host = host_of(MPIR_Process.rank),
                                            .port = HWMC_RAIL_PROBE_PORT,
                                            .any = any,
                                            .addr = addr,
                                            .control = control};

    for (int i = 0; i < own.num_job; i++)
        if (own.cast_at[i] >= 0) {
            params.mine[i] = own.mine[own.cast_at[i]];
            params.have |= 1u << i;
        }
    for (uint32_t host = 0; host < num_hosts; host++)
        far[host] = find_far(addr[host]);
    if (!params.have || hwmc_rail_probe_open(&params, &probe) != HWMC_OK)
        return;
    asked = host_to_ask();
    probe->ops->ask(probe, TRIAL, asked, params.have);
}

int hwmc_job_probe_open(const struct hwmc_job_rails *rails, bool any, MPIR_Comm *world,
                        struct hwmc_probe **out)
{
    int mpi_errno = MPI_SUCCESS;
    addresses *addr = NULL;

    own = *rails;
    *out = NULL;
    num_hosts = count_hosts();
    if (num_hosts < 2)
        goto fn_exit;
    addr = MPL_calloc(num_hosts, sizeof(*addr), MPL_MEM_OTHER);
    far = MPL_calloc(num_hosts, sizeof(*far), MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!addr || !far, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mpi_errno = tell_addresses(addr, world);
    MPIR_ERR_CHECK(mpi_errno);
    open_knock((const addresses *) addr, any);
    *out = probe;

fn_exit:
    MPL_free(addr);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int hwmc_job_probe_tried(MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    uint32_t *heard = NULL, *more;

    if (num_hosts < 2)
        goto fn_exit;
    heard = MPL_calloc(num_hosts + NUM_MORE, sizeof(*heard), MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!heard, mpi_errno, MPI_ERR_OTHER, "**nomem");
    more = &heard[num_hosts];
    if (probe) {
        probe->ops->answered(probe, TRIAL);
        probe->ops->end(probe, TRIAL);
        heard[asked] = hwmc_rail_probe_heard(probe, asked);
        more[CROSSED] = far[asked] & heard[asked];
        more[NOT_CROSSED] = far[asked] & ~heard[asked];
    }
    mpi_errno = combine(heard, num_hosts + NUM_MORE, world);
    MPIR_ERR_CHECK(mpi_errno);
    for (uint32_t host = 0; probe && host < num_hosts; host++)
        hwmc_rail_probe_learn(probe, host,
                              heard[host] & (~far[host] | (more[CROSSED] & ~more[NOT_CROSSED])));

fn_exit:
    MPL_free(heard);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void hwmc_job_probe_close(void)
{
    hwmc_rail_probe_close(probe);
    probe = NULL;
    MPL_free(far);
    far = NULL;
}
