/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which process of MPI_COMM_WORLD a rank is, and which of them share a host. MPICH has a map of
 * that. But if the device has no shared memory of its own, MPICH 5 gives every process a node of
 * its own (ENABLE_NO_LOCAL); then the process manager is asked. If the user wants each process to
 * be a node, it is one.
 */

#include "mpiimpl.h"
#include "hosts.h"

#if defined(ENABLE_NO_LOCAL) && MPICH_NUMVERSION >= 40200000
#define ASKS_PROCESS_MANAGER
#endif

static int *map; /* a number for every process; NULL: MPICH's own map */

#ifdef ASKS_PROCESS_MANAGER
/* The user may try out several hosts on one machine: MPICH's map would be divided so. */
static void divide(void)
{
    const int size = MPIR_Process.size;
    int cliques = MPIR_CVAR_NUM_CLIQUES;

    if (cliques <= 1)
        cliques = MPIR_CVAR_ODD_EVEN_CLIQUES ? 2 : 1;
    for (int i = 0; i < size; i++)
        if (map[i] != map[0])
            return;
    for (int i = 0; i < size; i++)
        map[i] = MPIR_CVAR_CLIQUES_BY_BLOCK ? (int) ((int64_t) i * cliques / size) : i % cliques;
}
#endif

void hwmc_find_hosts(void)
{
#ifdef ASKS_PROCESS_MANAGER
    if (MPIR_CVAR_NOLOCAL)
        return;
    map = MPL_malloc((size_t) MPIR_Process.size * sizeof(int), MPL_MEM_OTHER);
    if (!map)
        return;
    if (MPIR_pmi_build_nodemap(map, MPIR_Process.size) == MPI_SUCCESS)
        divide();
    else
        hwmc_forget_hosts();
#endif
}

void hwmc_forget_hosts(void)
{
    MPL_free(map);
    map = NULL;
}

bool hwmc_world_rank(MPIR_Comm *comm, int rank, uint32_t *world)
{
#if MPICH_NUMVERSION >= 50000000
    MPIR_Lpid lpid = MPIR_comm_rank_to_lpid(comm, rank);
#else
    uint64_t lpid = 0;

    if (MPID_Comm_get_lpid(comm, rank, &lpid, true) != MPI_SUCCESS)
        return false;
#endif
    *world = (uint32_t) lpid;
    return (uint64_t) lpid < (uint64_t) MPIR_Process.size;
}

int hwmc_host_of(uint32_t world_rank)
{
    return map ? map[world_rank] : MPIR_Process.node_map[world_rank];
}

int hwmc_num_hosts(void)
{
    int num = 0;

    for (int i = 0; i < MPIR_Process.size; i++)
        num = MPL_MAX(num, hwmc_host_of((uint32_t) i) + 1);
    return num;
}

bool hwmc_same_host(uint32_t world_rank)
{
    return hwmc_host_of(world_rank) == hwmc_host_of((uint32_t) MPIR_Process.rank);
}

bool hwmc_host_is_shared(void)
{
    int own = hwmc_host_of((uint32_t) MPIR_Process.rank);

#ifdef ASKS_PROCESS_MANAGER
    if (!map)
        return true;
#endif
    for (int i = 0; i < MPIR_Process.size; i++)
        if (i != MPIR_Process.rank && hwmc_host_of((uint32_t) i) == own)
            return true;
    return false;
}

bool hwmc_is_on_one_host(void)
{
#ifdef ASKS_PROCESS_MANAGER
    if (!map)
        return false;
#endif
    for (int i = 1; i < MPIR_Process.size; i++)
        if (hwmc_host_of((uint32_t) i) != hwmc_host_of(0))
            return false;
    return true;
}
