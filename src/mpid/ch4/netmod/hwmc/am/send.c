/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * send: messages on their way out. See am_impl.h.
 */

#include "am_impl.h"

struct am_out {
    struct am_out *next;
    struct am_head head; /* offset: what has gone */
    bool started;        /* its first frame has */
    const void *hdr;
    const char *data;
    void *packed;        /* the data, if they were not in one piece; NULL */
    MPIR_Request *sreq;  /* NULL: nobody is told */
    struct hwmc_cma cma; /* of CMA: where the data lie */
};

/* What goes to a process. */
struct box {
    struct am_out *first, **end; /* waiting to go */
    struct am_out *pinned;       /* said where they lie, not read yet */
    uint32_t id;                 /* of the next message */
    bool refuses;                /* cannot read this process's memory */
    bool listed;
    uint32_t next; /* of the boxes that something waits in */
};

#define NOBODY UINT32_MAX

static struct hwmc_sessions *sessions;
static uint32_t first_stream, num_streams;
static struct box *boxes; /* one for each process of MPI_COMM_WORLD */
static uint32_t waiting;  /* the first box that something waits in */
static uint32_t num_lent;
static struct am_out *failed, **failed_end;

/* Frames. */

/* The stream for the next frame: a short message keeps to the first one, where it overtakes
 * nothing. */
static int choose_stream(uint32_t rank, const struct am_out *m, uint32_t *stream)
{
    uint32_t most = 0;

    *stream = first_stream;
    for (uint32_t i = 0; i < num_streams; i++) {
        uint32_t room = hwmc_sessions_room(sessions, first_stream + i, rank);

        if (room > most) {
            most = room;
            *stream = first_stream + i;
        }
        if (m->head.data_sz <= AM_CHUNK || m->head.kind == AM_CMA)
            break;
    }
    return most > 0 ? HWMC_OK : HWMC_AGAIN;
}

/* The header, and `len` bytes behind it, for the first frame. */
static const void *with_header(const struct am_out *m, const void *body, size_t len)
{
    static char frame[UINT16_MAX + AM_CHUNK];

    memcpy(frame, m->hdr, m->head.hdr_sz);
    if (len > 0)
        memcpy(frame + m->head.hdr_sz, body, len);
    return frame;
}

/* AGAIN: the window is full, or there is no memory at present. */
static int send_frame(uint32_t rank, struct am_out *m, const void *body, size_t len)
{
    uint32_t stream;

    if (choose_stream(rank, m, &stream) != HWMC_OK)
        return HWMC_AGAIN;
    if (!m->started) {
        body = with_header(m, body, len);
        len += m->head.hdr_sz;
    }
    if (hwmc_sessions_send(sessions, stream, rank, &m->head, sizeof(m->head), body, len, NULL) !=
        HWMC_OK)
        return HWMC_AGAIN;
    m->started = true;
    return HWMC_OK;
}

static int send_data(uint32_t rank, struct am_out *m)
{
    bool many = m->started && m->head.data_sz >= AM_LONG;
    size_t len = MPL_MIN(m->head.data_sz - m->head.offset, many ? AM_CHUNK_LONG : AM_CHUNK);
    int err = send_frame(rank, m, m->data + m->head.offset, len);

    if (err == HWMC_OK)
        m->head.offset += len;
    return err;
}

/* True: all of it is on its way. */
static bool send_all(uint32_t rank, struct am_out *m)
{
    if (m->head.kind == AM_CMA)
        return send_frame(rank, m, &m->cma, sizeof(m->cma)) == HWMC_OK;
    while (!m->started || m->head.offset < m->head.data_sz)
        if (send_data(rank, m) != HWMC_OK)
            return false;
    return true;
}

/* Boxes. */

static void append(uint32_t rank, struct am_out *m)
{
    struct box *b = &boxes[rank];

    m->next = NULL;
    *b->end = m;
    b->end = &m->next;
    if (!b->listed) {
        b->listed = true;
        b->next = waiting;
        waiting = rank;
    }
}

/* A copy of the message, with its header, that waits for its turn. False: no memory. */
static bool enqueue(uint32_t rank, const struct am_out *m)
{
    struct am_out *copy = MPL_malloc(sizeof(*copy) + m->head.hdr_sz, MPL_MEM_BUFFER);

    if (!copy)
        return false;
    *copy = *m;
    copy->hdr = memcpy(copy + 1, m->hdr, m->head.hdr_sz);
    append(rank, copy);
    return true;
}

/* Behind what is to be told. */
static void retire(struct am_out *m)
{
    m->next = NULL;
    *failed_end = m;
    failed_end = &m->next;
}

static void pin_data(struct box *b, struct am_out *m)
{
    m->next = b->pinned;
    b->pinned = m;
    num_lent++;
}

static void send_waiting(uint32_t rank)
{
    struct box *b = &boxes[rank];

    while (b->first && send_all(rank, b->first)) {
        struct am_out *m = b->first;

        b->first = m->next;
        if (m->head.kind == AM_CMA)
            pin_data(b, m);
        else
            retire(m);
    }
    if (!b->first)
        b->end = &b->first;
}

void hwmc_am_out_pump(void)
{
    uint32_t *at = &waiting;

    while (*at != NOBODY) {
        struct box *b = &boxes[*at];

        send_waiting(*at);
        if (b->first) {
            at = &b->next;
        } else {
            b->listed = false;
            *at = b->next;
        }
    }
}

static struct am_out *take_lent(uint32_t rank, uint32_t id)
{
    struct am_out **at = &boxes[rank].pinned, *m;

    while (*at && (*at)->head.id != id)
        at = &(*at)->next;
    m = *at;
    if (m) {
        *at = m->next;
        num_lent--;
    }
    return m;
}

