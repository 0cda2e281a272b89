/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_PROC_H_INCLUDED
#define HWMC_TEST_MPI_PROC_H_INCLUDED

/* What programs that look for leaks ask the system: what this process has; and that it gets no
 * more. */

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Entries of a directory; 0 where it cannot be read. */
static inline long hwtest_entries(const char *directory)
{
    DIR *d = opendir(directory);
    long n = 0;

    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL)
        closedir(d);
    return n;
}

/* A line of /proc/self/status, "RssAnon" for example, in KiB; 0 where the system does not tell. */
static inline long hwtest_status_kib(const char *name)
{
    FILE *f = fopen("/proc/self/status", "r");
    size_t length = strlen(name);
    char line[256];
    long kib = 0;

    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            sscanf(line + length + 1, "%ld", &kib);
    if (f != NULL)
        fclose(f);
    return kib;
}

/* From here on this process gets `spare` bytes of memory more from the system, until its soft limit
 * is raised. */
static inline bool hwtest_limit_memory(size_t spare)
{
    struct rlimit limit;
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    bool known = f != NULL && fscanf(f, "%ld", &pages) == 1;

    if (f != NULL)
        fclose(f);
    if (!known || getrlimit(RLIMIT_AS, &limit) != 0)
        return false;
    limit.rlim_cur = (rlim_t) (pages * sysconf(_SC_PAGESIZE)) + spare;
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

#endif /* HWMC_TEST_MPI_PROC_H_INCLUDED */
