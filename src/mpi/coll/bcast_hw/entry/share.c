/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * share: see share.h.
 */

#include "share.h"

enum { UP, ACROSS, DOWN };

static const struct hwmc_leaders *leaders_of(const struct hwmc_share *r)
{
    return &r->spread->c->leaders;
}

static bool is_alone(const struct hwmc_share *r)
{
    return hwmc_spread_host(r->spread)->group.size == 1;
}

static bool failed(const struct hwmc_share *r)
{
    return r->spread->chain.stage.err != HWMC_OK;
}

static unsigned char *own_place(const struct hwmc_share *r)
{
    return r->whole + r->parts[leaders_of(r)->number[r->spread->comm->rank]].at;
}

static void copy_own(struct hwmc_share *r)
{
    const uint64_t room = r->parts[leaders_of(r)->number[r->spread->comm->rank]].bytes;

    if (r->own.bytes > 0 && r->own.memory != own_place(r))
        memcpy(own_place(r), r->own.memory, MPL_MIN(r->own.bytes, room));
}

static struct hwmc_op_stage *begin_up(struct hwmc_share *r)
{
    struct hwmc_shm_host *n = hwmc_spread_host(r->spread);
    const struct hwmc_shm_vector parts = {.each = r->parts};
    const bool leads = hwmc_spread_leads(r->spread);

    if (leads)
        copy_own(r);
    if (is_alone(r))
        return NULL;
    hwmc_shm_choose(n, HWMC_SHM_KIND_GATHER, 0);
    hwmc_shm_gather_begin(&r->up, &n->group, hwmc_spread_leader_number(r->spread),
                          leads ? NULL : r->own.memory, r->own.bytes, r->whole, &parts);
    hwmc_shm_stage_begin(&r->up_stage, &r->up.op);
    return &r->up_stage.stage;
}

static struct hwmc_op_stage *begin_across(struct hwmc_share *r)
{
    if (!hwmc_spread_leads(r->spread))
        return NULL;
    for (uint32_t i = 0; i < leaders_of(r)->hosts; i++)
        r->blocks[i] = (struct hwmc_turn){r->whole + r->hosts[i].at, r->hosts[i].bytes};
    return hwmc_spread_all_begin(&r->across, r->spread, r->blocks, r->rows);
}

struct hwmc_op_stage *hwmc_share_stage(struct hwmc_share *r, uint32_t i)
{
    switch (i) {
        case UP:
            return begin_up(r);
        case ACROSS:
            return begin_across(r);
        default:
            return hwmc_spread_begin_down(r->spread, &r->down, r->whole, r->bytes);
    }
}

/* Where the parts of each host are, and those of the ranks of this one, in the order of ranks. */
static void lay_parts(struct hwmc_share *r)
{
    const struct hwmc_leaders *l = leaders_of(r);
    uint64_t at = 0, before = 0;

    memset(r->hosts, 0, l->hosts * sizeof(*r->hosts));
    for (uint32_t i = 0; i < l->ranks; i++)
        r->hosts[l->host_of[i]].bytes += r->get[i].bytes;
    for (uint32_t host = 0; host < l->hosts; host++) {
        r->hosts[host].at = at;
        at += r->hosts[host].bytes;
    }
    r->bytes = at;
    for (uint32_t i = 0; i < l->ranks; i++)
        if (l->host_of[i] == hwmc_spread_own_member(r->spread)) {
            r->parts[l->number[i]] = (struct hwmc_shm_range){
                r->hosts[hwmc_spread_own_member(r->spread)].at + before, r->get[i].bytes};
            before += r->get[i].bytes;
        }
}

/* Where all parts lie as they go, in the program's memory; NULL: they do not. */
static unsigned char *find_whole(const struct hwmc_share *r)
{
    unsigned char *first = NULL;
    uint64_t at = 0;

    if (!hwmc_spread_in_order(r->spread))
        return NULL;
    for (uint32_t i = 0; i < leaders_of(r)->ranks; i++) {
        if (r->get[i].bytes == 0)
            continue;
        if (!first)
            first = r->get[i].memory;
        if ((unsigned char *) r->get[i].memory != first + at)
            return NULL;
        at += r->get[i].bytes;
    }
    return first;
}

int hwmc_share_begin(struct hwmc_share *r, struct hwmc_spread *s, struct hwmc_move own,
                     const struct hwmc_move *get)
{
    int mpi_errno = MPI_SUCCESS;
    const struct hwmc_leaders *l = &s->c->leaders;

    r->spread = s;
    r->own = own;
    r->get = get;
    r->made = NULL;
    r->rows =
        MPL_malloc((size_t) l->hosts * (2 * sizeof(*r->rows) + sizeof(*r->blocks)), MPL_MEM_COLL);
    r->parts = MPL_malloc(((size_t) l->hosts + hwmc_spread_host(s)->group.size) * sizeof(*r->parts),
                          MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!r->rows || !r->parts, mpi_errno, MPI_ERR_OTHER, "**nomem");
    r->blocks = (struct hwmc_turn *) (r->rows + 2 * l->hosts);
    r->hosts = r->parts + hwmc_spread_host(s)->group.size;
    lay_parts(r);
    r->whole = find_whole(r);
    if (!r->whole)
        r->whole = r->made = MPL_malloc(r->bytes + 1, MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!r->whole, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    return mpi_errno;
fn_fail:
    MPL_free(r->rows);
    MPL_free(r->parts);
    goto fn_exit;
}

/* From the copy to where the parts belong. */
static void copy_parts(const struct hwmc_share *r)
{
    const struct hwmc_leaders *l = leaders_of(r);

    for (uint32_t i = 0; i < l->ranks; i++) {
        struct hwmc_shm_range *host = &r->hosts[l->host_of[i]];

        if (r->get[i].bytes > 0)
            memcpy(r->get[i].memory, r->whole + host->at, r->get[i].bytes);
        host->at += r->get[i].bytes;
    }
}

void hwmc_share_end(struct hwmc_share *r)
{
    if (r->made && !failed(r))
        copy_parts(r);
    MPL_free(r->made);
    MPL_free(r->rows);
    MPL_free(r->parts);
}
