/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_PATH */
#endif

#include "info_page.h"
#include "version.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINK_TEXT "/memfd:" HWMC_EXPORT_FILE " "
#define TRIES 1000 /* to read a place that is being written */

static int fail(const struct hwmc_info_page *p, const char *why)
{
    if (p->tells)
        fprintf(stderr, "hwmc_info: process %s %s\n", p->pid, why);
    return 1;
}

/* Why the process cannot be looked at. */
static int fail_errno(const struct hwmc_info_page *p)
{
    if (errno == EACCES || errno == EPERM)
        return fail(p, "may not be looked at: it is another user's, or protected");
    if (errno == ENOENT || errno == ESRCH)
        return fail(p, "does not exist");
    return fail(p, strerror(errno));
}

bool hwmc_info_page_is_there(const struct hwmc_info_page *p)
{
    char text[sizeof(LINK_TEXT)];

    return readlinkat(p->dir, p->file, text, sizeof(text)) >= (ssize_t) strlen(LINK_TEXT) &&
           strncmp(text, LINK_TEXT, strlen(LINK_TEXT)) == 0;
}

/* Looks for the file among the descriptors. */
static int find(struct hwmc_info_page *p)
{
    int fd = openat(p->dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *fds = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = false;

    if (!fds)
        return fail_errno(p);
    for (struct dirent *e; !found && (e = readdir(fds)) != NULL;) {
        snprintf(p->file, sizeof(p->file), "fd/%.24s", e->d_name);
        found = hwmc_info_page_is_there(p);
    }
    closedir(fds);
    return found ? 0 : fail(p, "does not run MPI with hwmc, or is about to start or end");
}

/* What stands before `rank` is alike in all versions. */
static int check_version(const struct hwmc_info_page *p, int fd)
{
    struct hwmc_export head = {0};
    const size_t bytes = offsetof(struct hwmc_export, rank);
    char why[128];

    if (pread(fd, &head, bytes, 0) < (ssize_t) bytes || head.magic != HWMC_EXPORT_MAGIC)
        return fail(p, "is about to start");
    head.version[sizeof(head.version) - 1] = '\0';
    if (strcmp(head.version, HWMC_VERSION) != 0) {
        snprintf(why, sizeof(why), "runs hwmc %s, this is hwmc_info %s", head.version,
                 HWMC_VERSION);
        return fail(p, why);
    }
    return head.bytes == sizeof(head) ? 0 : fail(p, "runs another build of hwmc " HWMC_VERSION);
}

static int map(struct hwmc_info_page *p)
{
    int fd = openat(p->dir, p->file, O_RDONLY | O_CLOEXEC);
    int status;
    void *m;

    if (fd < 0)
        return fail_errno(p);
    status = check_version(p, fd);
    if (status == 0) {
        m = mmap(NULL, sizeof(*p->live), PROT_READ, MAP_SHARED, fd, 0);
        status = m == MAP_FAILED ? fail_errno(p) : 0;
        p->live = m;
    }
    close(fd);
    return status;
}

int hwmc_info_page_open(struct hwmc_info_page *p, const char *pid, bool tells)
{
    char path[32];
    int status;

    *p = (struct hwmc_info_page){.tells = tells};
    if (strspn(pid, "0123456789") != strlen(pid) || strlen(pid) == 0 || strlen(pid) > 16) {
        fprintf(stderr, "hwmc_info: not understood: %s\n", pid);
        return 2;
    }
    snprintf(p->pid, sizeof(p->pid), "%s", pid);
    snprintf(path, sizeof(path), "/proc/%s", pid);
    p->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (p->dir < 0)
        return fail_errno(p);
    status = find(p);
    if (status == 0)
        status = map(p);
    if (status != 0)
        close(p->dir);
    return status;
}

void hwmc_info_page_close(struct hwmc_info_page *p)
{
    munmap((void *) p->live, sizeof(*p->live));
    close(p->dir);
}

bool hwmc_info_page_read(const _Atomic uint32_t *turn, void *to, size_t bytes)
{
    for (int i = 0; i < TRIES; i++) {
        const uint32_t before = atomic_load_explicit(turn, memory_order_acquire);

        memcpy(to, (const void *) turn, bytes);
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 == 0 && atomic_load_explicit(turn, memory_order_relaxed) == before)
            return true;
    }
    return false;
}

uint32_t hwmc_info_page_counters(const struct hwmc_export *live, uint64_t *value)
{
    uint32_t num = atomic_load_explicit(&live->num_counters, memory_order_acquire);

    num = num < HWMC_EXPORT_COUNTERS ? num : HWMC_EXPORT_COUNTERS;
    for (uint32_t i = 0; i < num; i++)
        value[i] = __atomic_load_n(&live->value[i], __ATOMIC_RELAXED);
    return num;
}

const char *hwmc_info_page_rail(const struct hwmc_export *live, uint32_t rail)
{
    const uint32_t num = atomic_load_explicit(&live->num_rails, memory_order_acquire);

    for (uint32_t i = 0; i < num && i < HWMC_RAILS_MAX; i++)
        if (live->rail[i].number == rail)
            return live->rail[i].port.name;
    return "-";
}

const char *hwmc_info_page_state(const struct hwmc_export_cast *c, uint32_t rail)
{
    return c->broken               ? "broken"
           : c->rails >> rail & 1  ? "on"
           : c->agreed >> rail & 1 ? "disabled"
                                   : "off";
}
