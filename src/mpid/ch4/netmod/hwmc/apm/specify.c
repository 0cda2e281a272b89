/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * specify: see specify.h.
 */
#include "specify.h"

#include <errno.h>
#include <string.h>

/* The first 64 bits of a GID name its subnet. */
static bool same_subnet(const struct hwmc_apm_port *a, const struct hwmc_apm_port *b)
{
    return memcmp(a->gid.raw, b->gid.raw, 8) == 0;
}

static uint8_t cut_bits(uint8_t bits, const struct hwmc_apm_port *p)
{
    return bits & (uint8_t) ((1u << p->lmc) - 1);
}

void hwmc_apm_path_between(const struct hwmc_apm_port *mine, uint8_t my_bits,
                           const struct hwmc_apm_port *theirs, uint8_t their_bits, uint8_t timeout,
                           struct hwmc_apm_path *path)
{
    *path = (struct hwmc_apm_path){
        .port = mine->number,
        .src_path_bits = cut_bits(my_bits, mine),
        .dlid = (uint16_t) (theirs->lid + cut_bits(their_bits, theirs)),
        .pkey_index = mine->pkey_index,
        .timeout = timeout,
        .grh = mine->grh || theirs->grh || !same_subnet(mine, theirs),
        .sgid_index = mine->gid_index,
        .dgid = theirs->gid,
    };
}

/* An order of the two ends that both see alike. */
static bool is_first(const struct hwmc_apm_port *mine, const struct hwmc_apm_port *theirs)
{
    int order = memcmp(mine->gid.raw, theirs->gid.raw, sizeof(mine->gid.raw));

    return order != 0 ? order < 0 : mine->lid <= theirs->lid;
}

/* Of the pairs of ports that differ from the primary path's in as many ends as can be, the one with
 * the least ports, those of the end that is first deciding. */
struct pair {
    int mine, theirs; /* of the ports given */
    int others;       /* ends at which the port is another one than the primary path's: 0..2 */
};

static bool is_better(const struct pair *a, const struct pair *b, bool mine_first)
{
    int first = mine_first ? a->mine - b->mine : a->theirs - b->theirs;
    int second = mine_first ? a->theirs - b->theirs : a->mine - b->mine;

    if (a->others != b->others)
        return a->others > b->others;
    return first != 0 ? first < 0 : second < 0;
}

/* Of a port that the primary path has too: another LID than that path's, if there is one. */
static uint8_t other_lid(const struct hwmc_apm_port *p)
{
    return cut_bits(p->bits != 0 ? p->bits : 1, p);
}

enum hwmc_apm_choice hwmc_apm_choose(const struct hwmc_apm_port *mine, int num_mine,
                                     const struct hwmc_apm_port *theirs, int num_theirs,
                                     uint8_t timeout, struct hwmc_apm_path *path)
{
    bool first = is_first(&mine[0], &theirs[0]);
    struct pair best = {0, 0, 0};

    for (int m = 0; m < num_mine; m++) {
        for (int t = 0; t < num_theirs; t++) {
            struct pair p = {m, t, (m > 0) + (t > 0)};

            if (same_subnet(&mine[m], &theirs[t]) && is_better(&p, &best, first))
                best = p;
        }
    }
    if (best.others > 0) {
        const struct hwmc_apm_port *m = &mine[best.mine], *t = &theirs[best.theirs];

        hwmc_apm_path_between(m, m->bits, t, t->bits, timeout, path);
        return HWMC_APM_OTHER_PORT;
    }
    if (other_lid(mine) == 0 && other_lid(theirs) == 0)
        return HWMC_APM_NO_ALTERNATE;
    hwmc_apm_path_between(mine, other_lid(mine), theirs, other_lid(theirs), timeout, path);
    return HWMC_APM_OTHER_LID;
}

int hwmc_apm_specify_with(const struct hwmc_apm_conn *c, struct ibv_qp_attr *attr)
{
    const struct hwmc_apm_path *path = &c->path[c->state.primary ^ 1];

    if (!c->state.alternate)
        return 0;
    hwmc_apm_path_address(path, &attr->alt_ah_attr);
    attr->alt_port_num = path->port;
    attr->alt_pkey_index = path->pkey_index;
    attr->alt_timeout = path->timeout;
    return IBV_QP_ALT_PATH;
}

void hwmc_apm_specified(struct hwmc_apm_conn *c, int mask)
{
    if (mask & IBV_QP_ALT_PATH)
        hwmc_apm_on_event(&c->state, HWMC_APM_ON_SPECIFY);
}

/* Whether the state allows it, without changing it. */
static bool may_specify(const struct hwmc_apm_conn *c)
{
    struct hwmc_apm trial = c->state;

    return c->state.comm >= HWMC_APM_RTS &&
           hwmc_apm_on_event(&trial, HWMC_APM_ON_SPECIFY) == HWMC_APM_TAKEN;
}

int hwmc_apm_specify(struct hwmc_apm_conn *c)
{
    struct ibv_qp_attr attr = {0};
    int mask = hwmc_apm_specify_with(c, &attr);

    if (!may_specify(c))
        return EINVAL;
    c->error = ibv_modify_qp(c->qp, &attr, mask);
    if (c->error == 0)
        hwmc_apm_specified(c, mask);
    return c->error;
}
