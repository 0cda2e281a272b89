/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * frame: one message of a stream while it is kept: until the peer has it and no lane uses it any
 * more. Its body is a copy; or it is the upper layer's, pinned, if it is not short and only lanes
 * have it that give it back when they fail.
 */
#ifndef HWMC_NETMOD_SESSION_FRAME_H_INCLUDED
#define HWMC_NETMOD_SESSION_FRAME_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session_wire.h"

struct hwmc_frame {
    struct hwmc_frame *prev, *next; /* of all that are kept */
    struct hwmc_frame *after;       /* in its row, while it waits for the window */
    uint8_t stream;
    bool pinned;  /* the body is the upper layer's, who waits for `tag` */
    bool done;    /* the peer has it */
    uint32_t out; /* lanes that have it, counted as often as they do */
    uint64_t tag;
    const void *body;
    void *copy; /* the body if it is one of ours; NULL */
    size_t body_len;
    size_t head_len; /* with that of session_wire */
    unsigned char head[];
};

struct hwmc_frames {
    struct hwmc_frame *all;
};

/* A frame with room for session_wire's head and then this one; its body is copied, or pinned if
 * `tag` is not NULL. NULL: no memory. */
struct hwmc_frame *hwmc_frame_create(struct hwmc_frames *f, const void *head, size_t head_len,
                                     const void *body, size_t body_len, const uint64_t *tag);

/* Makes a pinned body a copy. False: no memory, nothing changed. */
bool hwmc_frame_own(struct hwmc_frame *frame);

void hwmc_frame_destroy(struct hwmc_frames *f, struct hwmc_frame *frame);

/* All that are left. */
void hwmc_frames_destroy(struct hwmc_frames *f);

#endif /* HWMC_NETMOD_SESSION_FRAME_H_INCLUDED */
