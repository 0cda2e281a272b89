/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What am.c, send.c and recv.c share. A message is cut into frames; the first one has the active
 * message's header before the data. Between processes of one host a longer message is one frame,
 * CMA, that names the address of its data. The receiver reads them there and answers GOT; if it may
 * not, it answers SEND, and gets them in frames. A sender numbers its messages for each receiver,
 * which assembles them whichever lane their frames came by, and hands them over in that order.
 *
 * The engine's lock guards the state, and is not held around a call of MPICH. Complete messages are
 * collected under the lock, then taken from there and handed over one by one when the lock is free.
 */

#ifndef HWMC_NETMOD_AM_AM_IMPL_H_INCLUDED
#define HWMC_NETMOD_AM_AM_IMPL_H_INCLUDED

#include "mpidimpl.h"
#include "../base/global.h"
#include "am.h"
#include "../base/counters.h"
#include "am_head.h"
#include "cma.h"

#define AM_CHUNK 16384u /* small enough that little waits behind it on a slow rail */

/* Of a message of AM_LONG and more, after the first: each frame costs as much time as some thousand
 * bytes. With all headers less than the 64 KiB that UCX sends over TCP in one piece. */
#define AM_CHUNK_LONG 61440u
#define AM_LONG 524288u

/* Messages on their way out. */
struct am_out;

bool hwmc_am_out_open(struct hwmc_sessions *sessions, uint32_t first_stream, uint32_t num_streams);
void hwmc_am_out_close(void);

/* Sends what waits. */
void hwmc_am_out_pump(void);

/* Takes the first that need not be kept any more, to be told without the lock; NULL: there is
 * none. */
struct am_out *hwmc_am_out_failed(void);
int hwmc_am_out_tell(struct am_out *failed);

/* The receiver's answers to CMA. */
void hwmc_am_out_got(uint32_t rank, uint32_t id);
void hwmc_am_out_refused(uint32_t rank, uint32_t id);

/* Nothing waits to be sent, or to be read by its receiver. */
bool hwmc_am_out_idle(void);

/* Answers a CMA. False: no memory. */
bool hwmc_am_out_answer(uint32_t rank, enum am_kind kind, uint32_t id);

/* Messages on their way in. */
struct am_in;

/* `answer` sends what a frame is answered with: as hwmc_am_out_answer. */
bool hwmc_am_in_open(bool (*answer)(uint32_t rank, enum am_kind kind, uint32_t id));
void hwmc_am_in_close(void);

/* A frame of DATA or CMA. False: no memory. */
bool hwmc_am_in_frame(uint32_t rank, const struct am_head *head, const void *body, size_t body_len);

/* A message of this process to itself. False: no memory. */
bool hwmc_am_in_own(const struct am_head *head, const void *hdr, const void *data);

/* Takes the first that is complete, to be handed over without the lock; NULL: there is none. */
struct am_in *hwmc_am_in_whole(void);
int hwmc_am_in_tell(struct am_in *whole);

#endif /* HWMC_NETMOD_AM_AM_IMPL_H_INCLUDED */
