/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * engine: drives the groups of a process over its rails and one lane: takes what came, hands it to
 * the group it names, sends what groups have to say, fires their timers. All calls come under one
 * lock of the caller's; none blocks. Time is the caller's monotonic clock in ns.
 */
#ifndef HWMC_ENGINE_ENGINE_H_INCLUDED
#define HWMC_ENGINE_ENGINE_H_INCLUDED

#include "../core/model/measure.h"
#include "../core/negotiation/spare.h"
#include "../port/probe.h"
#include "../port/lane.h"
#include "group/decline.h"
#include "group/group.h"
#include "wire/rails.h"

#define HWMC_ENGINE_COUNTS(X)                                                                      \
    X(datagrams_sent, "multicast datagrams sent")                                                  \
    X(datagram_bytes_sent, "bytes of multicast datagrams sent, headers included")                  \
    X(datagrams_received, "multicast datagrams received")                                          \
    X(datagram_bytes_received, "bytes of multicast datagrams received, headers included")          \
    X(lane_messages_sent, "messages sent over lanes")                                              \
    X(lane_messages_received, "messages received over lanes")                                      \
    X(drop_own, "datagrams dropped: this process's own")                                           \
    X(drop_foreign, "messages dropped: of another job")                                            \
    X(drop_communicator, "messages dropped: of a communicator not known here")                     \
    X(drop_format, "messages dropped: not of this format or version")                              \
    X(drop_crc, "messages dropped: the CRC is wrong")                                              \
    X(drop_forged, "datagrams dropped: the authentication code is wrong")                          \
    X(setup_on, "communicators that use multicast since set-up")                                   \
    X(setup_off, "communicators that do not use multicast since set-up")                           \
    X(setup_shorter,                                                                               \
      "communicators whose datagrams are shorter than ports take, as long ones do not pass")       \
    X(rails_silent, "rails whose lanes carry nothing, as by one of them a process got no answer")  \
    X(lanes_lost, "peers lost by their lane")                                                      \
    X(lanes_cut, "lanes given up, for they kept memory of a broadcast that had failed")            \
    X(hosts_probed, "questions to hosts whether they are there, by who waited for long")           \
    X(hosts_answered, "such questions that were answered")                                         \
    X(hosts_failed, "waits that ended as a host did not answer any more")

struct hwmc_engine_counts {
#define X(field, text) uint64_t field;
    HWMC_ENGINE_COUNTS(X)
#undef X
};

/* What shows that a message came as it was sent; alike on all processes of a job. */
enum hwmc_integrity {
    HWMC_INTEGRITY_CRC32C, /* by accident */
    HWMC_INTEGRITY_OFF,
    HWMC_INTEGRITY_KEYED /* and from a process of the job: a seal */
};

struct hwmc_engine_cfg {
    uint64_t job; /* key of the job: random, the same on all its processes */
    uint32_t world_rank;
    enum hwmc_integrity integrity;
    struct hwmc_auth *auth; /* KEYED: of datagrams, the caller's; lanes see to their own */
    /* By rail, numbered alike on all processes; NULL: this one has no such rail, or no multicast
     * there. The engine's from open on. */
    struct hwmc_fabric *fabrics[HWMC_RAIL_BITS];
    uint32_t mbit[HWMC_RAIL_BITS]; /* speeds; 0: unknown */
    struct hwmc_lane *lane;        /* the engine's from open on; NULL: no group can be created */
    /* Lanes for broadcasts along trees, the rails in turn; none: `lane` serves. The first num_lanes
     * are used inside a site, all num_far_lanes between sites. The engine's from open on. */
    struct hwmc_lane *lanes[HWMC_LANES_MAX];
    uint32_t num_lanes;
    uint32_t num_far_lanes; /* at least num_lanes */
    uint32_t num_rails; /* the first lanes are one of each of so many; 0: `lane` is all there is */
    /* Those rails, by number, and their speeds: lane i is on the one at i mod num_rails. */
    uint8_t lane_rail[HWMC_RAIL_BITS];
    uint32_t lane_mbit[HWMC_RAIL_BITS]; /* 0: unknown */
    /* Of those rails, by which somebody got no answer, alike on all processes; they carry
     * nothing. */
    uint32_t lane_silent; /* bit k: of lane_rail[k] */
    bool meets; /* set-up makes the lane to the rank that may ask for repair; else asking does */
    struct hwmc_probe *probe; /* the caller's; NULL: no host can be asked whether it is there */
    size_t memory;            /* bound on the channel memory of all groups, bytes */
    /* A group is ON, for the first time, or has another epoch than when it was shown last, or a
     * member of it is lost; NULL: nobody wants to know. */
    void (*show)(struct hwmc_group *g, bool first);
};

struct hwmc_engine {
    struct hwmc_engine_cfg cfg;
    struct hwmc_rails rails;
    struct hwmc_group *groups;     /* all there are */
    struct hwmc_declines declines; /* groups that this process has no memory for */
    struct hwmc_names names;
    struct hwmc_agenda agenda;
    size_t memory_used;
    uint32_t generations; /* given out by this process as a leader */
    uint32_t groups_made;
    uint64_t now;   /* of the call under way, for callbacks from the lane */
    int events;     /* of the progress under way */
    bool draining;  /* no group follows; the lane is being flushed */
    bool unflushed; /* of what went by cfg.lanes something may not be out of this process's hands */
    struct hwmc_spare spare; /* rails that set-ups do without for a while */
    bool measuring;          /* this process asks, or may be asked, how fast lanes are */
    struct hwmc_measure measure;
    uint32_t answered; /* whoever was asked last: by which lanes it has answered, a bit each */
    struct hwmc_counts *counts; /* the caller's, and so are these */
    struct hwmc_engine_counts *engine_counts;
    struct hwmc_wire_in in; /* the message being handled */
    uint32_t high;          /* of its seal */
};

