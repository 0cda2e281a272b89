/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Where the processes of MPI_COMM_WORLD are: a number of each one's site.
 */

#include "mpiimpl.h"
#include "errors.h"
#include "mpich.h"
#include "sites.h"
#include "../core/base/prng.h"
#include "../settings/settings.h"

static uint64_t *names; /* by process; NULL: all are at one site */
static bool by_subnet;

bool hwmc_has_site(void)
{
    return *hwmc_settings.ways.site != '\0';
}

uint64_t hwmc_site_name(void)
{
    uint64_t hash = 0;

    for (const char *p = hwmc_settings.ways.site; *p; p++)
        hash = hwmc_prng(hash, (unsigned char) *p);
    return hash;
}

int hwmc_find_sites(MPIR_Comm *world, uint64_t name, bool subnets)
{
    int mpi_errno = MPI_SUCCESS;
    const int ints = (int) (sizeof(name) / sizeof(int));

    by_subnet = subnets;
    names = MPL_malloc((size_t) MPIR_Process.size * sizeof(*names), MPL_MEM_OTHER);
    mpi_errno = names ? MPI_SUCCESS : hwmc_error_nomem();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_Allgather_allcomm_auto(&name, ints, HWMC_INT, names, ints, HWMC_INT, world,
                                            HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool hwmc_sites_are_subnets(void)
{
    return by_subnet;
}

bool hwmc_sites_differ(const uint64_t *site, uint32_t num)
{
    for (uint32_t i = 1; i < num; i++)
        if (site[i] != site[0])
            return true;
    return false;
}

bool hwmc_several_sites(void)
{
    return names && hwmc_sites_differ(names, (uint32_t) MPIR_Process.size);
}

uint64_t hwmc_site_of(uint32_t world_rank)
{
    return names ? names[world_rank] : 0;
}

void hwmc_forget_sites(void)
{
    MPL_free(names);
    names = NULL;
    by_subnet = false;
}
