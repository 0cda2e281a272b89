/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * topo: see topo.h. Processors have the system's numbers everywhere here.
 */
#include "topo.h"

#include <hwloc.h>
#include <stdlib.h>

struct hwmc_shm_topo {
    hwloc_topology_t hwloc;
};

int hwmc_shm_topo_open(struct hwmc_shm_topo **topo, const char *synthetic)
{
    struct hwmc_shm_topo *t = malloc(sizeof(*t));
    int err = HWMC_ERR_NOMEM;

    if (t == NULL)
        return err;
    if (hwloc_topology_init(&t->hwloc) != 0)
        goto free;
    err = HWMC_ERR_INVAL;
    if (synthetic != NULL && hwloc_topology_set_synthetic(t->hwloc, synthetic) != 0)
        goto destroy;
    err = HWMC_ERR_LIMIT;
    /* It binds this thread to each processor in turn, where others may be at work, and Linux tells
     * the same. */
    (void) hwloc_topology_set_components(t->hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (hwloc_topology_set_flags(t->hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
        hwloc_topology_load(t->hwloc) != 0)
        goto destroy;
    *topo = t;
    return HWMC_OK;

destroy:
    hwloc_topology_destroy(t->hwloc);
free:
    free(t);
    return err;
}

void hwmc_shm_topo_close(struct hwmc_shm_topo *topo)
{
    hwloc_topology_destroy(topo->hwloc);
    free(topo);
}

/* The first object of a type that has any of the processors in `set`; NULL: none. */
static hwloc_obj_t touched_object(hwloc_topology_t hwloc, hwloc_const_cpuset_t set,
                                  hwloc_obj_type_t type)
{
    return hwloc_get_next_obj_covering_cpuset_by_type(hwloc, set, type, NULL);
}

static hwloc_obj_t last_cache(hwloc_topology_t hwloc, hwloc_const_cpuset_t set)
{
    static const hwloc_obj_type_t levels[] = {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE,
                                              HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE};
    hwloc_obj_t cache = NULL;

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]) && cache == NULL; i++)
        cache = touched_object(hwloc, set, levels[i]);
    return cache;
}

/* Memory nodes may lie within each other (fast memory of a cluster, slow memory of its package):
 * the nearest counts. */
static hwloc_obj_t nearest_memory(hwloc_topology_t hwloc, hwloc_const_cpuset_t set)
{
    hwloc_obj_t best = NULL, numa = NULL;

    while ((numa = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, numa)) != NULL)
        if (hwloc_bitmap_intersects(set, numa->cpuset) &&
            (best == NULL || hwloc_bitmap_weight(numa->cpuset) < hwloc_bitmap_weight(best->cpuset)))
            best = numa;
    return best;
}

/* By its lowest processor, which no other object of its kind has; -1: `set` is not all inside it.
 */
static int32_t named_by(hwloc_const_cpuset_t set, hwloc_obj_t obj)
{
    if (obj == NULL || !hwloc_bitmap_isincluded(set, obj->cpuset))
        return -1;
    return hwloc_bitmap_first(obj->cpuset);
}

static void describe_set(hwloc_topology_t hwloc, hwloc_const_cpuset_t set,
                         struct hwmc_shm_affinity *place)
{
    hwloc_obj_t l2 = touched_object(hwloc, set, HWLOC_OBJ_L2CACHE), llc = last_cache(hwloc, set);
    hwloc_obj_t core = l2 != NULL ? l2 : touched_object(hwloc, set, HWLOC_OBJ_CORE);
    unsigned p;

    *place = (struct hwmc_shm_affinity){
        .part = {named_by(set, core), named_by(set, llc), named_by(set, nearest_memory(hwloc, set)),
                 named_by(set, touched_object(hwloc, set, HWLOC_OBJ_PACKAGE))},
        .line = llc != NULL ? llc->attr->cache.linesize : 0,
        .l2 = l2 != NULL ? l2->attr->cache.size : 0,
        .llc = llc != NULL ? llc->attr->cache.size : 0,
    };
    hwloc_bitmap_foreach_begin(p, set) if (p < HWMC_SHM_PROCESSORS_MAX) place->processors[p / 64] |=
        (uint64_t) 1 << p % 64;
    hwloc_bitmap_foreach_end();
}

/* The processors of this host that `cpus` names, or those of this process. */
static int find_processors(hwloc_topology_t hwloc, const char *cpus, hwloc_cpuset_t set)
{
    if (cpus == NULL) {
        /* A system that does not say may run it anywhere. */
        if (hwloc_get_cpubind(hwloc, set, HWLOC_CPUBIND_PROCESS) != 0)
            hwloc_bitmap_fill(set);
    } else if (hwloc_bitmap_list_sscanf(set, cpus) != 0) {
        return HWMC_ERR_INVAL;
    }
    hwloc_bitmap_and(set, set, hwloc_topology_get_topology_cpuset(hwloc));
    return hwloc_bitmap_iszero(set) ? HWMC_ERR_INVAL : HWMC_OK;
}

int hwmc_shm_topo_place(struct hwmc_shm_topo *topo, const char *cpus,
                        struct hwmc_shm_affinity *place)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    int err = HWMC_ERR_NOMEM;

    if (set == NULL)
        return err;
    err = find_processors(topo->hwloc, cpus, set);
    if (err == HWMC_OK)
        describe_set(topo->hwloc, set, place);
    hwloc_bitmap_free(set);
    return err;
}
