/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * recv: messages on their way in. See am_impl.h.
 */

#include "am_impl.h"

#define SEGMENT 65536u /* of what is read where it lies and has to be unpacked; fits into a cache */

struct am_in {
    struct am_in *next;
    uint32_t rank;
    struct am_head head;
    uint64_t got;                      /* bytes of data */
    bool started;                      /* the header is here */
    struct hwmc_cma cma;               /* of CMA: where the data lie */
    char *data;                        /* in `bytes`; NULL: they lie elsewhere */
    char bytes[] MPL_ATTR_ALIGNED(16); /* the header, then the data */
};

/* What comes from a process. */
struct box {
    struct am_in *coming; /* by id, some missing perhaps */
    uint32_t id;          /* of the one to be handed over next */
};

static struct box *boxes; /* one for each process of MPI_COMM_WORLD */
static struct am_in *whole, **whole_end;
static bool (*send_answer)(uint32_t rank, enum am_kind kind, uint32_t id);

static size_t up(size_t len)
{
    return (len + 15) / 16 * 16;
}

/* Where the message with this number, or from a process the next one after that, stands. */
static struct am_in **place_of(uint32_t rank, uint32_t id)
{
    struct am_in **at = &boxes[rank].coming;

    while (*at && (int32_t) ((*at)->head.id - id) < 0)
        at = &(*at)->next;
    return at;
}

/* The message that a frame belongs to, if some of it has come. */
static struct am_in *known(uint32_t rank, uint32_t id)
{
    struct am_in *m = *place_of(rank, id);

    return m && m->head.id == id ? m : NULL;
}

/* The message that a frame belongs to; NULL without memory. */
static struct am_in *find(uint32_t rank, const struct am_head *head)
{
    struct am_in **at = place_of(rank, head->id), *m;
    size_t hdr_room = up(head->hdr_sz);
    size_t data_room = head->kind == AM_DATA ? head->data_sz : 0;

    if (*at && (*at)->head.id == head->id)
        return *at;
    m = MPL_malloc(sizeof(*m) + hdr_room + data_room, MPL_MEM_BUFFER);
    if (!m)
        return NULL;
    m->rank = rank;
    m->head = *head;
    m->got = 0;
    m->started = false;
    m->data = head->kind == AM_DATA ? m->bytes + hdr_room : NULL;
    m->next = *at;
    *at = m;
    return m;
}

static bool is_whole(const struct am_in *m)
{
    return m->started && (!m->data || m->got == m->head.data_sz);
}

/* Moves what is complete and in order behind `whole`. */
static void collect(struct box *b)
{
    while (b->coming && b->coming->head.id == b->id && is_whole(b->coming)) {
        struct am_in *m = b->coming;

        b->coming = m->next;
        b->id++;
        m->next = NULL;
        hwmc_counters.am->am_received++;
        hwmc_counters.am->am_read += m->head.kind == AM_CMA;
        *whole_end = m;
        whole_end = &m->next;
    }
}

/* hdr: NULL but in the first frame. False: no memory. */
static bool take(uint32_t rank, const struct am_head *head, const void *hdr, const void *data,
                 size_t len)
{
    struct am_in *m = find(rank, head);

    if (!m)
        return false;
    if (hdr) {
        memcpy(m->bytes, hdr, head->hdr_sz);
        m->started = true;
    }
    if (head->kind == AM_CMA)
        memcpy(&m->cma, data, sizeof(m->cma));
    else if (len > 0)
        memcpy(m->data + head->offset, data, len);
    m->got += len;
    collect(&boxes[rank]);
    return true;
}

/* The frame is what it says, and of a message that is not complete. */
static bool is_sound(uint32_t rank, const struct am_head *head, size_t len)
{
    return head->handler < MPIDI_AM_HANDLERS_MAX &&
           MPIDIG_global.target_msg_cbs[head->handler] != NULL &&
           (int32_t) (head->id - boxes[rank].id) >= 0 &&
           hwmc_am_head_is_sound(head, len, sizeof(struct hwmc_cma)) &&
           (head->kind != AM_CMA || hwmc_same_host(rank));
}

/* Whether this process may read there. If not it is as if the frame had not come: the data will. */
static bool can_cma(const void *cma)
{
    struct hwmc_cma r;

    memcpy(&r, cma, sizeof(r));
    return hwmc_cma_check(&r);
}

bool hwmc_am_in_frame(uint32_t rank, const struct am_head *head, const void *body, size_t len)
{
    size_t hdr_sz = hwmc_am_head_header_in(head);
    const char *data = (const char *) body + hdr_sz;
    const struct am_in *m;

    if (!is_sound(rank, head, len)) {
        hwmc_counters.am->am_bad++;
        return true;
    }
    m = known(rank, head->id);
    if (m && !hwmc_am_head_is_of(head, len, &m->head, m->got, m->started)) {
        hwmc_counters.am->am_bad++;
        return true;
    }
    if (head->kind == AM_CMA && !can_cma(data)) {
        hwmc_counters.am->am_refused++;
        return send_answer(rank, AM_SEND, head->id);
    }
    return take(rank, head, head->offset == 0 ? body : NULL, data, len - hdr_sz);
}

