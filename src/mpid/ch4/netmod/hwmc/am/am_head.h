/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * am_head: the header of each frame of a message that sessions carry for MPICH, and the check of a
 * frame against it. A message is assembled in memory of the size that its first frame names. A
 * frame that names another size, or brings more than is missing, is dropped.
 */
#ifndef HWMC_NETMOD_AM_AM_HEAD_H_INCLUDED
#define HWMC_NETMOD_AM_AM_HEAD_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum am_kind {
    AM_DATA,
    AM_CMA, /* the body is the header, then a struct hwmc_cma; no data */
    AM_GOT, /* an answer: nothing but id counts */
    AM_SEND,
    AM_KINDS
};

/* Before each frame. */
struct am_head {
    uint64_t data_sz;
    uint64_t offset; /* of this frame's data; 0: the header stands before them */
    uint32_t id;
    uint16_t hdr_sz;
    uint8_t handler;
    uint8_t kind;
};

/* Bytes of the message's header in this frame. */
static inline size_t hwmc_am_head_header_in(const struct am_head *head)
{
    return head->offset == 0 ? head->hdr_sz : 0;
}

/* A frame of DATA or CMA with a body of `len` bytes says nothing impossible; `cma`: bytes of a
 * struct hwmc_cma. */
bool hwmc_am_head_is_sound(const struct am_head *head, size_t len, size_t cma);

/* A sound frame belongs to the message whose first frame to come had the head `first`, of whose
 * data, `got` bytes have come, and the header if `started`. */
bool hwmc_am_head_is_of(const struct am_head *head, size_t len, const struct am_head *first,
                        uint64_t got, bool started);

#endif /* HWMC_NETMOD_AM_AM_HEAD_H_INCLUDED */
