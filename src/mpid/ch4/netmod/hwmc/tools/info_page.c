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
#include <stdlib.h>
#include <string.h>
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

/* Places that are written as a whole: comms, casts, lanes, one after the other. */
#define PLACES (HWMC_EXPORT_COMMS + HWMC_EXPORT_CASTS + HWMC_EXPORT_LANES)

static _Atomic uint32_t *place_of(struct hwmc_export *e, uint32_t i, size_t *bytes)
{
    if (i < HWMC_EXPORT_COMMS) {
        *bytes = sizeof(e->comm[0]);
        return &e->comm[i].turn;
    }
    i -= HWMC_EXPORT_COMMS;
    if (i < HWMC_EXPORT_CASTS) {
        *bytes = sizeof(e->cast[0]);
        return &e->cast[i].turn;
    }
    *bytes = sizeof(e->lane[0]);
    return &e->lane[i - HWMC_EXPORT_CASTS].turn;
}

/* A place of the copy is whole if its turn is even, and a later copy, `after`, has the same. Others
 * are taken from that. Returns how many are not whole. */
static uint32_t settle(struct hwmc_export *e, struct hwmc_export *after, bool *whole)
{
    uint32_t open = 0;

    for (uint32_t i = 0; i < PLACES; i++) {
        size_t bytes;
        _Atomic uint32_t *const place = place_of(e, i, &bytes);
        _Atomic uint32_t *const later = place_of(after, i, &bytes);
        const uint32_t turn = atomic_load_explicit(place, memory_order_relaxed);

        if (whole[i])
            continue;
        whole[i] = turn % 2 == 0 && atomic_load_explicit(later, memory_order_relaxed) == turn;
        if (!whole[i])
            memcpy((void *) place, (const void *) later, bytes);
        open += !whole[i];
    }
    return open;
}

static bool read_whole(int fd, struct hwmc_export *e)
{
    return pread(fd, e, sizeof(*e), 0) == (ssize_t) sizeof(*e);
}

/* A place that is written for too long keeps its odd turn, so that nobody takes it. */
static bool read_page(int fd, struct hwmc_export *e)
{
    struct hwmc_export *after = malloc(sizeof(*after));
    bool whole[PLACES] = {false};
    bool good = after != NULL && read_whole(fd, e);

    for (int i = 0; good && i < TRIES; i++) {
        good = read_whole(fd, after);
        if (good && settle(e, after, whole) == 0)
            break;
    }
    for (uint32_t i = 0; good && i < PLACES; i++) {
        size_t bytes;

        if (!whole[i])
            atomic_store_explicit(place_of(e, i, &bytes), 1, memory_order_relaxed);
    }
    free(after);
    return good;
}

/* "hwmc_" and small letters, digits and underlines. */
static bool is_name(const char *name)
{
    return strncmp(name, "hwmc_", 5) == 0 &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool is_among(const struct hwmc_export *e, uint32_t num, const char *name)
{
    for (uint32_t i = 0; i < num; i++)
        if (strcmp(e->name[i], name) == 0)
            return true;
    return false;
}

/* Drops counters without a name, or with that of another one. */
static void tidy_counters(struct hwmc_export *e)
{
    uint32_t num = atomic_load_explicit(&e->num_counters, memory_order_relaxed), kept = 0;

    num = num < HWMC_EXPORT_COUNTERS ? num : HWMC_EXPORT_COUNTERS;
    for (uint32_t i = 0; i < num; i++) {
        e->name[i][HWMC_EXPORT_NAME - 1] = '\0';
        if (!is_name(e->name[i]) || is_among(e, kept, e->name[i]))
            continue;
        memmove(e->name[kept], e->name[i], HWMC_EXPORT_NAME);
        e->kind[kept] = e->kind[i];
        e->text[kept] = e->text[i] < HWMC_EXPORT_TEXTS ? e->text[i] : HWMC_EXPORT_TEXTS - 1;
        e->value[kept++] = e->value[i];
    }
    atomic_store_explicit(&e->num_counters, kept, memory_order_relaxed);
    e->texts[HWMC_EXPORT_TEXTS - 1] = '\0';
}

#define END(text) ((text)[sizeof(text) - 1] = '\0')

/* Drops rails with a number that no job has. */
static void tidy_rails(struct hwmc_export *e)
{
    uint32_t num = atomic_load_explicit(&e->num_rails, memory_order_relaxed), kept = 0;

    num = num < HWMC_RAILS_MAX ? num : HWMC_RAILS_MAX;
    for (uint32_t i = 0; i < num; i++) {
        struct hwmc_export_rail *r = &e->rail[i];

        END(r->fabric);
        hwmc_rail_bound(&r->port);
        if (r->number < HWMC_RAILS_MAX)
            e->rail[kept++] = *r;
    }
    atomic_store_explicit(&e->num_rails, kept, memory_order_relaxed);
}

static void tidy(struct hwmc_export *e)
{
    tidy_counters(e);
    tidy_rails(e);
    END(e->version);
    for (uint32_t i = 0; i < HWMC_EXPORT_COMMS; i++) {
        END(e->comm[i].name);
        END(e->comm[i].network);
        END(e->comm[i].host);
    }
    for (uint32_t i = 0; i < HWMC_EXPORT_LANES; i++) {
        END(e->lane[i].kind);
        END(e->lane[i].carries);
    }
}

/* Without waiting: what is no regular file of this size is none of hwmc's. */
static int open_page(struct hwmc_info_page *p)
{
    struct stat status;

    p->fd = openat(p->dir, p->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (p->fd < 0)
        return fail_errno(p);
    if (fstat(p->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return fail(p, "shows something that is no page of hwmc's");
    return check_version(p, p->fd);
}

static int copy(struct hwmc_info_page *p)
{
    const int status = open_page(p);

    if (status != 0)
        return status;
    p->live = malloc(sizeof(*p->live));
    if (p->live == NULL || !read_page(p->fd, p->live))
        return fail(p, "shows a page that cannot be read");
    tidy(p->live);
    return 0;
}

void hwmc_info_page_again(struct hwmc_info_page *p)
{
    struct hwmc_export *now = malloc(sizeof(*now));

    if (now == NULL || p->fd < 0 || !read_page(p->fd, now)) {
        free(now);
        return;
    }
    tidy(now);
    free(p->live);
    p->live = now;
}

void hwmc_info_page_let_go(struct hwmc_info_page *p)
{
    if (p->fd >= 0)
        close(p->fd);
    if (p->dir >= 0)
        close(p->dir);
    p->fd = p->dir = -1;
}

int hwmc_info_page_open(struct hwmc_info_page *p, const char *pid, bool tells)
{
    char path[32];
    int status;

    *p = (struct hwmc_info_page){.tells = tells, .dir = -1, .fd = -1};
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
        status = copy(p);
    if (status != 0)
        hwmc_info_page_close(p);
    return status;
}

void hwmc_info_page_close(struct hwmc_info_page *p)
{
    hwmc_info_page_let_go(p);
    free(p->live);
    p->live = NULL;
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
