/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * quota: see quota.h.
 */
#include "quota.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "least.h"

static uint32_t thousandths_of(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    quota = quota * 1000 / period;
    return quota > 0 ? (uint32_t) (quota < UINT32_MAX ? quota : UINT32_MAX) : 1;
}

/* The first line of DIR/NAME. False: there is none. */
static bool read_line(const char *dir, const char *name, char *line, size_t size)
{
    char path[PATH_MAX];
    FILE *f;
    bool is_there;

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int) sizeof(path))
        return false;
    f = fopen(path, "r");
    if (!f)
        return false;
    is_there = fgets(line, (int) size, f) != NULL;
    fclose(f);
    return is_there;
}

/* Version 2: "max 100000", or "150000 100000". */
static uint32_t quota_of_unified(const char *dir)
{
    char line[64];
    long long quota, period;

    return read_line(dir, "cpu.max", line, sizeof(line)) &&
                   sscanf(line, "%lld %lld", &quota, &period) == 2
               ? thousandths_of(quota, period)
               : 0;
}

/* Version 1: -1 is no quota. */
static uint32_t quota_of_cpu(const char *dir)
{
    char quota_line[64], period_line[64];
    long long quota, period;

    return read_line(dir, "cpu.cfs_quota_us", quota_line, sizeof(quota_line)) &&
                   read_line(dir, "cpu.cfs_period_us", period_line, sizeof(period_line)) &&
                   sscanf(quota_line, "%lld", &quota) == 1 &&
                   sscanf(period_line, "%lld", &period) == 1
               ? thousandths_of(quota, period)
               : 0;
}

/* Of the group `path` below `top` and all above it. */
static uint32_t quota_up(const char *top, const char *path, uint32_t (*quota_of)(const char *dir))
{
    char dir[PATH_MAX];
    uint32_t quota = 0;
    int n = snprintf(dir, sizeof(dir), "%s%s", top, path);
    const size_t top_length = strlen(top);

    if (n < 0 || n >= (int) sizeof(dir))
        return 0;
    while (strlen(dir) > top_length) {
        quota = (uint32_t) hwmc_shm_least(quota, quota_of(dir));
        *strrchr(dir, '/') = '\0';
    }
    return strlen(dir) == top_length ? (uint32_t) hwmc_shm_least(quota, quota_of(dir)) : quota;
}

/* Whether "cpu" is among controllers separated by commas. */
static bool has_cpu(const char *controllers)
{
    const char *at = controllers;

    while ((at = strstr(at, "cpu")) != NULL) {
        if ((at == controllers || at[-1] == ',') && (at[3] == '\0' || at[3] == ','))
            return true;
        at += 3;
    }
    return false;
}

/* A line of the membership file, NUMBER:CONTROLLERS:PATH. */
static uint32_t quota_by(char *line, const char *mounts)
{
    char top[PATH_MAX];
    char *controllers = strchr(line, ':'), *path;

    if (!controllers || !(path = strchr(controllers + 1, ':')))
        return 0;
    *path++ = '\0';
    controllers++;
    path[strcspn(path, "\n")] = '\0';
    if (*controllers == '\0')
        return quota_up(mounts, path, quota_of_unified);
    if (!has_cpu(controllers) ||
        snprintf(top, sizeof(top), "%s/%s", mounts, controllers) >= (int) sizeof(top))
        return 0;
    return quota_up(top, path, quota_of_cpu);
}

uint32_t hwmc_shm_quota(const char *membership, const char *mounts)
{
    char line[PATH_MAX];
    uint32_t quota = 0;
    FILE *f = fopen(membership, "r");

    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f))
        quota = (uint32_t) hwmc_shm_least(quota, quota_by(line, mounts));
    fclose(f);
    return quota;
}
