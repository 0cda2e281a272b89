/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * segment: see segment.h. A name is "memfd:PID:FD:KEY" or "shm:/hwmc-KEY"; the key, 64 random bits,
 * stands in the header too, so that a number which means another process here (of another
 * namespace, or a later one) does not pass for the creator.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create, F_ADD_SEALS */
#endif
#include "segment.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slot.h"

#define PAGE 4096u

/* Written before the name is known to anybody. */
struct header {
    uint64_t key;
    struct hwmc_shm_layout layout;
};

_Static_assert(sizeof(struct header) <= HWMC_SHM_WAKEUP_AT, "the wakeup word is behind it");

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static bool power_of_2(uint32_t n, uint32_t max)
{
    return n >= 1 && n <= max && (n & (n - 1)) == 0;
}

static bool is_valid(const struct hwmc_shm_layout *l)
{
    return l->ranks >= 1 && l->ranks <= HWMC_SHM_RANKS_MAX &&
           power_of_2(l->slots, HWMC_SHM_SLOTS_MAX) &&
           power_of_2(l->buffers, HWMC_SHM_BUFFERS_MAX) && l->chunk >= 64 &&
           l->chunk <= HWMC_SHM_CHUNK_MAX && l->chunk % 64 == 0;
}

static void lay_out(struct hwmc_shm_segment *s, const struct hwmc_shm_layout *layout)
{
    *s = (struct hwmc_shm_segment){.layout = *layout, .fd = -1};
    s->slots_at = sizeof(struct hwmc_shm_words);
    s->buffers_at = s->slots_at + layout->slots * sizeof(struct hwmc_shm_slot);
    s->block_bytes = whole_pages(s->buffers_at + (size_t) layout->buffers * layout->chunk);
    s->bytes = HWMC_SHM_HEADER + layout->ranks * s->block_bytes;
}

size_t hwmc_shm_segment_bytes(const struct hwmc_shm_layout *layout)
{
    struct hwmc_shm_segment s;

    if (!is_valid(layout))
        return 0;
    lay_out(&s, layout);
    return s.bytes;
}

static int map_segment(struct hwmc_shm_segment *s, int fd)
{
    void *base = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (base == MAP_FAILED)
        return HWMC_ERR_NOMEM;
    s->base = base;
    return HWMC_OK;
}

/* Nobody can make it shorter, and so fault those who use it. Its pages are taken when they are
 * touched, each by its rank. */
static int open_memfd(struct hwmc_shm_segment *s, uint64_t key)
{
    int fd = memfd_create("hwmc", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t) s->bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        close(fd);
        return -1;
    }
    snprintf(s->name, sizeof(s->name), "memfd:%ld:%d:%016" PRIx64, (long) getpid(), fd, key);
    return fd;
}

/* All pages are taken at once: /dev/shm can be small, and a page that it does not have is a fault
 * where that is touched. */
static int open_shm(struct hwmc_shm_segment *s, uint64_t key)
{
    const char *name = s->name + strlen("shm:");
    int fd;

    snprintf(s->name, sizeof(s->name), "shm:/hwmc-%016" PRIx64, key);
    fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    if (posix_fallocate(fd, 0, (off_t) s->bytes) != 0) {
        close(fd);
        shm_unlink(name);
        return -1;
    }
    return fd;
}

int hwmc_shm_segment_create(struct hwmc_shm_segment *s, const struct hwmc_shm_layout *layout,
                            enum hwmc_shm_segment_kind kind)
{
    struct header *header;
    uint64_t key;

    if (!is_valid(layout))
        return HWMC_ERR_INVAL;
    lay_out(s, layout);
    if (getrandom(&key, sizeof(key), 0) != sizeof(key))
        return HWMC_ERR_LIMIT;
    s->fd = kind == HWMC_SHM_SEGMENT_MEMFD ? open_memfd(s, key) : open_shm(s, key);
    if (s->fd < 0)
        return HWMC_ERR_LIMIT;
    if (map_segment(s, s->fd) != HWMC_OK) {
        hwmc_shm_segment_seal(s);
        return HWMC_ERR_NOMEM;
    }
    header = (struct header *) s->base;
    header->key = key;
    header->layout = *layout;
    return HWMC_OK;
}

/* -1: the name is none; -2: nothing can be opened by it. */
static int open_named(const char *name, uint64_t *key)
{
    char path[HWMC_SHM_NAME_MAX];
    long pid;
    int fd;

    if (strlen(name) >= HWMC_SHM_NAME_MAX)
        return -1;
    if (sscanf(name, "memfd:%ld:%d:%" SCNx64, &pid, &fd, key) == 3) {
        snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, fd);
        fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    } else if (sscanf(name, "shm:/hwmc-%" SCNx64, key) == 1) {
        fd = shm_open(name + strlen("shm:"), O_RDWR | O_CLOEXEC, 0);
    } else {
        return -1;
    }
    return fd < 0 ? -2 : fd;
}

/* What a wrong number names may be anything: only a file that is long enough is mapped. */
static int map_checked(struct hwmc_shm_segment *s, int fd, uint64_t key)
{
    const struct header *header;
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (size_t) st.st_size != s->bytes)
        return HWMC_ERR_PEER;
    if (map_segment(s, fd) != HWMC_OK)
        return HWMC_ERR_NOMEM;
    header = (const struct header *) s->base;
    if (header->key == key && memcmp(&header->layout, &s->layout, sizeof(s->layout)) == 0)
        return HWMC_OK;
    munmap(s->base, s->bytes);
    s->base = NULL;
    return HWMC_ERR_PEER;
}

int hwmc_shm_segment_attach(struct hwmc_shm_segment *s, const struct hwmc_shm_layout *layout,
                            const char *name)
{
    uint64_t key;
    int fd, err;

    if (!is_valid(layout))
        return HWMC_ERR_INVAL;
    fd = open_named(name, &key);
    if (fd < 0)
        return fd == -1 ? HWMC_ERR_INVAL : HWMC_ERR_PEER;
    lay_out(s, layout);
    snprintf(s->name, sizeof(s->name), "%s", name);
    err = map_checked(s, fd, key);
    close(fd);
    return err;
}

void hwmc_shm_segment_seal(struct hwmc_shm_segment *s)
{
    if (s->fd < 0)
        return;
    close(s->fd);
    s->fd = -1;
    if (strncmp(s->name, "shm:", strlen("shm:")) == 0)
        shm_unlink(s->name + strlen("shm:"));
}

int hwmc_shm_segment_over(struct hwmc_shm_segment *s, const struct hwmc_shm_layout *layout,
                          void *memory)
{
    if (!is_valid(layout) || (uintptr_t) memory % HWMC_SHM_LINE != 0)
        return HWMC_ERR_INVAL;
    lay_out(s, layout);
    s->base = memory;
    return HWMC_OK;
}

void hwmc_shm_segment_close(struct hwmc_shm_segment *s)
{
    hwmc_shm_segment_seal(s);
    if (s->name[0] != '\0')
        munmap(s->base, s->bytes);
    s->base = NULL;
}
