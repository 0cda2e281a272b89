/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wires: what the groups of a process send over: rails for datagrams, a lane for control and
 * repair, lanes for broadcasts along trees. And what each message is counted in.
 */
#ifndef HWMC_ENGINE_WIRE_WIRES_H_INCLUDED
#define HWMC_ENGINE_WIRE_WIRES_H_INCLUDED

#include "../../core/base/counts.h"
#include "../../core/path/wrr.h"
#include "../../port/lane.h"
#include "rails.h"
#include "wire.h"

struct hwmc_group;
struct hwmc_probe;

#define HWMC_LANES_MAX 32u

#define HWMC_ENGINE_COUNTS(X)                                                                      \
    X(datagrams_sent, "multicast datagrams sent")                                                  \
    X(datagram_bytes_sent, "bytes of multicast datagrams sent, headers included")                  \
    X(datagrams_received, "multicast datagrams received")                                          \
    X(datagram_bytes_received, "bytes of multicast datagrams received, headers included")          \
    X(in_place, "fragments whose payload the system put where the program wants it")               \
    X(direct, "of these, fragments that an adapter received into the program's memory")            \
    X(lent, "messages that an adapter sends from the program's memory, one a rail")                \
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
    X(hosts_probed, "probes of hosts, by ranks that waited for long")                              \
    X(hosts_answered, "probes that were answered")                                                 \
    X(hosts_failed, "waits that ended as a host had failed")

struct hwmc_engine_counts {
#define X(field, text) uint64_t field;
    HWMC_ENGINE_COUNTS(X)
#undef X
};

/* What shows that a message came as it was sent; alike on all processes of a job. */
enum hwmc_integrity {
    HWMC_INTEGRITY_CRC32C, /* by accident */
    HWMC_INTEGRITY_OFF,
    HWMC_INTEGRITY_KEYED /* and from a process of the job: an authentication code */
};

struct hwmc_wires_cfg {
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

struct hwmc_wires {
    struct hwmc_wires_cfg cfg;
    struct hwmc_rails rails;
    uint64_t now;   /* of the call under way, for callbacks from the lane */
    bool unflushed; /* of what went by cfg.lanes something may not be out of this process's hands */
    struct hwmc_counts *counts; /* the caller's, and so are these */
    struct hwmc_engine_counts *engine_counts;
    /* A peer cannot be reached; `ctx` is whose wires they are. */
    void (*on_lost)(void *ctx, uint32_t peer);
    void *ctx;
};

/* Messages are without a CRC. */
static inline bool hwmc_wires_unchecked(const struct hwmc_wires *w)
{
    return w->cfg.integrity != HWMC_INTEGRITY_CRC32C;
}

/* The lane of this index for broadcasts along trees, or the one that serves. */
static inline struct hwmc_lane *hwmc_wires_lane(const struct hwmc_wires *w, uint32_t index)
{
    return w->cfg.num_far_lanes > 0 ? w->cfg.lanes[index] : w->cfg.lane;
}

/* Lane `lane` for broadcasts along trees is on one of these rails, and of use. 0: on any. */
static inline bool hwmc_wires_is_lane_on(const struct hwmc_wires_cfg *e, uint32_t lane,
                                         uint32_t rails)
{
    const uint32_t k = lane % e->num_rails;

    return !(e->lane_silent >> k & 1) && (rails == 0 || (rails >> e->lane_rail[k] & 1) != 0);
}

/* How many of the lanes that are used inside a site are on these rails. 0: on any. */
uint32_t hwmc_wires_lanes_on(const struct hwmc_wires *w, uint32_t rails);

/* Shares of those of the first `lanes` lanes that are on these rails, by their speeds; where none
 * is, of all alike. */
void hwmc_wires_shares(const struct hwmc_wires *w, uint32_t rails, uint32_t lanes,
                       struct hwmc_wrr *d);

/* Rails that lanes for broadcasts along trees are on, a bit each. */
uint32_t hwmc_wires_lane_rails(const struct hwmc_wires *w);

/* The lanes of this rail carry nothing: what happens to them matters to nobody. */
bool hwmc_wires_is_silent(const struct hwmc_wires *w, uint32_t rail);

/* Before the header of a datagram: its authentication. */
static inline size_t hwmc_wires_auth_bytes(const struct hwmc_wires *w)
{
    return w->cfg.auth ? HWMC_AUTH : 0;
}

/* Multicasts a datagram to the fabrics' group; there is room on its rail. */
void hwmc_wires_cast(struct hwmc_wires *w, const struct hwmc_rails_to *to,
                     const struct hwmc_wire_id *id, uint32_t src, const struct hwmc_msg *msg,
                     const void *body, uint32_t len);

/* By the lane for control and repair. A peer that cannot be reached is lost. */
void hwmc_wires_send(struct hwmc_wires *w, uint32_t world_rank, const struct hwmc_wire_id *id,
                     uint32_t src, const struct hwmc_msg *msg, const void *body, uint32_t len);

/* A short message by that lane and by one lane for trees of each rail: it comes if any of them
 * still carries anything, and more than once if several do. */
void hwmc_wires_tell(struct hwmc_wires *w, uint32_t world_rank, const struct hwmc_wire_id *id,
                     uint32_t src, const struct hwmc_msg *msg);

/* By lane `index` for trees; the body is borrowed until the lane says that `tag` is sent. False:
 * the peer cannot be reached, which is the caller's to tell (on_lost); nothing is borrowed. */
bool hwmc_wires_send_from(struct hwmc_wires *w, uint32_t index, uint64_t tag, uint32_t world_rank,
                          const struct hwmc_wire_id *id, uint32_t src, const struct hwmc_msg *msg,
                          const void *body, uint32_t len);

#endif /* HWMC_ENGINE_WIRE_WIRES_H_INCLUDED */
