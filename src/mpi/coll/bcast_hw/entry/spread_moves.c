/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_moves: see spread_moves.h; reduce-scatters are in spread_scatter.c.
 */

#include "spread_moves.h"

#include "direct.h"
#include "gather.h"
#include "scatter.h"
#include "split.h"
#include "spread_select.h"
#include "spread_take.h"
#include "../op/wait_stage.h"
#include "../process/mpich.h"
#include "../process/process.h"
#include "../select/network.h"

static bool is_root(const struct hwmc_spread_moves *m)
{
    return m->spread.root < 0 || m->spread.root == m->spread.comm->rank;
}

static bool sends(const struct hwmc_spread_moves *m)
{
    return m->pattern != HWMC_PATTERN_FROM_ROOT || is_root(m);
}

static bool receives(const struct hwmc_spread_moves *m)
{
    return m->pattern != HWMC_PATTERN_TO_ROOT || is_root(m);
}

/* Of a gather: this rank's part is in `out` already. Of a scatter: it stays in `in`. */
static bool keeps_own(const struct hwmc_spread_moves *m)
{
    return m->in.buffer == MPI_IN_PLACE || m->out.buffer == MPI_IN_PLACE;
}

/* Bytes that this rank sends to `peer`, or has from it, and where. */

static struct hwmc_move move_to(const struct hwmc_spread_moves *m, uint32_t peer)
{
    const bool each = m->pattern == HWMC_PATTERN_EACH || m->pattern == HWMC_PATTERN_FROM_ROOT;
    const bool from_out = !each && m->in.buffer == MPI_IN_PLACE;
    const struct hwmc_vbuf *v = from_out || m->copy ? &m->out : &m->in;
    const uint32_t part = from_out ? (uint32_t) m->spread.comm->rank : each ? peer : 0;
    struct hwmc_move move = {peer, hwmc_vbuf_part(v, part), hwmc_vbuf_bytes(v, part)};

    if (m->copy)
        move.memory = m->copy + ((char *) move.memory - m->out.memory);
    return move;
}

static struct hwmc_move move_from(const struct hwmc_spread_moves *m, uint32_t peer)
{
    const uint32_t part = m->pattern == HWMC_PATTERN_FROM_ROOT ? 0 : peer;

    return (struct hwmc_move){peer, hwmc_vbuf_part(&m->out, part), hwmc_vbuf_bytes(&m->out, part)};
}

/* This rank's own part. */
static void move_own(const struct hwmc_spread_moves *m)
{
    const uint32_t rank = (uint32_t) m->spread.comm->rank;
    struct hwmc_move to, from;

    if (!sends(m) || !receives(m) || keeps_own(m))
        return;
    from = move_to(m, rank);
    to = move_from(m, rank);
    if (from.bytes > 0)
        memcpy(to.memory, from.memory, MPL_MIN(from.bytes, to.bytes));
}

/* Whether it is one of those of a row; then it becomes this one. */
static bool takes(const struct hwmc_spread_moves *m, struct hwmc_move *next, struct hwmc_move move)
{
    *next = move;
    return move.bytes > 0 || !m->split;
}

static struct hwmc_op_stage *begin_all(struct hwmc_spread_moves *m)
{
    const uint32_t p = (uint32_t) m->spread.comm->local_size;

    for (uint32_t r = 0; r < p; r++) {
        const struct hwmc_move move =
            r == (uint32_t) m->spread.comm->rank ? move_to(m, r) : move_from(m, r);

        m->blocks[r] = (struct hwmc_turn){move.memory, move.bytes};
    }
    move_own(m);
    return hwmc_spread_all_begin(&m->by.all, &m->spread, m->blocks, m->rows);
}

static struct hwmc_op_stage *begin_moves(struct hwmc_chain *c, uint32_t i)
{
    struct hwmc_spread_moves *m = (struct hwmc_spread_moves *) c;
    const uint32_t p = (uint32_t) m->spread.comm->local_size;
    const uint32_t rank = (uint32_t) m->spread.comm->rank;
    struct hwmc_move *in = m->rows, *out = in + p;
    uint32_t num_in = 0, num_out = 0;

