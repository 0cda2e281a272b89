/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * stage: a part of a collective at one rank, as whoever waits for it sees it: stepped until it is
 * over, never waiting itself. Its struct begins with struct hwmc_op_stage. A chain (chain.h) is a
 * stage of several.
 *
 *   step until it answers true; then `err` tells how it ended
 *
 * In between the caller has progress made: of the network, or of the host's other ranks, as `waits`
 * says.
 */

#ifndef HWMC_OP_STAGE_H_INCLUDED
#define HWMC_OP_STAGE_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../engine/group/group.h"
#include "../port/err.h"

struct hwmc_op_stage;

enum hwmc_stage_wait {
    HWMC_STAGE_FOR_NET, /* what the network brings */
    HWMC_STAGE_FOR_HOST /* other ranks of the host */
};

struct hwmc_stage_ops {
    /* Does what can be done; not under the engine's lock. True: it is over. */
    bool (*step)(struct hwmc_op_stage *s);
    /* hwmc_stage_fail, of one that is not over. */
    void (*fail)(struct hwmc_op_stage *s, enum hwmc_err err);
};

struct hwmc_op_stage {
    const struct hwmc_stage_ops *ops;
    bool over;
    enum hwmc_err err; /* the first error; of the network, unless in_host */
    bool in_host;
    uint64_t theirs, ours; /* ERR_INVAL of the network: bytes that came, and that were expected */
    /* Of the last step: */
    enum hwmc_stage_wait waits; /* if it is not over */
    bool behind;                /* there is more to do as soon as others of the host are ready */
    struct hwmc_group *group;   /* FOR_NET: the group that it waits for */
    uint64_t mark;              /* FOR_NET: differs from wait to wait */
    uint64_t now;               /* ns: of the engine's last progress, as the step saw it */
};

static inline void hwmc_stage_init(struct hwmc_op_stage *s, const struct hwmc_stage_ops *ops)
{
    memset(s, 0, sizeof(*s));
    s->ops = ops;
    s->waits = HWMC_STAGE_FOR_HOST;
}

static inline bool hwmc_stage_step(struct hwmc_op_stage *s)
{
    return s->over || s->ops->step(s);
}

/* The first error counts. */
static inline void hwmc_stage_note(struct hwmc_op_stage *s, enum hwmc_err err, bool in_host)
{
    if (s->err != HWMC_OK || err == HWMC_OK)
        return;
    s->err = err;
    s->in_host = in_host;
}

/* `s` cannot go on, and is stepped further, until it is over. One that is over, perhaps because it
 * could not begin, only has an error then. */
static inline void hwmc_stage_fail(struct hwmc_op_stage *s, enum hwmc_err err)
{
    if (s->over)
        hwmc_stage_note(s, err, false);
    else
        s->ops->fail(s, err);
}

/* `s` runs stage `of`, which is not over: it waits for what that waits for. */
static inline void hwmc_stage_follow(struct hwmc_op_stage *s, const struct hwmc_op_stage *of)
{
    s->waits = of->waits;
    s->behind = of->behind;
    s->group = of->group ? of->group : s->group;
    s->mark = of->mark;
    s->now = of->now;
}

/* `s` has run stage `of`, which is over: its error is that of `s`, if that has none. */
static inline void hwmc_stage_inherit(struct hwmc_op_stage *s, const struct hwmc_op_stage *of)
{
    if (s->err != HWMC_OK || of->err == HWMC_OK)
        return;
    hwmc_stage_note(s, of->err, of->in_host);
    s->theirs = of->theirs;
    s->ours = of->ours;
    s->group = of->group;
}

#endif /* HWMC_OP_STAGE_H_INCLUDED */
