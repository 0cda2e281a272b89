/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * pages: memory for a device. A child process shares its parent's pages until one of them writes
 * and gets a copy. If the parent writes first, a device would go on reading and writing registered
 * pages that the parent has no more. So this memory is whole pages, and a child has none of it
 * (MADV_DONTFORK). ibv_fork_init does the same, but every program would have to call it first, and
 * it slows every registration down.
 */
#ifndef HWMC_NETMOD_VERBS_PAGES_H_INCLUDED
#define HWMC_NETMOD_VERBS_PAGES_H_INCLUDED

#include <stddef.h>
#include <sys/mman.h>

/* `bytes` bytes, zero, at the beginning of a page; NULL without memory. */
static inline void *hwmc_pages_open(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    if (madvise(at, bytes, MADV_DONTFORK) != 0) {
        munmap(at, bytes);
        return NULL;
    }
    return at;
}

/* NULL is nothing. */
static inline void hwmc_pages_close(void *at, size_t bytes)
{
    if (at != NULL)
        munmap(at, bytes);
}

#endif /* HWMC_NETMOD_VERBS_PAGES_H_INCLUDED */
