/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * direct: payloads of a long message that adapters put into the program's memory (port/fabric.h:
 * direct). Which broadcasts come that way, core/flow/direct.h says; here a member has memory posted
 * for them, and takes it back when anything else happens.
 *
 *   IDLE --a member begins a long message--> RUN --end--> IDLE
 *
 *   IDLE   no adapter has memory of this group's message; this rank is not ready
 *   RUN    for bytes below `posted` of the message from broadcast `first` on memory was posted, in
 *          order; of a part of it datagrams have come
 *
 * A run ends when the message is over, when the memory goes back to the program (unpin), and before
 * a fragment of `first` or later that came another way is placed: by lane, by ordinary multicast
 * because the root did not send it directly, or where another was expected. The rest of that
 * message is not received directly.
 *
 * Invariant: outside of RUN no adapter writes to the program's memory; in RUN nobody else writes to
 * what belongs to `first` and later broadcasts. Only where the group uses one rail: over several,
 * the order in which datagrams come is not known.
 */
#ifndef HWMC_ENGINE_GROUP_DIRECT_H_INCLUDED
#define HWMC_ENGINE_GROUP_DIRECT_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../../core/base/msg.h"
#include "../../port/fabric.h"

struct hwmc_group;

enum hwmc_group_direct_twin {
    HWMC_DIRECT_NO_TWIN, /* not asked for yet, or under way */
    HWMC_DIRECT_JOINED,
    HWMC_DIRECT_NEVER /* refused */
};

struct hwmc_group_direct {
    struct hwmc_fabric *fabric; /* of the group's rail; NULL: it cannot do that */
    enum hwmc_group_direct_twin state;
    uint64_t twin;  /* JOINED: the fabric's number of it */
    uint64_t run;   /* RUN: the fabric's number of it, which may be over there */
    uint64_t first; /* RUN: the broadcast that it begins with; NEVER: IDLE */
    size_t bytes;   /* RUN: of the message from there on */
};

/* When the group begins, and when set-up has agreed on the rails. The twin of the group is joined
 * with the first long message, and not awaited. */
void hwmc_group_direct_init(struct hwmc_group *g);

/* The message that was just pinned is this rank's own; and another one's. */
void hwmc_group_direct_root(struct hwmc_group *g);
void hwmc_group_direct_begin(struct hwmc_group *g);

/* RUN: before this rank has consumed those below `count`: memory is posted for what it then is to
 * be ready for. */
void hwmc_group_direct_extend(struct hwmc_group *g, uint64_t count);

/* Ends the run, if there is one; a root's message goes on without. `goes_on`: the message does. */
void hwmc_group_direct_end(struct hwmc_group *g, bool goes_on);

/* Which of the fabric's groups a multicast goes to. */
uint64_t hwmc_group_direct_to(const struct hwmc_group *g, const struct hwmc_msg *msg);

/* The group leaves multicast. */
void hwmc_group_direct_leave(struct hwmc_group *g);

#endif /* HWMC_ENGINE_GROUP_DIRECT_H_INCLUDED */
