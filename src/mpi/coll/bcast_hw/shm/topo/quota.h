/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * quota: the processor time that the kernel grants this process's container (Linux control groups).
 * A group with a quota is stopped as a whole when its processes have used it up; the affinity mask
 * does not show that.
 */
#ifndef HWMC_SHM_TOPO_QUOTA_H_INCLUDED
#define HWMC_SHM_TOPO_QUOTA_H_INCLUDED

#include <stdint.h>

/* In thousandths of a processor: the least quota of the groups that this process is in, from its
 * own up to the topmost; 0: none has one, or nobody says. `membership` is a file as
 * /proc/self/cgroup, `mounts` the folder where control groups are mounted, as /sys/fs/cgroup; both
 * versions are understood (cpu.max; cpu.cfs_quota_us and cpu.cfs_period_us in cpu, or
 * cpu,cpuacct). */
uint32_t hwmc_shm_quota(const char *membership, const char *mounts);

#endif /* HWMC_SHM_TOPO_QUOTA_H_INCLUDED */
