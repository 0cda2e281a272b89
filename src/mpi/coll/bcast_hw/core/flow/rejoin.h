/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rejoin: when a member announces again which multicast group it is in. A switch that tracks
 * membership (IGMP snooping) forgets members if no querier asks in time, and then forwards nothing
 * to them. A member cannot tell that from other failures. It announces itself as soon as a rail is
 * disabled (epoch.h), then each time half a first pause before member 0's probes, which show
 * whether it helped: it leaves the group for that and joins it again, and who does that while they
 * are on the way misses them. Where pauses do not grow any more, its own are three quarters of
 * those: whenever the two began, they coincide only now and then.
 */
#ifndef HWMC_CORE_FLOW_REJOIN_H_INCLUDED
#define HWMC_CORE_FLOW_REJOIN_H_INCLUDED

#include "../base/msg.h"

struct hwmc_rejoin {
    uint8_t rails;  /* that were left when it was last asked */
    uint64_t at;    /* ns: the next time; meaningless without rails */
    uint64_t pause; /* ns; from that one to the next */
};

static inline uint64_t hwmc_rejoin_next_timer(const struct hwmc_rejoin *r)
{
    return r->rails ? r->at : HWMC_NEVER;
}

/* `left`: rails that are left now. Returns those on which the network is to be told. `pause` and
 * `most`: member 0's first and longest pause, ns. */
static inline uint8_t hwmc_rejoin_due(struct hwmc_rejoin *r, uint8_t left, uint64_t pause,
                                      uint64_t most, uint64_t now)
{
    bool more = left & (uint8_t) ~r->rails;

    r->rails = left;
    if (left == 0 || (!more && r->at > now))
        return 0;
    if (more) {
        r->at = now + pause / 2;
        r->pause = pause;
    } else {
        r->at = now + r->pause;
        r->pause = 2 * r->pause < most - most / 4 ? 2 * r->pause : most - most / 4;
    }
    return left;
}

#endif /* HWMC_CORE_FLOW_REJOIN_H_INCLUDED */
