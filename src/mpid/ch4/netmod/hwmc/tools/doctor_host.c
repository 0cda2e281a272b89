/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the system says of this process's surroundings: processors, limits, memory, and the settings
 * of network ports.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* cpu_set_t */
#endif

#include "doctor.h"
#include "version.h"
#include "../fabric/udp.h"
#include "../../../../../mpi/coll/bcast_hw/process/launcher.h"
#include "../../../../../mpi/coll/bcast_hw/shm/topo/quota.h"

#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FEATURES_MAX 256
#define CAP_IPC_LOCK_BIT 14

/* The first word of a file; false: there is none. */
static bool read_word(const char *path, char *word, int room)
{
    char format[16];
    FILE *f = fopen(path, "re");
    bool there;

    *word = '\0';
    if (f == NULL)
        return false;
    snprintf(format, sizeof(format), "%%%ds", room - 1);
    there = fscanf(f, format, word) == 1;
    fclose(f);
    return there;
}

static long read_number(const char *path)
{
    char word[24];

    return read_word(path, word, sizeof(word)) ? atol(word) : -1;
}

static int first_cpu(const struct hwmc_doctor_self *self)
{
    for (uint32_t i = 0; i < HWMC_DOCTOR_CPUS; i++)
        if (self->cpus[i / 32] >> i % 32 & 1)
            return (int) i;
    return 0;
}

static void look_at_clock(struct hwmc_doctor_self *self)
{
    const char *const folder = "/sys/devices/system/cpu/cpu%d/cpufreq/%s";
    const int cpu = first_cpu(self);
    char path[128];
    long khz;

    snprintf(path, sizeof(path), folder, cpu, "scaling_governor");
    read_word(path, self->governor, sizeof(self->governor));
    snprintf(path, sizeof(path), folder, cpu, "scaling_driver");
    read_word(path, self->driver, sizeof(self->driver));
    snprintf(path, sizeof(path), folder, cpu, "scaling_max_freq");
    khz = read_number(path);
    self->mhz = khz > 0 ? (uint32_t) (khz / 1000) : 0;
    snprintf(path, sizeof(path), folder, cpu, "cpuinfo_max_freq");
    khz = read_number(path);
    self->mhz_max = khz > 0 ? (uint32_t) (khz / 1000) : 0;
}

static void look_at_processors(struct hwmc_doctor_self *self)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t mine;

    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof(mine), &mine);
    for (uint32_t i = 0; i < HWMC_DOCTOR_CPUS && i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &mine))
            self->cpus[i / 32] |= 1u << i % 32;
    self->online = online > 0 ? (uint32_t) online : 1;
    self->quota = hwmc_shm_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    look_at_clock(self);
}

/* Whether this process may do what the bit stands for. */
static bool has_capability(int bit)
{
    FILE *f = fopen("/proc/self/status", "re");
    uint64_t all = 0;
    char line[128];

    if (f == NULL)
        return false;
    while (fgets(line, sizeof(line), f) != NULL)
        if (sscanf(line, "CapEff: %" SCNx64, &all) == 1)
            break;
    fclose(f);
    return all >> bit & 1;
}

static void look_at_memory(struct hwmc_doctor_self *self)
{
    struct rlimit limit;
    struct statvfs shm;

    self->memlock = HWMC_DOCTOR_UNLIMITED;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        self->memlock = limit.rlim_cur;
    self->locks = has_capability(CAP_IPC_LOCK_BIT);
    if (statvfs("/dev/shm", &shm) == 0) {
        self->shm = (uint64_t) shm.f_blocks * shm.f_frsize;
        self->shm_free = (uint64_t) shm.f_bavail * shm.f_frsize;
    }
}

/* Where there is no IPv6 at all it takes no ports. */
static bool may_bind_ipv6(uint16_t port)
{
    return access("/proc/net/if_inet6", F_OK) != 0 || hwmc_udp_may_bind(HWMC_IPV6, port);
}

void hwmc_doctor_look_at_host(struct hwmc_doctor_self *self, const uint16_t *ports, int num)
{
    memset(self, 0, sizeof(*self));
    snprintf(self->version, sizeof(self->version), "%s", HWMC_VERSION);
    self->bytes = sizeof(*self);
    gethostname(self->host, sizeof(self->host) - 1);
    look_at_processors(self);
    look_at_memory(self);
    if (!hwmc_launcher_has_others(getenv, self->others, sizeof(self->others)))
        self->others[0] = '\0';
    for (int i = 0; i < num; i++)
        if (hwmc_udp_may_bind(HWMC_IPV4, ports[i]) && may_bind_ipv6(ports[i]))
            self->free_ports |= 1u << i;
}