bool hwmc_am_in_own(const struct am_head *head, const void *hdr, const void *data)
{
    return take((uint32_t) MPIR_Process.rank, head, hdr, data, head->data_sz);
}

/* Handing over. */

/* The buffer of a receive that takes all of the data in one piece, where the kernel can write; NULL
 * where it does not. */
static void *buffer_of(MPIR_Request *rreq, uint64_t data_sz)
{
    void *buf;
    MPIR_Datatype *dt_ptr ATTRIBUTE((unused));
    MPI_Aint true_lb;
    size_t room;
    int contig;

    if (MPIDIG_REQUEST(rreq, req->recv_async).recv_type != MPIDIG_RECV_DATATYPE)
        return NULL;
    MPIDI_Datatype_get_info(MPIDIG_REQUEST(rreq, count), MPIDIG_REQUEST(rreq, datatype), contig,
                            room, dt_ptr, true_lb);
    buf = MPIR_get_contig_ptr(MPIDIG_REQUEST(rreq, buffer), true_lb);
    return contig && room >= data_sz && !MPIR_GPU_query_pointer_is_dev(buf) ? buf : NULL;
}

static bool read_in_segments(const struct am_in *m, MPIR_Request *rreq)
{
    static char segment[SEGMENT];
    uint64_t offset = 0;
    size_t len;

    do {
        len = MPL_MIN(m->head.data_sz - offset, SEGMENT);
        if (!hwmc_cma_read(&m->cma, offset, segment, len))
            return false;
        offset += len;
    } while (!MPIDIG_recv_copy_seg(segment, (MPI_Aint) len, rreq) && offset < m->head.data_sz);
    return true;
}

static bool read_data(const struct am_in *m, MPIR_Request *rreq)
{
    void *buf = buffer_of(rreq, m->head.data_sz);

    if (!buf) {
        MPIDIG_recv_setup(rreq);
        return read_in_segments(m, rreq);
    }
    MPIR_STATUS_SET_COUNT(rreq->status, (MPI_Aint) m->head.data_sz);
    return hwmc_cma_read(&m->cma, 0, buf, m->head.data_sz);
}

static int answer_got(const struct am_in *m)
{
    int mpi_errno = MPI_SUCCESS;
    bool ok;

    hwmc_lock();
    ok = send_answer(m->rank, AM_GOT, m->head.id);
    hwmc_unlock();
    MPIR_ERR_CHKANDJUMP(!ok, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* MPICH says where the data go, and is told when they are there. */
static int hand_over_from_there(struct am_in *m)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *rreq = NULL;

    mpi_errno = MPIDIG_global.target_msg_cbs[m->head.handler](
        m->bytes, NULL, (MPI_Aint) m->head.data_sz, MPIDIG_AM_ATTR__IS_ASYNC, &rreq);
    MPIR_ERR_CHECK(mpi_errno);
    if (rreq) {
        MPIR_ERR_CHKANDJUMP(!read_data(m, rreq), mpi_errno, MPI_ERR_OTHER, "**hwmc_cma");
        mpi_errno = MPIDIG_REQUEST(rreq, req->target_cmpl_cb)(rreq);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = answer_got(m);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int hand_over(struct am_in *m)
{
    uint32_t attr = 0; /* not local, not asynchronous, VCI 0 to VCI 0 */

    if (m->head.kind == AM_CMA)
        return hand_over_from_there(m);
    return MPIDIG_global.target_msg_cbs[m->head.handler](m->bytes, m->data,
                                                         (MPI_Aint) m->head.data_sz, attr, NULL);
}

struct am_in *hwmc_am_in_whole(void)
{
    struct am_in *m = whole;

    if (m)
        whole = m->next;
    if (!whole)
        whole_end = &whole;
    return m;
}

int hwmc_am_in_tell(struct am_in *m)
{
    int mpi_errno = hand_over(m);

    MPL_free(m);
    return mpi_errno;
}

bool hwmc_am_in_open(bool (*answer)(uint32_t rank, enum am_kind kind, uint32_t id))
{
    send_answer = answer;
    boxes = MPL_calloc((size_t) MPIR_Process.size, sizeof(*boxes), MPL_MEM_OTHER);
    whole_end = &whole;
    return boxes != NULL;
}

void hwmc_am_in_close(void)
{
    for (int i = 0; boxes && i < MPIR_Process.size; i++)
        while (boxes[i].coming) {
            struct am_in *m = boxes[i].coming;

            boxes[i].coming = m->next;
            MPL_free(m);
        }
    MPL_free(boxes);
    boxes = NULL;
}
