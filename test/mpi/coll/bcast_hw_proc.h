/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef BCAST_HW_PROC_H_INCLUDED
#define BCAST_HW_PROC_H_INCLUDED

/* What programs that look for leaks ask the system: what this process has. */

#include <dirent.h>
#include <stdio.h>
#include <string.h>

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

#endif /* BCAST_HW_PROC_H_INCLUDED */
