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
static uint32_t *far; /* by host */

static int host_of(int rank)
{
    return hwmc_host_of((uint32_t) rank);
}

static bool is_first_on_host(void)
{
    int i = 0;

    while (host_of(i) != host_of(MPIR_Process.rank))
        i++;
    return i == MPIR_Process.rank;
}

/* Rails on which a host of these addresses is in another subnet than this one. */
static uint32_t find_far(const struct hwmc_job_rails *own, const struct hwmc_addr *theirs)
{
    uint32_t rails = 0;

    for (int i = 0; i < own->num_job; i++) {
        const struct hwmc_rail *r = own->port_at[i] >= 0 ? &own->mine[own->port_at[i]] : NULL;

        if (r && theirs[i].family == r->addr.family &&
            !hwmc_addr_in(&theirs[i], &r->addr, r->prefix))
            rails |= 1u << i;
    }
    return rails;
}

/* Each word is set by one process. */
int hwmc_job_addresses_tell(const struct hwmc_job_rails *rails, MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    const int hosts = hwmc_num_hosts();
    struct hwmc_addr *mine;

    if (hosts < 2)
        goto fn_exit;
    by_host = MPL_calloc((size_t) hosts, sizeof(*by_host), MPL_MEM_OTHER);
    far = MPL_calloc((size_t) hosts, sizeof(*far), MPL_MEM_OTHER);
    MPIR_ERR_CHKANDJUMP(!by_host || !far, mpi_errno, MPI_ERR_OTHER, "**nomem");
    mine = by_host[host_of(MPIR_Process.rank)];
    for (int i = 0; is_first_on_host() && i < rails->num_job; i++)
        if (rails->port_at[i] >= 0)
            mine[i] = rails->mine[rails->port_at[i]].addr;
    mpi_errno = MPIR_Allreduce_allcomm_auto(
        MPI_IN_PLACE, by_host, (int) ((size_t) hosts * sizeof(*by_host) / sizeof(uint32_t)),
        HWMC_INT, MPI_BOR, world, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    for (int host = 0; host < hosts; host++)
        far[host] = find_far(rails, by_host[host]);

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
    return far ? far[host] : 0;
}

void hwmc_job_addresses_forget(void)
{
    MPL_free(by_host);
    MPL_free(far);
    by_host = NULL;
    far = NULL;
}