/* The number of a feature of a network device, as ethtool names them; -1: it has no such one. */
static int find_feature(int fd, struct ifreq *r, const char *name)
{
    union {
        struct ethtool_gstrings head;
        char room[sizeof(struct ethtool_gstrings) + FEATURES_MAX * ETH_GSTRING_LEN];
    } names;
    union {
        struct ethtool_sset_info head;
        char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
    } set;

    memset(&set, 0, sizeof(set));
    set.head.cmd = ETHTOOL_GSSET_INFO;
    set.head.sset_mask = 1u << ETH_SS_FEATURES;
    r->ifr_data = (void *) &set;
    if (ioctl(fd, SIOCETHTOOL, r) != 0 || set.head.sset_mask == 0 ||
        set.head.data[0] > FEATURES_MAX)
        return -1;
    memset(&names.head, 0, sizeof(names.head));
    names.head.cmd = ETHTOOL_GSTRINGS;
    names.head.string_set = ETH_SS_FEATURES;
    names.head.len = set.head.data[0];
    r->ifr_data = (void *) &names;
    if (ioctl(fd, SIOCETHTOOL, r) != 0)
        return -1;
    for (uint32_t i = 0; i < names.head.len; i++)
        if (strncmp((const char *) names.head.data + i * ETH_GSTRING_LEN, name, ETH_GSTRING_LEN) ==
            0)
            return (int) i;
    return -1;
}

/* Whether a feature is on: 1 or 0; -1: it is off and cannot be on, or the driver does not say. */
static int read_feature(const char *port, const char *name)
{
    union {
        struct ethtool_gfeatures head;
        char room[sizeof(struct ethtool_gfeatures) +
                  FEATURES_MAX / 32 * sizeof(struct ethtool_get_features_block)];
    } now;
    struct ifreq r;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), at, on = -1;

    if (fd < 0)
        return -1;
    memset(&r, 0, sizeof(r));
    strncpy(r.ifr_name, port, sizeof(r.ifr_name) - 1);
    at = find_feature(fd, &r, name);
    memset(&now, 0, sizeof(now));
    now.head.cmd = ETHTOOL_GFEATURES;
    now.head.size = FEATURES_MAX / 32;
    r.ifr_data = (void *) &now;
    if (at >= 0 && ioctl(fd, SIOCETHTOOL, &r) == 0)
        on = now.head.features[at / 32].active >> at % 32 & 1      ? 1
             : now.head.features[at / 32].available >> at % 32 & 1 ? 0
                                                                   : -1;
    close(fd);
    return on;
}

/* The bridge that a port is, or is in; empty: none that this host sees. */
static void find_bridge(struct hwmc_doctor_port *port)
{
    char path[128], target[256];
    ssize_t len;

    snprintf(path, sizeof(path), "/sys/class/net/%s/bridge", port->rail.name);
    if (access(path, F_OK) == 0) {
        memcpy(port->bridge, port->rail.name, sizeof(port->bridge));
        return;
    }
    snprintf(path, sizeof(path), "/sys/class/net/%s/brport/bridge", port->rail.name);
    len = readlink(path, target, sizeof(target) - 1);
    if (len <= 0)
        return;
    target[len] = '\0';
    snprintf(port->bridge, sizeof(port->bridge), "%.31s",
             strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

/* The version of IGMP that this host is made to speak on a port; 0: it is free. */
static long forced_version(const char *port)
{
    char path[128];
    long all, one;

    all = read_number("/proc/sys/net/ipv4/conf/all/force_igmp_version");
    snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/force_igmp_version", port);
    one = read_number(path);
    return all > 0 ? all : one > 0 ? one : 0;
}

/* The kernel speaks version 3, until it hears a query of an earlier one; it goes back some minutes
 * after the last. */
static bool was_queried(const char *port)
{
    FILE *f = fopen("/proc/net/igmp", "re");
    char line[128];
    bool queried = false;

    if (f == NULL)
        return false;
    while (!queried && fgets(line, sizeof(line), f) != NULL)
        queried = hwmc_doctor_igmp_line(line, port);
    fclose(f);
    return queried && forced_version(port) == 0;
}

void hwmc_doctor_look_for_twice(char *port)
{
    FILE *f = fopen("/proc/net/if_inet6", "re");
    char line[128];

    port[0] = '\0';
    if (f == NULL)
        return;
    while (port[0] == '\0' && fgets(line, sizeof(line), f) != NULL)
        if (!hwmc_doctor_inet6_line(line, port))
            port[0] = '\0';
    fclose(f);
}

void hwmc_doctor_look_at_port(struct hwmc_doctor_port *port)
{
    const int segments = read_feature(port->rail.name, "tx-udp-segmentation");
    char path[128];

    if (segments >= 0)
        port->flags |= segments > 0 ? HWMC_DOCTOR_SEGMENTS : HWMC_DOCTOR_NO_SEGMENTS;
    if (port->rail.addr.family == HWMC_IPV4 && was_queried(port->rail.name))
        port->flags |= HWMC_DOCTOR_QUERIED;
    find_bridge(port);
    if (port->bridge[0] == '\0')
        return;
    snprintf(path, sizeof(path), "/sys/class/net/%s/bridge/multicast_snooping", port->bridge);
    if (read_number(path) > 0)
        port->flags |= HWMC_DOCTOR_SNOOPS;
    snprintf(path, sizeof(path), "/sys/class/net/%s/bridge/multicast_querier", port->bridge);
    if (read_number(path) > 0)
        port->flags |= HWMC_DOCTOR_ASKS;
}
