/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * segment: the memory that the ranks of one host share. Its size is bounded, and known before it is
 * made.
 *
 *     | header | block of rank 0 | block of rank 1 | ... | block of rank n - 1 |
 *
 * A block begins on a page, so that it lies near to the rank that writes to it first, which is its
 * own:
 *
 *     | words | slots | buffers |
 *
 * Only its rank writes to it, with one exception; what is in it: slot.h.
 *
 * The memory has no name that would outlive the processes: it is a memfd of the creator, which the
 * others open as /proc/PID/fd/FD; or, where that does not work (other users' processes, no /proc),
 * an object of shm_open, whose name is taken away as soon as all have opened it. Which of the two
 * is the caller's choice, as is how the others learn the segment's name.
 */
#ifndef HWMC_SHM_SEGMENT_SEGMENT_H_INCLUDED
#define HWMC_SHM_SEGMENT_SEGMENT_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "../../port/err.h"
#include "../topo/ranks.h"

#define HWMC_SHM_SLOTS_MAX 64u
#define HWMC_SHM_BUFFERS_MAX 16u
#define HWMC_SHM_CHUNK_MAX (1u << 24)
#define HWMC_SHM_NAME_MAX 80

/* Bytes before the first block, and where the wakeup word is among them (wakeup.h), behind what the
 * segment is known by. */
#define HWMC_SHM_HEADER 4096u
#define HWMC_SHM_WAKEUP_AT 256u

/* The same on all ranks. */
struct hwmc_shm_layout {
    uint32_t ranks; /* 1 to RANKS_MAX */
    uint32_t
        slots; /* of a rank, 1 to SLOTS_MAX, a power of 2: how many collectives it may be ahead */
    uint32_t
        buffers;    /* of a rank, 1 to BUFFERS_MAX, a power of 2; 2: the paper's double buffering */
    uint32_t chunk; /* bytes of a buffer, 64 to CHUNK_MAX, a multiple of 64 */
};

enum hwmc_shm_segment_kind {
    HWMC_SHM_SEGMENT_MEMFD,
    HWMC_SHM_SEGMENT_SHM,
};

struct hwmc_shm_segment {
    struct hwmc_shm_layout layout;
    unsigned char *base;          /* of the header, on a page */
    size_t bytes;                 /* of all */
    size_t block_bytes;           /* from one rank's block to the next one's */
    size_t slots_at;              /* of the slots in a block */
    size_t buffers_at;            /* of the buffers in a block */
    char name[HWMC_SHM_NAME_MAX]; /* for attach; empty: the memory is the caller's */
    int fd;                       /* the creator's, until sealed; else -1 */
};

/* How many bytes a segment of this layout has; 0: the layout is none. */
size_t hwmc_shm_segment_bytes(const struct hwmc_shm_layout *layout);

/* Makes a segment, all zero, and its name. ERR_INVAL: the layout; ERR_NOMEM; ERR_LIMIT: the system
 * does not give such memory. */
int hwmc_shm_segment_create(struct hwmc_shm_segment *s, const struct hwmc_shm_layout *layout,
                            enum hwmc_shm_segment_kind kind);

/* Opens the segment that another process on this node created by this name and layout. ERR_INVAL:
 * the name or layout; ERR_PEER: it cannot be opened here, or is not that segment; ERR_NOMEM. After
 * an error nothing stays mapped, and `base` is not what it was mapped at. */
int hwmc_shm_segment_attach(struct hwmc_shm_segment *s, const struct hwmc_shm_layout *layout,
                            const char *name);

/* Of the creator, as soon as all have attached, or will not: the name means nothing any more. */
void hwmc_shm_segment_seal(struct hwmc_shm_segment *s);

/* A segment over memory of the caller's: as many bytes as it takes, all zero, on a multiple of 128.
 * For ranks that are threads of one process. ERR_INVAL: the layout. */
int hwmc_shm_segment_over(struct hwmc_shm_segment *s, const struct hwmc_shm_layout *layout,
                          void *memory);

/* Unmaps it here; the others keep it. */
void hwmc_shm_segment_close(struct hwmc_shm_segment *s);

#endif /* HWMC_SHM_SEGMENT_SEGMENT_H_INCLUDED */