void hwmc_am_out_got(uint32_t rank, uint32_t id)
{
    struct am_out *m = take_lent(rank, id);

    if (m)
        retire(m);
}

void hwmc_am_out_refused(uint32_t rank, uint32_t id)
{
    struct am_out *m = take_lent(rank, id);

    boxes[rank].refuses = true;
    if (m) {
        m->head.kind = AM_DATA;
        m->started = false;
        append(rank, m);
    }
}

/* New messages. */

static bool can_cma(uint32_t rank, struct am_out *m)
{
    return m->head.data_sz > AM_CHUNK && !boxes[rank].refuses && hwmc_same_host(rank) &&
           hwmc_cma_describe(&m->cma, m->data);
}

/* True: it is on its way or waits to be; *done: the data are not needed any more. */
static bool send_or_wait(uint32_t rank, struct am_out *m, bool *done)
{
    struct box *b = &boxes[rank];
    bool self = rank == (uint32_t) MPIR_Process.rank;

    m->head.id = b->id++;
    if (self) {
        *done = hwmc_am_in_own(&m->head, m->hdr, m->data);
        return *done;
    }
    if (can_cma(rank, m))
        m->head.kind = AM_CMA;
    *done = m->head.kind == AM_DATA && !b->first && send_all(rank, m);
    if (*done)
        return true;
    if (!enqueue(rank, m))
        return false;
    if (m->head.kind == AM_CMA)
        send_waiting(rank);
    return true;
}

static int start(int rank, MPIR_Comm *comm, struct am_out *m)
{
    int mpi_errno = MPI_SUCCESS;
    bool done, ok;
    uint32_t peer;

    ok = hwmc_world_rank(comm, rank, &peer);
    MPIR_Assert(ok); /* or the communicator would not be carried */
    hwmc_lock();
    ok = send_or_wait(peer, m, &done);
    hwmc_unlock();
    MPIR_ERR_CHKANDJUMP(!ok, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (done) {
        MPL_free(m->packed);
        if (m->sreq)
            mpi_errno = MPIDIG_global.origin_cbs[m->head.handler](m->sreq);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    MPL_free(m->packed);
    goto fn_exit;
}

int hwmc_am_isend(int rank, MPIR_Comm *comm, int handler_id, const void *am_hdr, MPI_Aint am_hdr_sz,
                  const void *data, MPI_Aint count, MPI_Datatype datatype, MPIR_Request *sreq)
{
    int mpi_errno = MPI_SUCCESS;
    struct am_out m = {.hdr = am_hdr, .sreq = sreq};
    MPIR_Datatype *dt_ptr ATTRIBUTE((unused));
    MPI_Aint true_lb, packed;
    size_t data_sz;
    int contig;

    MPIDI_Datatype_get_info(count, datatype, contig, data_sz, dt_ptr, true_lb);
    m.head = (struct am_head){
        .data_sz = data_sz, .handler = (uint8_t) handler_id, .hdr_sz = (uint16_t) am_hdr_sz};
    m.data = MPIR_get_contig_ptr(data, true_lb);
    /* The processor does not get at what lies in a device's memory, but MPICH's packing does. */
    if (!contig || MPIR_GPU_query_pointer_is_dev(m.data)) {
        m.data = m.packed = MPL_malloc(data_sz, MPL_MEM_BUFFER);
        MPIR_ERR_CHKANDJUMP(!m.packed, mpi_errno, MPI_ERR_OTHER, "**nomem");
        mpi_errno = MPIR_Typerep_pack(data, count, datatype, 0, m.packed, (MPI_Aint) data_sz,
                                      &packed HWMC_TYPEREP_FLAGS);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = start(rank, comm, &m);

fn_exit:
    return mpi_errno;
fn_fail:
    MPL_free(m.packed);
    goto fn_exit;
}

int hwmc_am_send_hdr(int rank, MPIR_Comm *comm, int handler_id, const void *am_hdr,
                     MPI_Aint am_hdr_sz)
{
    struct am_out m = {.hdr = am_hdr,
                       .head = {.handler = (uint8_t) handler_id, .hdr_sz = (uint16_t) am_hdr_sz}};

    return start(rank, comm, &m);
}

bool hwmc_am_out_answer(uint32_t rank, enum am_kind kind, uint32_t id)
{
    struct am_head head = {.id = id, .kind = (uint8_t) kind};

    return hwmc_sessions_send(sessions, first_stream, rank, &head, sizeof(head), NULL, 0, NULL) ==
           HWMC_OK;
}

/* What is over. */

struct am_out *hwmc_am_out_failed(void)
{
    struct am_out *m = failed;

    if (m)
        failed = m->next;
    if (!failed)
        failed_end = &failed;
    return m;
}

int hwmc_am_out_tell(struct am_out *m)
{
    MPIR_Request *sreq = m->sreq;
    uint8_t handler = m->head.handler;

    MPL_free(m->packed);
    MPL_free(m);
    return sreq ? MPIDIG_global.origin_cbs[handler](sreq) : MPI_SUCCESS;
}

bool hwmc_am_out_idle(void)
{
    return waiting == NOBODY && num_lent == 0;
}

bool hwmc_am_out_open(struct hwmc_sessions *l, uint32_t first, uint32_t num)
{
    boxes = MPL_calloc((size_t) MPIR_Process.size, sizeof(*boxes), MPL_MEM_OTHER);
    if (!boxes)
        return false;
    for (int i = 0; i < MPIR_Process.size; i++)
        boxes[i].end = &boxes[i].first;
    sessions = l;
    first_stream = first;
    num_streams = num;
    waiting = NOBODY;
    failed_end = &failed;
    return true;
}

void hwmc_am_out_close(void)
{
    MPL_free(boxes);
    boxes = NULL;
    sessions = NULL;
}
