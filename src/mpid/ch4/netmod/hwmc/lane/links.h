/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * links: drives a link (core/link) to every process of the job over the lanes of this one, and
 * offers its streams: as lanes, which no failure of a rail interrupts, or by themselves, to who
 * wants to know from whom a message is. No call blocks. Not thread-safe: the caller has one lock
 * for all of it, lanes included.
 */
#ifndef HWMC_LINKS_H_INCLUDED
#define HWMC_LINKS_H_INCLUDED

#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/core/link.h"
#include "../../../../../mpi/coll/bcast_hw/core/stand.h"
#include "../../../../../mpi/coll/bcast_hw/port/lane.h"

struct hwmc_links;

/* What the callbacks of a lane are called with. */
struct hwmc_links_port {
    struct hwmc_links *links;
    uint32_t lane;
};

/* Who uses a stream. A message is borrowed for the call; recv may send. */
struct hwmc_links_upper {
    void (*recv)(void *ctx, uint32_t peer, const void *head, size_t head_len, const void *body,
                 size_t body_len);
    void (*sent)(void *ctx, uint64_t tag);
    void *ctx;
};

/* For a job of `size` processes, of which this is number `self`; it counts in `counts`, which is
 * the caller's. NULL without memory. */
struct hwmc_links *hwmc_links_create(uint32_t self, uint32_t size,
                                     struct bcast_hw_link_counts *counts);

struct hwmc_links_port *hwmc_links_port(struct hwmc_links *l, uint32_t lane);
void hwmc_links_on_recv(void *port, const void *head, size_t head_len, const void *body,
                        size_t body_len);
void hwmc_links_on_lost(void *port, uint32_t peer);
void hwmc_links_on_sent(void *port, uint64_t tag);

/* These, for a lane to be opened with. */
struct bcast_hw_lane_params hwmc_links_params(struct hwmc_links_port *port);

/* Gives it cfg->lanes lanes, which close closes. cfg->tells: those that report within a bounded
 * time that a peer is lost, and give back what was lent to them; the others are ready from the
 * start. All processes open alike. */
void hwmc_links_open(struct hwmc_links *l, const struct bcast_hw_link_cfg *cfg,
                     struct bcast_hw_lane *const *lanes);

/* `changed` is called whenever it has changed how the links stand by a lane; it may look at
 * `stand`, for the call, and call nothing here. Before the first message. */
void hwmc_links_watch(struct hwmc_links *l,
                      void (*changed)(void *ctx, uint32_t lane, const struct bcast_hw_stand *stand),
                      void *ctx);

/* Before the first message of the stream. */
void hwmc_links_use(struct hwmc_links *l, uint32_t stream, const struct hwmc_links_upper *upper);

/* Sends head and body as one message of the stream; the head is copied, the body as well unless
 * `tag` is given: then it is borrowed until `sent`. It waits here while the stream's window is
 * full. OK, ERR_INVAL, ERR_NOMEM. */
int hwmc_links_send(struct hwmc_links *l, uint32_t stream, uint32_t peer, const void *head,
                    size_t head_len, const void *body, size_t body_len, const uint64_t *tag);

/* Of all messages of the stream that are under way the bodies are the upper layer's again: they are
 * copied. As a last resort the lanes that have them are cut; those without memory for a copy arrive
 * empty. */
void hwmc_links_take_back(struct hwmc_links *l, uint32_t stream);

/* How many messages more can be sent to `peer` without waiting here. */
uint32_t hwmc_links_room(const struct hwmc_links *l, uint32_t stream, uint32_t peer);

/* Makes progress; returns how many events it saw. */
int hwmc_links_poll(struct hwmc_links *l);

/* How often it has looked at a peer because some timer was due: idle peers cost nothing. */
uint64_t hwmc_links_looks(const struct hwmc_links *l);

/* As of a lane. flush: OK when all that was sent is with its receiver. */
int hwmc_links_fd(struct hwmc_links *l);
int hwmc_links_arm(struct hwmc_links *l);
int hwmc_links_flush(struct hwmc_links *l);
uint64_t hwmc_links_deadline(struct hwmc_links *l);

/* Closes its lanes and frees everything. */
void hwmc_links_close(struct hwmc_links *l);

#endif /* HWMC_LINKS_H_INCLUDED */
