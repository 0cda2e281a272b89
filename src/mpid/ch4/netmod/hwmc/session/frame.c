/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * frame: see frame.h.
 */
#include "frame.h"

#include <stdlib.h>

bool hwmc_frame_own(struct hwmc_frame *frame)
{
    void *copy;

    if (frame->copy != NULL || frame->body_len == 0)
        return true;
    copy = malloc(frame->body_len);
    if (copy == NULL)
        return false;
    memcpy(copy, frame->body, frame->body_len);
    frame->body = frame->copy = copy;
    return true;
}

struct hwmc_frame *hwmc_frame_create(struct hwmc_frames *f, const void *head, size_t head_len,
                                     const void *body, size_t body_len, const uint64_t *tag)
{
    struct hwmc_frame *frame = malloc(sizeof(*frame) + HWMC_SESSION_WIRE_HEAD + head_len);

    if (frame == NULL)
        return NULL;
    *frame = (struct hwmc_frame){.pinned = tag != NULL,
                                 .tag = tag != NULL ? *tag : 0,
                                 .body = body,
                                 .body_len = body_len,
                                 .head_len = HWMC_SESSION_WIRE_HEAD + head_len};
    memcpy(frame->head + HWMC_SESSION_WIRE_HEAD, head, head_len);
    if (!frame->pinned && !hwmc_frame_own(frame)) {
        free(frame);
        return NULL;
    }
    frame->next = f->all;
    if (f->all != NULL)
        f->all->prev = frame;
    f->all = frame;
    return frame;
}

void hwmc_frame_destroy(struct hwmc_frames *f, struct hwmc_frame *frame)
{
    if (frame->prev != NULL)
        frame->prev->next = frame->next;
    else
        f->all = frame->next;
    if (frame->next != NULL)
        frame->next->prev = frame->prev;
    free(frame->copy);
    free(frame);
}

void hwmc_frames_destroy(struct hwmc_frames *f)
{
    while (f->all != NULL)
        hwmc_frame_destroy(f, f->all);
}