    (void) i;
    if (m->pattern == HWMC_PATTERN_SAME)
        return begin_all(m);
    for (uint32_t n = 1; n < p; n++) {
        const uint32_t before = (rank + p - n) % p, after = (rank + n) % p;

        if (receives(m) &&
            (m->pattern != HWMC_PATTERN_FROM_ROOT || before == (uint32_t) m->spread.root))
            num_in += takes(m, &in[num_in], move_from(m, before));
        if (sends(m) && (m->pattern != HWMC_PATTERN_TO_ROOT || after == (uint32_t) m->spread.root))
            num_out += takes(m, &out[num_out], move_to(m, after));
    }
    move_own(m);
    hwmc_spread_begin_moves(&m->spread, &m->by.each, in, num_in, out, num_out, HWMC_PLAN_USUAL);
    return &m->by.each.stage;
}

/* Of an all-to-all in place: what is sent must not be written to. */
static int copy_out(struct hwmc_spread_moves *m)
{
    int mpi_errno = MPI_SUCCESS;
    uint64_t end = 0;

    for (uint32_t i = 0; i < m->out.num; i++) {
        const struct hwmc_shm_range r = hwmc_shm_part_of(&m->out.vector, i);

        end = MPL_MAX(end, r.at + r.bytes);
    }
    m->copy = MPL_malloc(MPL_MAX(end, 1), MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!m->copy, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (end > 0)
        memcpy(m->copy, m->out.memory, end);

fn_fail:
    return mpi_errno;
}

static struct hwmc_op_stage *begin_relay(struct hwmc_chain *c, uint32_t i)
{
    return hwmc_relay_stage(&((struct hwmc_spread_moves *) c)->by.relay, i);
}

static struct hwmc_op_stage *begin_share(struct hwmc_chain *c, uint32_t i)
{
    return hwmc_share_stage(&((struct hwmc_spread_moves *) c)->by.share, i);
}

/* Bytes of each part, if all ranks know them. */
static uint64_t alike_bytes(const struct hwmc_spread_moves *m)
{
    const bool from_out = m->pattern == HWMC_PATTERN_TO_ROOT ? is_root(m) : !is_root(m);

    if (m->in.unlike || m->out.unlike)
        return UINT64_MAX;
    if (m->spread.root < 0)
        return hwmc_vbuf_bytes(&m->out, 0);
    return hwmc_vbuf_bytes(from_out ? &m->out : &m->in, 0);
}

/* Leaders have parts for each rank, and of each. A root keeps its own. */
static int begin_by_leaders(struct hwmc_spread_moves *m)
{
    const uint32_t p = (uint32_t) m->spread.comm->local_size;
    const uint32_t rank = (uint32_t) m->spread.comm->rank;
    struct hwmc_move *give = m->rows, *get = give + p;
    int mpi_errno;

    memset(m->rows, 0, 2 * p * sizeof(*m->rows));
    for (uint32_t i = 0; i < p; i++) {
        if (i == rank && m->spread.root >= 0 && is_root(m))
            continue;
        if (sends(m) && (m->pattern != HWMC_PATTERN_TO_ROOT || i == (uint32_t) m->spread.root))
            give[i] = move_to(m, i);
        if (receives(m) && (m->pattern != HWMC_PATTERN_FROM_ROOT || i == (uint32_t) m->spread.root))
            get[i] = move_from(m, i);
    }
    if (m->pattern == HWMC_PATTERN_SAME) {
        hwmc_chain_init(&m->spread.chain, HWMC_SHARE_STAGES, begin_share);
        return hwmc_share_begin(&m->by.share, &m->spread, give[rank], get);
    }
    if (m->spread.root >= 0)
        move_own(m);
    mpi_errno = hwmc_relay_begin(&m->by.relay, &m->spread, give, get, m->spread.root,
                                 m->pattern == HWMC_PATTERN_TO_ROOT, alike_bytes(m));
    hwmc_chain_init(&m->spread.chain, hwmc_relay_stages(&m->by.relay), begin_relay);
    return mpi_errno;
}

static void free_all(struct hwmc_spread_moves *m, bool store, int *mpi_errno)
{
    int err = MPI_SUCCESS;

    if (receives(m) && m->out.buffer != MPI_IN_PLACE)
        err = hwmc_vbuf_end(&m->out, store);
    if (sends(m) && m->in.buffer != MPI_IN_PLACE)
        hwmc_vbuf_end(&m->in, false);
    MPL_free(m->copy);
    MPL_free(m->rows);
    if (*mpi_errno == MPI_SUCCESS)
        *mpi_errno = err;
}

static int begin_move(struct hwmc_spread *s)
{
    struct hwmc_spread_moves *m = (struct hwmc_spread_moves *) s;
    const size_t p = (size_t) s->comm->local_size;
    const bool in_place = m->in.buffer == MPI_IN_PLACE;
    int mpi_errno = MPI_SUCCESS;

    m->copy = NULL;
    m->in.packed = m->out.packed = NULL;
    m->in.each = m->out.each = NULL;
    m->rows = MPL_malloc(p * (2 * sizeof(*m->rows) + sizeof(*m->blocks)), MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!m->rows, mpi_errno, MPI_ERR_OTHER, "**nomem");
    m->blocks = (struct hwmc_turn *) (m->rows + 2 * p);
    if (receives(m) && m->out.buffer != MPI_IN_PLACE)
        mpi_errno = hwmc_vbuf_begin(&m->out, in_place);
    MPIR_ERR_CHECK(mpi_errno);
    if (sends(m) && !in_place)
        mpi_errno = hwmc_vbuf_begin(&m->in, true);
    MPIR_ERR_CHECK(mpi_errno);
    if (in_place && m->pattern == HWMC_PATTERN_EACH)
        mpi_errno = copy_out(m);
    MPIR_ERR_CHECK(mpi_errno);
    if (s->c->by_hosts)
        mpi_errno = begin_by_leaders(m);
    else
        hwmc_chain_init(&s->chain, 1, begin_moves);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    free_all(m, false, &mpi_errno);
    goto fn_exit;
}

static int end_move(struct hwmc_spread *s, int mpi_errno)
{
    struct hwmc_spread_moves *m = (struct hwmc_spread_moves *) s;

    if (s->c->by_hosts && m->pattern == HWMC_PATTERN_SAME)
        hwmc_share_end(&m->by.share);
    else if (s->c->by_hosts)
        hwmc_relay_end(&m->by.relay);
    free_all(m, mpi_errno == MPI_SUCCESS, &mpi_errno);
    return mpi_errno;
}

/* Of a long all-to-all hosts have as much for each other by leaders as by ranks alone, so leaders
 * save nothing but by several rails at a time, or on a slow line by their pace (core/model/pace.h).
 */
static bool leaders_win_long(void)
{
    return hwmc_network_has_rails() || !hwmc_model_is_fast(hwmc_network_now());
}

/* Leaders send what their hosts have for each other in one message, where ranks alone send one for
 * each pair. */
static bool moves_win(const struct hwmc_spread *s, uint32_t most)
{
    const struct hwmc_spread_moves *m = (const struct hwmc_spread_moves *) s;

    if (m->spread.root >= 0 || m->pattern == HWMC_PATTERN_SAME || leaders_win_long())
        return true;
    return s->length != HWMC_LENGTH_UNKNOWN &&
           !hwmc_model_is_long(hwmc_network_now(), (uint64_t) most * most * s->length);
}

/* Parts that may differ in length. */
static int move_v_by_mpich(struct hwmc_spread *s)
{
    struct hwmc_spread_moves *m = (struct hwmc_spread_moves *) s;
    const struct hwmc_vbuf *in = &m->in, *out = &m->out;

    switch (m->pattern) {
        case HWMC_PATTERN_TO_ROOT:
            return MPIR_Gatherv(in->buffer, in->count, in->type, out->buffer, out->counts,
                                out->displs, out->type, s->root, s->comm, HWMC_NO_ERRORS);
        case HWMC_PATTERN_FROM_ROOT:
            return MPIR_Scatterv(in->buffer, in->counts, in->displs, in->type, out->buffer,
                                 out->count, out->type, s->root, s->comm, HWMC_NO_ERRORS);
        case HWMC_PATTERN_SAME:
            return MPIR_Allgatherv(in->buffer, in->count, in->type, out->buffer, out->counts,
                                   out->displs, out->type, s->comm, HWMC_NO_ERRORS);
        default:
            if (out->types)
                return MPIR_Alltoallw(in->buffer, in->counts, in->displs, in->types, out->buffer,
                                      out->counts, out->displs, out->types, s->comm,
                                      HWMC_NO_ERRORS);
            return MPIR_Alltoallv(in->buffer, in->counts, in->displs, in->type, out->buffer,
                                  out->counts, out->displs, out->type, s->comm, HWMC_NO_ERRORS);
    }
}

static int move_by_mpich(struct hwmc_spread *s)
{
    struct hwmc_spread_moves *m = (struct hwmc_spread_moves *) s;
    const struct hwmc_vbuf *in = &m->in, *out = &m->out;

    if (in->unlike || out->unlike)
        return move_v_by_mpich(s);
    switch (m->pattern) {
        case HWMC_PATTERN_TO_ROOT:
            return MPIR_Gather(in->buffer, in->count, in->type, out->buffer, out->count, out->type,
                               s->root, s->comm, HWMC_NO_ERRORS);
        case HWMC_PATTERN_FROM_ROOT:
            return MPIR_Scatter(in->buffer, in->count, in->type, out->buffer, out->count, out->type,
                                s->root, s->comm, HWMC_NO_ERRORS);
        case HWMC_PATTERN_SAME:
            return MPIR_Allgather(in->buffer, in->count, in->type, out->buffer, out->count,
                                  out->type, s->comm, HWMC_NO_ERRORS);
        default:
            return MPIR_Alltoall(in->buffer, in->count, in->type, out->buffer, out->count,
                                 out->type, s->comm, HWMC_NO_ERRORS);
    }
}

/* Leaders copy a byte in about a nanosecond, to memory and from it together. So a part goes by
 * itself if it has more bytes than a host is busy with a message in ns. */
static uint64_t most_of_short(const struct hwmc_spread *s)
{
    const struct hwmc_network *net = hwmc_network_now();

    return s->c->by_hosts ? net->message_ns : hwmc_pace_short(net, hwmc_spread_members(s));
}

static int move_split(struct hwmc_spread_moves *m)
{
    struct hwmc_spread *s = &m->spread;
    const uint64_t most = most_of_short(s);
    const bool by_leaders = s->c->by_hosts; /* so are short parts */
    struct hwmc_split in = {.counts = NULL}, out = {.counts = NULL};
    struct hwmc_direct_parts parts = {.num = 0};
    int mpi_errno = MPI_SUCCESS, err;

    if (!hwmc_split_begin(&in, &m->in, most, by_leaders) ||
        !hwmc_split_begin(&out, &m->out, most, by_leaders)) {
        hwmc_leader_groups_break(s->c); /* others wait for this rank */
    } else {
        mpi_errno = hwmc_direct_parts_begin(&parts, &in.direct, &out.direct, s->comm);
        m->in = in.rest;
        m->out = out.rest;
        m->split = true;
    }
    err = hwmc_spread_run(s);
    if (parts.comm && mpi_errno == MPI_SUCCESS)
        mpi_errno = hwmc_direct_parts_end(&parts);
    mpi_errno = err ? err : mpi_errno;
    hwmc_split_end(&in);
    hwmc_split_end(&out);
    return mpi_errno;
}

static int move_directly(struct hwmc_spread *s)
{
    struct hwmc_spread_moves *m = (struct hwmc_spread_moves *) s;

    if (m->out.unlike)
        return move_split(m);
    switch (m->pattern) {
        case HWMC_PATTERN_TO_ROOT:
            return hwmc_direct_gather(&m->in, &m->out, s->root, s->comm);
        case HWMC_PATTERN_FROM_ROOT:
            return hwmc_direct_scatter(&m->in, &m->out, s->root, s->comm);
        default:
            return hwmc_direct_alltoall(&m->in, &m->out, s->comm);
    }
}

static bool fits_directly(const struct hwmc_spread *s)
{
    const struct hwmc_spread_moves *m = (const struct hwmc_spread_moves *) s;

    if (m->pattern != HWMC_PATTERN_EACH)
        return s->root >= 0 && s->length != HWMC_LENGTH_UNKNOWN;
    if (m->in.buffer == MPI_IN_PLACE)
        return false;
    if (!m->out.unlike)
        return true;
    return s->c->by_hosts ? !leaders_win_long() : !hwmc_model_is_fast(hwmc_network_now());
}

static const struct hwmc_spread_ops moves_ops = {.wins = moves_win,
                                                 .begin = begin_move,
                                                 .by_mpich = move_by_mpich,
                                                 .directly = move_directly,
                                                 .fits_directly = fits_directly,
                                                 .end = end_move};

static enum hwmc_coll coll_of(const struct hwmc_spread_moves *m)
{
    switch (m->pattern) {
        case HWMC_PATTERN_TO_ROOT:
            return HWMC_COLL_GATHER;
        case HWMC_PATTERN_FROM_ROOT:
            return HWMC_COLL_SCATTER;
        case HWMC_PATTERN_SAME:
            return HWMC_COLL_ALLGATHER;
        default:
            return m->out.types    ? HWMC_COLL_ALLTOALLW
                   : m->out.unlike ? HWMC_COLL_ALLTOALLV
                                   : HWMC_COLL_ALLTOALL;
    }
}

/* Bytes of a part. Of parts of several lengths only an allgather's are known to all. */
static uint64_t length_of(const struct hwmc_spread_moves *m, const MPIR_Comm *comm)
{
    const bool at_root = m->spread.root == comm->rank;
    const bool sends_parts = m->pattern == HWMC_PATTERN_FROM_ROOT && at_root;
    const bool sends_part = m->pattern == HWMC_PATTERN_TO_ROOT && !at_root;
    const struct hwmc_vbuf *v = sends_parts || sends_part ? &m->in : &m->out;

    if ((m->in.unlike || m->out.unlike) && m->pattern != HWMC_PATTERN_SAME)
        return HWMC_LENGTH_UNKNOWN;
    return hwmc_spread_mean(v->counts, v->count, (int) v->num, v->type);
}

/* A broadcast that weighs as much has the bytes of all parts; as a short one where only a root, or
 * nobody, knows them all. */
static MPI_Aint weight_of(const struct hwmc_spread *s, const MPIR_Comm *comm)
{
    const uint64_t ranks = (uint64_t) comm->local_size;

    if (s->length == HWMC_LENGTH_UNKNOWN || s->length == 0)
        return 1;
    return s->length < INT_MAX / ranks ? (MPI_Aint) (s->length * ranks) : INT_MAX;
}

/* Returns what it weighs. */
static MPI_Aint init_moves(struct hwmc_spread *s, enum hwmc_pattern pattern,
                           const struct hwmc_vbuf *in, const struct hwmc_vbuf *out, int root,
                           const MPIR_Comm *comm)
{
    struct hwmc_spread_moves *m = (struct hwmc_spread_moves *) s;

    s->ops = &moves_ops;
    m->pattern = pattern;
    m->split = false;
    s->root = root;
    m->in = *in;
    m->out = *out;
    s->coll = coll_of(m);
    s->commutative = true; /* nothing is combined */
    s->tries = HWMC_TRIES_CALLS;
    s->length = length_of(m, comm);
    return weight_of(s, comm);
}

MPI_Aint hwmc_spread_of_gather(const struct hwmc_call *call, const MPIR_Comm *comm,
                               struct hwmc_spread *s)
{
    const struct hwmc_gather_call *c = (const struct hwmc_gather_call *) call;

    return init_moves(s, c->root < 0 ? HWMC_PATTERN_SAME : HWMC_PATTERN_TO_ROOT, &c->in, &c->out,
                      c->root, comm);
}

MPI_Aint hwmc_spread_of_scatter(const struct hwmc_call *call, const MPIR_Comm *comm,
                                struct hwmc_spread *s)
{
    const struct hwmc_scatter_call *c = (const struct hwmc_scatter_call *) call;

    return init_moves(s, HWMC_PATTERN_FROM_ROOT, &c->in, &c->out, c->root, comm);
}

MPI_Aint hwmc_spread_of_alltoall(const struct hwmc_call *call, const MPIR_Comm *comm,
                                 struct hwmc_spread *s)
{
    const struct hwmc_alltoall_call *c = (const struct hwmc_alltoall_call *) call;

    return init_moves(s, HWMC_PATTERN_EACH, &c->in, &c->out, -1, comm);
}

bool hwmc_spread_move(enum hwmc_pattern pattern, const struct hwmc_vbuf *in,
                      const struct hwmc_vbuf *out, int root, MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_spread_moves m;
    MPI_Aint weight;

    if (comm->comm_kind != MPIR_COMM_KIND__INTRACOMM) /* counts are of the other group */
        return false;
    weight = init_moves(&m.spread, pattern, in, out, root, comm);
    return hwmc_spread_take(&m.spread, comm, weight, mpi_errno);
}
