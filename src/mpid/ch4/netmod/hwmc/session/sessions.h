/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sessions: drives a session (core/session) with every process of the job over the lanes of this
 * one, and offers its streams: as lanes, which no failure of a rail interrupts, or directly, to
 * callers that need the sender of a message. No call blocks. Not thread-safe: the caller has one
 * lock for all of it, lanes included.
 */
#ifndef HWMC_NETMOD_SESSION_SESSIONS_H_INCLUDED
#define HWMC_NETMOD_SESSION_SESSIONS_H_INCLUDED

#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/core/path/session.h"
#include "../../../../../mpi/coll/bcast_hw/core/path/lane_state.h"
#include "../../../../../mpi/coll/bcast_hw/port/lane.h"

struct hwmc_sessions;

/* What the callbacks of a lane are called with. */
struct hwmc_sessions_port {
    struct hwmc_sessions *sessions;
    uint32_t lane;
};

/* Who uses a stream. A message is borrowed for the call; recv may send. */
struct hwmc_sessions_upper {
    void (*recv)(void *ctx, uint32_t peer, const void *head, size_t head_len, const void *body,
                 size_t body_len);
    void (*sent)(void *ctx, uint64_t tag);
    void *ctx;
};

/* For a job of `size` processes, of which this is number `self`; it counts in `counts`, which is
 * the caller's. NULL without memory. */
struct hwmc_sessions *hwmc_sessions_create(uint32_t self, uint32_t size,
                                           struct hwmc_session_counts *counts);

struct hwmc_sessions_port *hwmc_sessions_port(struct hwmc_sessions *l, uint32_t lane);
void hwmc_sessions_on_recv(void *port, const void *head, size_t head_len, const void *body,
                           size_t body_len);
void hwmc_sessions_on_lost(void *port, uint32_t peer);
void hwmc_sessions_on_sent(void *port, uint64_t tag);

/* These, for a lane to be opened with. */
struct hwmc_lane_params hwmc_sessions_params(struct hwmc_sessions_port *port);

/* Gives it cfg->lanes lanes, which close closes. cfg->tells: those that report within a bounded
 * time that a peer is lost, and give back what was pinned to them; the others are ready from the
 * start. All processes open alike. */
void hwmc_sessions_open(struct hwmc_sessions *l, const struct hwmc_session_cfg *cfg,
                        struct hwmc_lane *const *lanes);

/* `changed` is called whenever it has changed how the sessions stand by a lane; it may look at
 * `stand`, for the call, and call nothing here. Before the first message. */
void hwmc_sessions_watch(struct hwmc_sessions *l,
                         void (*changed)(void *ctx, uint32_t lane,
                                         const struct hwmc_lane_state *stand),
                         void *ctx);

/* Before the first message of the stream. */
void hwmc_sessions_use(struct hwmc_sessions *l, uint32_t stream,
                       const struct hwmc_sessions_upper *upper);

/* Sends head and body as one message of the stream; the head is copied, the body as well unless
 * `tag` is given: then it is borrowed until `sent`. It waits here while the stream's window is
 * full. OK, ERR_INVAL, ERR_NOMEM. */
int hwmc_sessions_send(struct hwmc_sessions *l, uint32_t stream, uint32_t peer, const void *head,
                       size_t head_len, const void *body, size_t body_len, const uint64_t *tag);

/* Of all messages of the stream that are under way the bodies are the upper layer's again: they are
 * copied. As a last resort the lanes that have them are cut; those without memory for a copy arrive
 * empty. */
void hwmc_sessions_take_back(struct hwmc_sessions *l, uint32_t stream);

/* How many messages more can be sent to `peer` without waiting here. */
uint32_t hwmc_sessions_room(const struct hwmc_sessions *l, uint32_t stream, uint32_t peer);

/* Makes progress; returns how many events it saw. */
int hwmc_sessions_poll(struct hwmc_sessions *l);

/* How often it has looked at a peer because some timer was due: idle peers cost nothing. */
uint64_t hwmc_sessions_looks(const struct hwmc_sessions *l);

/* As of a lane. flush: OK when all that was sent is with its receiver. */
int hwmc_sessions_fd(struct hwmc_sessions *l);
int hwmc_sessions_arm(struct hwmc_sessions *l);
int hwmc_sessions_flush(struct hwmc_sessions *l);
uint64_t hwmc_sessions_deadline(struct hwmc_sessions *l);

/* Closes its lanes and frees everything. */
void hwmc_sessions_close(struct hwmc_sessions *l);

#endif /* HWMC_NETMOD_SESSION_SESSIONS_H_INCLUDED */
