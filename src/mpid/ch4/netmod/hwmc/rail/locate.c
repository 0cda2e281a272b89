/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "rail.h"

#include <hwloc.h>
#include <hwloc/distances.h>
#include <string.h>

#define LOCAL 10 /* firmware's distance of a node to itself */

/* What hwloc asks of graphics drivers takes long and tells nothing of network ports. Nor does what
 * it asks of processors, for which it binds this thread to each of them in turn. */
static const char *const left_out[] = {"cuda", "gl", "levelzero", "nvml", "opencl", "rsmi", "x86"};

static hwloc_topology_t load_topology(void)
{
    hwloc_topology_t topo;

    if (hwloc_topology_init(&topo) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
        hwloc_topology_set_components(topo, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, left_out[i]);
    /* The ports alone: to describe PCI devices and bridges hwloc reads the configuration of each,
     * which on a virtual machine takes milliseconds. */
    if (hwloc_topology_set_type_filter(topo, HWLOC_OBJ_OS_DEVICE,
                                       HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
        hwloc_topology_load(topo) == 0)
        return topo;
    hwloc_topology_destroy(topo);
    return NULL;
}

/* The NUMA nodes nearest to a port; NULL: it is no device of this host's, as loopback is none. */
static hwloc_const_nodeset_t nodes_of(hwloc_topology_t topo, const char *name)
{
    hwloc_obj_t device = NULL;

    while ((device = hwloc_get_next_osdev(topo, device)) != NULL)
        if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK && device->name != NULL &&
            strcmp(device->name, name) == 0)
            return hwloc_get_non_io_ancestor_obj(topo, device)->nodeset;
    return NULL;
}

/* The shortest way from one of `from` to one of `to` in the firmware's table; -1: not in it. */
static int shortest_way(struct hwloc_distances_s *table, hwloc_const_nodeset_t from,
                        hwloc_const_nodeset_t to)
{
    int best = -1;

    for (unsigned i = 0; i < table->nbobjs; i++)
        for (unsigned j = 0; j < table->nbobjs; j++) {
            int d = (int) table->values[i * table->nbobjs + j];

            if (hwloc_bitmap_isset(from, table->objs[i]->os_index) &&
                hwloc_bitmap_isset(to, table->objs[j]->os_index) && (best < 0 || d < best))
                best = d;
        }
    return best;
}

static int distance_to(hwloc_topology_t topo, hwloc_const_nodeset_t from, hwloc_const_nodeset_t to)
{
    struct hwloc_distances_s *table;
    unsigned num = 1;
    int d;

    if (hwloc_bitmap_intersects(from, to))
        return LOCAL;
    if (hwloc_distances_get_by_name(topo, "NUMALatency", &num, &table, 0) != 0 || num == 0)
        return -1;
    d = shortest_way(table, from, to);
    hwloc_distances_release(topo, table);
    return d;
}

/* The NUMA nodes of the cores this process may run on. */
static hwloc_nodeset_t own_nodes(hwloc_topology_t topo)
{
    hwloc_cpuset_t cores = hwloc_bitmap_alloc();
    hwloc_nodeset_t nodes = hwloc_bitmap_alloc();

    if (cores != NULL && nodes != NULL &&
        hwloc_get_cpubind(topo, cores, HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_cpuset_to_nodeset(topo, cores, nodes);
    } else {
        hwloc_bitmap_free(nodes);
        nodes = NULL;
    }
    hwloc_bitmap_free(cores);
    return nodes;
}

int hwmc_rail_locate(struct hwmc_rail *rails, int num)
{
    hwloc_topology_t topo = load_topology();
    hwloc_nodeset_t own;
    int located = 0;

    if (topo == NULL)
        return HWMC_ERR_LIMIT;
    own = own_nodes(topo);
    for (int i = 0; i < num; i++) {
        hwloc_const_nodeset_t near = nodes_of(topo, rails[i].name);

        rails[i].numa = near != NULL ? hwloc_bitmap_first(near) : -1;
        rails[i].distance = near != NULL && own != NULL ? distance_to(topo, own, near) : -1;
        located += rails[i].numa >= 0;
    }
    hwloc_bitmap_free(own);
    hwloc_topology_destroy(topo);
    return located;
}
