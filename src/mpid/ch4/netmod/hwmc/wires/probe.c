/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * In MPI_Init all get to know the hosts' addresses on the job's rails (addresses.h), so that nobody
 * has to be asked for them when a host is silent. Each process asks a host, and at the end of
 * MPI_Init all get to know which hosts have answered. The k-th process of a host asks the k-th host
 * after it: with several processes a host a host is asked by several others.
 *
 * On a rail that is several subnets, hosts of two of them may be joined by a router, or not. So the
 * silence of a host in another subnet says something only if all that asked across subnets were
 * answered.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "probe.h"
#include "addresses.h"
#include "lanes.h"
#include "../probe/probe.h"

#define TRIAL 0 /* place */

static struct hwmc_probe *probe;
static struct hwmc_job_rails own;
static uint32_t num_hosts, asked; /* asked: the host */

/* Words that all processes combine, after one for each host: rails by which somebody was answered
 * from another subnet, and was not. */
enum { CROSSED, NOT_CROSSED, NUM_MORE };

static uint32_t host_of(int rank)
{
    return (uint32_t) hwmc_host_of((uint32_t) rank);
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

/* Without memory, or a rail, this process asks nobody. */
static void open_knock(bool any)
{
    struct hwmc_rail_probe_params params = {.hosts = num_hosts,
                                            .host = host_of(MPIR_Process.rank),
                                            .port = HWMC_RAIL_PROBE_PORT,
                                            .any = any,
                                            .addr = hwmc_job_addresses(),
                                            .control = control};

    for (int i = 0; i < own.num_job; i++)
        if (own.port_at[i] >= 0) {
            params.mine[i] = own.mine[own.port_at[i]];
            params.have |= 1u << i;
        }
    if (!params.have || hwmc_rail_probe_open(&params, &probe) != HWMC_OK)
        return;
    asked = host_to_ask();
    probe->ops->ask(probe, TRIAL, asked, params.have);
}

struct hwmc_probe *hwmc_job_probe_open(const struct hwmc_job_rails *rails, bool any)
{
    own = *rails;
    num_hosts = (uint32_t) hwmc_num_hosts();
    if (num_hosts > 1)
        open_knock(any);
    return probe;
}

int hwmc_job_probe_tried(MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    uint32_t *heard = NULL, *more, joined;

    if (num_hosts < 2)
        goto fn_exit;
    heard = MPL_calloc(num_hosts + NUM_MORE, sizeof(*heard), MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!heard, mpi_errno, MPI_ERR_OTHER, "**nomem");
    more = &heard[num_hosts];
    if (probe) {
        probe->ops->answered(probe, TRIAL);
        probe->ops->end(probe, TRIAL);
        heard[asked] = hwmc_rail_probe_heard(probe, asked);
        more[CROSSED] = hwmc_job_addresses_far(asked) & heard[asked];
        more[NOT_CROSSED] = hwmc_job_addresses_far(asked) & ~heard[asked];
    }
    mpi_errno = combine(heard, num_hosts + NUM_MORE, world);
    MPIR_ERR_CHECK(mpi_errno);
    joined = more[CROSSED] & ~more[NOT_CROSSED];
    for (uint32_t host = 0; probe && host < num_hosts; host++)
        hwmc_rail_probe_learn(probe, host, heard[host] & (joined | ~hwmc_job_addresses_far(host)));

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
}
