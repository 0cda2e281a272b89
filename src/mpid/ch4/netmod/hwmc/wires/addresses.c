/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * addresses: see addresses.h.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "addresses.h"

_Static_assert(sizeof(hwmc_job_host_addr) == HWMC_RAILS_MAX * 5 * sizeof(uint32_t),
               "an address is combined in words");

static hwmc_job_host_addr *by_host;
static struct hwmc_job_rails own_rails;

static int host_of(int rank)
{
    return hwmc_host_of((uint32_t) rank);
}

static int count_hosts(void)
{
    int num = 0;

    for (int i = 0; i < MPIR_Process.size; i++)
        num = MPL_MAX(num, host_of(i) + 1);
    return num;
}

static bool is_first_on_host(void)
{
    int i = 0;

    while (host_of(i) != host_of(MPIR_Process.rank))
        i++;
    return i == MPIR_Process.rank;
}

/* Each word is set by one process. */
int hwmc_job_addresses_tell(const struct hwmc_job_rails *rails, MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    const int hosts = count_hosts();
    struct hwmc_addr *mine;

    own_rails = *rails;
    if (hosts < 2)
        goto fn_exit;
    by_host = MPL_calloc((size_t) hosts, sizeof(*by_host), MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!by_host, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mine = by_host[host_of(MPIR_Process.rank)];
    for (int i = 0; is_first_on_host() && i < rails->num_job; i++)
        if (rails->port_at[i] >= 0)
            mine[i] = rails->mine[rails->port_at[i]].addr;
    mpi_errno = MPIR_Allreduce_allcomm_auto(
        MPI_IN_PLACE, by_host, (int) ((size_t) hosts * sizeof(*by_host) / sizeof(uint32_t)),
        HWMC_INT, MPI_BOR, world, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

const hwmc_job_host_addr *hwmc_job_addresses(void)
{
    return (const hwmc_job_host_addr *) by_host;
}

uint32_t hwmc_job_addresses_far(uint32_t host)
{
    uint32_t rails = 0;

    for (int i = 0; by_host && i < own_rails.num_job; i++) {
        const struct hwmc_addr *theirs = &by_host[host][i];
        const struct hwmc_rail *r =
            own_rails.port_at[i] >= 0 ? &own_rails.mine[own_rails.port_at[i]] : NULL;

        if (r && theirs->family == r->addr.family && !hwmc_addr_in(theirs, &r->addr, r->prefix))
            rails |= 1u << i;
    }
    return rails;
}

void hwmc_job_addresses_forget(void)
{
    MPL_free(by_host);
    by_host = NULL;
}