/* Lane `lane` for broadcasts along trees is on one of these rails, and of use. 0: on any. */
static inline bool hwmc_engine_is_lane_on(const struct hwmc_engine_cfg *e, uint32_t lane,
                                          uint32_t rails)
{
    const uint32_t k = lane % e->num_rails;

    return !(e->lane_silent >> k & 1) && (rails == 0 || (rails >> e->lane_rail[k] & 1) != 0);
}

/* An engine without rails and lanes; NULL without memory. What it counts in outlives it. */
struct hwmc_engine *hwmc_engine_create(struct hwmc_counts *counts,
                                       struct hwmc_engine_counts *engine_counts);

/* Gives it what it runs on. Before the first group. */
void hwmc_engine_open(struct hwmc_engine *e, const struct hwmc_engine_cfg *cfg);

/* What the lane is to be opened with: pass `e` as its context. */
void hwmc_engine_on_lane(void *e, const void *head, size_t head_len, const void *body,
                         size_t body_len);
void hwmc_engine_on_lost(void *e, uint32_t peer);
void hwmc_engine_on_sent(void *e, uint64_t tag);

/* While `on`, this process takes part in measuring: progress answers who asks. */
void hwmc_engine_measuring(struct hwmc_engine *e, bool on);

/* Asks `peer` how fast the lanes to it are, one of each rail; measuring, on both. The result is in
 * e->measure once that is done. */
void hwmc_engine_measure(struct hwmc_engine *e, uint32_t peer, uint64_t now);

/* Asks `peer` on one lane of each rail whether anything comes; measuring, on both. By which lanes
 * it has answered is in e->answered. */
void hwmc_engine_ask(struct hwmc_engine *e, uint32_t peer);

/* Of the lanes' rails, a bit each by their index: these carry nothing. Alike on all processes; not
 * all. */
void hwmc_engine_silent(struct hwmc_engine *e, uint32_t rails);

/* What was measured of the lanes' rails, alike on all processes: by it segments are dealt. */
void hwmc_engine_rates(struct hwmc_engine *e, const uint32_t *mbit);

/* Returns how much happened; 0: nothing. */
int hwmc_engine_progress(struct hwmc_engine *e, uint64_t now);

/* Progress has something to do at this time though nothing comes: ns or NEVER. */
uint64_t hwmc_engine_deadline(const struct hwmc_engine *e);

/* Progress has something to care for. */
static inline bool hwmc_engine_active(const struct hwmc_engine *e)
{
    return e->groups != NULL || e->declines.num > 0 || e->draining || e->measuring || e->unflushed;
}

/* Rails that lanes for broadcasts along trees are on, a bit each. */
uint32_t hwmc_engine_lane_rails(const struct hwmc_engine *e);

/* The lanes of this rail carry nothing: what happens to them matters to nobody. */
bool hwmc_engine_is_silent(const struct hwmc_engine *e, uint32_t rail);

/* How many of the lanes that are used inside a site are on these rails. 0: on any. */
uint32_t hwmc_engine_lanes_on(const struct hwmc_engine *e, uint32_t rails);

/* Asserts what the heads of its parts say. */
void hwmc_engine_check(const struct hwmc_engine *e);

/* A broadcast goes along trees here, or has left something in the lanes: cfg.lanes are polled. */
bool hwmc_engine_by_lanes(const struct hwmc_engine *e);

/* No group follows: closes the ones that are left. */
void hwmc_engine_drain(struct hwmc_engine *e, uint64_t now);

/* The lane for control and repair is flushed. To be asked between calls of progress. */
bool hwmc_engine_told(struct hwmc_engine *e);

/* After drain: no group is left, and no decline. To be asked between calls of progress. */
bool hwmc_engine_drained(const struct hwmc_engine *e);

/* Frees the groups that are left and closes rails and lanes. */
void hwmc_engine_close(struct hwmc_engine *e);

/* Of a closed engine, or one never opened. */
void hwmc_engine_destroy(struct hwmc_engine *e);

/* For groups. cast: there is room on its rail. send: a peer that cannot be reached is lost.
 * send_from: over lane msg->rail; the body is borrowed until hwmc_group_on_sent. */
void hwmc_engine_cast(struct hwmc_engine *e, uint64_t group, const struct hwmc_wire_id *id,
                      uint32_t src, const struct hwmc_msg *msg, const void *body, uint32_t len);
void hwmc_engine_send(struct hwmc_engine *e, uint32_t world_rank, const struct hwmc_wire_id *id,
                      uint32_t src, const struct hwmc_msg *msg, const void *body, uint32_t len);

void hwmc_engine_send_from(struct hwmc_engine *e, uint32_t world_rank, struct hwmc_group *g,
                           const struct hwmc_msg *msg, const void *body, uint32_t len);

/* Nobody waits any longer for the lanes that the group pins something to: they are cut, and it
 * pins nothing. */
void hwmc_engine_cut(struct hwmc_engine *e, const struct hwmc_group *g);

#endif /* HWMC_ENGINE_ENGINE_H_INCLUDED */
