/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wires: see wires.h.
 */
#include "wires.h"

_Static_assert(HWMC_AUTH + HWMC_WIRE_CAST_HEAD <= HWMC_EXPECTED_HEAD, "fabrics have room for it");

uint32_t hwmc_wires_lane_rails(const struct hwmc_wires *w)
{
    uint32_t rails = 0;

    for (uint32_t i = 0; i < w->cfg.num_rails; i++)
        if (!(w->cfg.lane_silent >> i & 1))
            rails |= 1u << w->cfg.lane_rail[i];
    return rails;
}

bool hwmc_wires_is_silent(const struct hwmc_wires *w, uint32_t rail)
{
    for (uint32_t i = 0; i < w->cfg.num_rails; i++)
        if (w->cfg.lane_rail[i] == rail)
            return w->cfg.lane_silent >> i & 1;
    return false;
}

uint32_t hwmc_wires_lanes_on(const struct hwmc_wires *w, uint32_t rails)
{
    uint32_t lanes = 0;

    for (uint32_t i = 0; i < w->cfg.num_lanes; i++)
        lanes += hwmc_wires_is_lane_on(&w->cfg, i, rails);
    return lanes;
}

void hwmc_wires_shares(const struct hwmc_wires *w, uint32_t rails, uint32_t lanes,
                       struct hwmc_wrr *d)
{
    uint32_t mbit[HWMC_LANES_MAX] = {0};

    if (!hwmc_wires_lanes_on(w, rails))
        rails = 0;
    for (uint32_t i = 0; i < lanes; i++)
        if (hwmc_wires_is_lane_on(&w->cfg, i, rails)) {
            const uint32_t speed = w->cfg.lane_mbit[i % w->cfg.num_rails];

            mbit[i] = speed > 0 ? speed : 1;
        }
    hwmc_wrr_init(d, lanes > 0 ? lanes : 1, mbit);
}

void hwmc_wires_cast(struct hwmc_wires *w, const struct hwmc_rails_to *to,
                     const struct hwmc_wire_id *id, uint32_t src, const struct hwmc_msg *msg,
                     const void *body, uint32_t len)
{
    w->engine_counts->datagrams_sent++;
    w->engine_counts->datagram_bytes_sent +=
        hwmc_rails_cast(&w->rails, to, id, src, msg, body, len);
}

static int send_by(struct hwmc_wires *w, struct hwmc_lane *lane, uint32_t world_rank,
                   const struct hwmc_wire_id *id, uint32_t src, const struct hwmc_msg *msg,
                   const void *body, uint32_t len)
{
    unsigned char head[HWMC_WIRE_HEAD], control[HWMC_WIRE_CONTROL_MAX];
    void *payload = hwmc_wire_carries(msg->type) ? (void *) (uintptr_t) body : control;
    struct hwmc_wire_id named = *id;

    if (hwmc_wire_is_by_key(msg->type))
        named.generation = 0;
    len = hwmc_wire_encode(head, &named, src, msg, payload, len);
    w->engine_counts->lane_messages_sent++;
    return lane->ops->send(lane, world_rank, head, sizeof(head), payload, len);
}

void hwmc_wires_send(struct hwmc_wires *w, uint32_t world_rank, const struct hwmc_wire_id *id,
                     uint32_t src, const struct hwmc_msg *msg, const void *body, uint32_t len)
{
    if (send_by(w, w->cfg.lane, world_rank, id, src, msg, body, len) != HWMC_OK)
        w->on_lost(w->ctx, world_rank);
}

void hwmc_wires_tell(struct hwmc_wires *w, uint32_t world_rank, const struct hwmc_wire_id *id,
                     uint32_t src, const struct hwmc_msg *msg)
{
    hwmc_wires_send(w, world_rank, id, src, msg, NULL, 0);
    for (uint32_t i = 0; i < w->cfg.num_far_lanes && i < w->cfg.num_rails; i++) {
        struct hwmc_lane *lane = w->cfg.lanes[i];

        if (hwmc_wires_is_lane_on(&w->cfg, i, 0) && lane->ops->ready(lane, world_rank) == HWMC_OK &&
            send_by(w, lane, world_rank, id, src, msg, NULL, 0) == HWMC_OK)
            w->unflushed = true;
    }
}

bool hwmc_wires_send_from(struct hwmc_wires *w, uint32_t index, uint64_t tag, uint32_t world_rank,
                          const struct hwmc_wire_id *id, uint32_t src, const struct hwmc_msg *msg,
                          const void *body, uint32_t len)
{
    struct hwmc_lane *lane = hwmc_wires_lane(w, index);
    unsigned char head[HWMC_WIRE_HEAD];

    hwmc_wire_encode(head, id, src, msg, (void *) (uintptr_t) body, len);
    w->engine_counts->lane_messages_sent++;
    w->unflushed = w->cfg.num_far_lanes > 0;
    return lane->ops->send_from(lane, world_rank, head, sizeof(head), body, len, tag) == HWMC_OK;
}
