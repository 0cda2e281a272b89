/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A message is cut into frames of at most CHUNK bytes of data. Each begins with struct am_head; in the first
 * one of a message the active message's header stands before the data. Messages are counted by their sender for
 * each receiver, who puts them together wherever their frames come by and hands them over in that order.
 *
 * State is guarded by the engine's lock, which is not held around a call of MPICH: what is complete is
 * collected under the lock and told when it is free.
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_am.h"

#define CHUNK 16384u /* small enough that little waits behind it on a slow rail */

struct am_head {
    uint64_t data_sz;
    uint64_t offset; /* of this frame's body in the data */
    uint32_t id;
    uint16_t handler;
    uint16_t hdr_sz;
};

/* A message on its way out. */
struct out {
    struct out *next;
    struct am_head head; /* offset: what has gone */
    bool started;        /* its first frame has */
    const void *hdr;
    const char *data;
    void *packed;       /* the data, if they were not in one piece; NULL */
    MPIR_Request *sreq; /* NULL: nobody is told */
};

/* A message on its way in. */
struct in {
    struct in *next;
    struct am_head head;
    uint64_t got; /* bytes of data */
    void *hdr;    /* NULL: not here yet */
    char *data;
};

struct peer {
    struct out *first, **end; /* waiting to go */
    struct in *coming;        /* by id, some missing perhaps */
    uint32_t out_id, in_id;   /* of the next one out, and to be handed over */
    bool listed;
    uint32_t next; /* of the peers that something waits for */
};

#define NOBODY UINT32_MAX

static struct hwmc_links *links; /* NULL: closed */
static uint32_t first_stream, num_streams;
static struct peer *peers; /* one for each process of MPI_COMM_WORLD */
static uint32_t waiting;   /* the first peer that something waits for */
static struct out *sent;   /* complete, to be told */
static struct in *came, **came_end;
static bool no_memory; /* a message could not be taken */

/* Sending. */

/* The stream for the next frame: a short message keeps to the first one, where it overtakes nothing. */
static int choose_stream(uint32_t peer, const struct out *m, uint32_t *stream)
{
    uint32_t most = 0;

    *stream = first_stream;
    for (uint32_t i = 0; i < num_streams; i++) {
        uint32_t room = hwmc_links_room(links, first_stream + i, peer);

        if (room > most) {
            most = room;
            *stream = first_stream + i;
        }
        if (m->head.data_sz <= CHUNK)
            break;
    }
    return most > 0 ? BCAST_HW_OK : BCAST_HW_AGAIN;
}

static int send_frame(uint32_t peer, struct out *m)
{
    static char first[UINT16_MAX + CHUNK];
    size_t len = MPL_MIN(m->head.data_sz - m->head.offset, CHUNK);
    const char *body = m->data + m->head.offset;
    size_t body_len = len;
    uint32_t stream;

    if (choose_stream(peer, m, &stream) != BCAST_HW_OK)
        return BCAST_HW_AGAIN;
    if (!m->started) {
        memcpy(first, m->hdr, m->head.hdr_sz);
        if (len > 0)
            memcpy(first + m->head.hdr_sz, body, len);
        body = first;
        body_len += m->head.hdr_sz;
    }
    if (hwmc_links_send(links, stream, peer, &m->head, sizeof(m->head), body, body_len, NULL) !=
        BCAST_HW_OK)
        return BCAST_HW_AGAIN; /* no memory at present */
    m->started = true;
    m->head.offset += len;
    return BCAST_HW_OK;
}

static bool send_all(uint32_t peer, struct out *m)
{
    while (!m->started || m->head.offset < m->head.data_sz)
        if (send_frame(peer, m) != BCAST_HW_OK)
            return false;
    return true;
}

static void send_waiting(uint32_t rank)
{
    struct peer *p = &peers[rank];

    while (p->first && send_all(rank, p->first)) {
        struct out *m = p->first;

        p->first = m->next;
        m->next = sent;
        sent = m;
    }
    if (!p->first)
        p->end = &p->first;
}

/* A copy of the message, with its header, that waits for its turn. False: no memory. */
static bool enqueue(uint32_t rank, const struct out *m)
{
    struct peer *p = &peers[rank];
    struct out *copy = MPL_malloc(sizeof(*copy) + m->head.hdr_sz, MPL_MEM_BUFFER);

    if (!copy)
        return false;
    *copy = *m;
    copy->next = NULL;
    copy->hdr = memcpy(copy + 1, m->hdr, m->head.hdr_sz);
    *p->end = copy;
    p->end = &copy->next;
    if (!p->listed) {
        p->listed = true;
        p->next = waiting;
        waiting = rank;
    }
    return true;
}

static bool take(uint32_t rank, const struct am_head *head, const void *hdr, const void *body,
                 size_t len);

/* True: it is on its way or waits to be; *done: the data are not needed any more. */
static bool send_or_wait(uint32_t rank, struct out *m, bool *done)
{
    struct peer *p = &peers[rank];

    m->head.id = p->out_id;
    *done = rank == (uint32_t) MPIR_Process.rank
                ? take(rank, &m->head, m->hdr, m->data, m->head.data_sz)
                : !p->first && send_all(rank, m);
    if (!*done && (rank == (uint32_t) MPIR_Process.rank || !enqueue(rank, m)))
        return false;
    p->out_id++;
    return true;
}

static int start(int rank, MPIR_Comm *comm, struct out *m)
{
    int mpi_errno = MPI_SUCCESS;
    bool done, ok;
    uint32_t peer;

    ok = MPIR_Bcast_hw_world_rank(comm, rank, &peer);
    MPIR_Assert(ok); /* or the communicator would not be carried */
    MPIR_Bcast_hw_lock();
    ok = send_or_wait(peer, m, &done);
    MPIR_Bcast_hw_unlock();
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

int MPIDI_HWMC_am_isend(int rank, MPIR_Comm *comm, int handler_id, const void *am_hdr,
                        MPI_Aint am_hdr_sz, const void *data, MPI_Aint count, MPI_Datatype datatype,
                        MPIR_Request *sreq)
{
    int mpi_errno = MPI_SUCCESS;
    struct out m = {.hdr = am_hdr, .sreq = sreq};
    MPIR_Datatype *dt_ptr ATTRIBUTE((unused));
    MPI_Aint true_lb, packed;
    size_t data_sz;
    int contig;

    MPIDI_Datatype_get_info(count, datatype, contig, data_sz, dt_ptr, true_lb);
    m.head = (struct am_head){
        .data_sz = data_sz, .handler = (uint16_t) handler_id, .hdr_sz = (uint16_t) am_hdr_sz};
    if (contig) {
        m.data = MPIR_get_contig_ptr(data, true_lb);
    } else {
        m.data = m.packed = MPL_malloc(data_sz, MPL_MEM_BUFFER);
        MPIR_ERR_CHKANDJUMP(!m.packed, mpi_errno, MPI_ERR_OTHER, "**nomem");
        mpi_errno = MPIR_Typerep_pack(data, count, datatype, 0, m.packed, (MPI_Aint) data_sz,
                                      &packed MPIR_BCAST_HW_TYPEREP_FLAGS);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = start(rank, comm, &m);

fn_exit:
    return mpi_errno;
fn_fail:
    MPL_free(m.packed);
    goto fn_exit;
}

int MPIDI_HWMC_am_send_hdr(int rank, MPIR_Comm *comm, int handler_id, const void *am_hdr,
                           MPI_Aint am_hdr_sz)
{
    struct out m = {.hdr = am_hdr,
                    .head = {.handler = (uint16_t) handler_id, .hdr_sz = (uint16_t) am_hdr_sz}};

    return start(rank, comm, &m);
}

/* Receiving. */

static void forget(struct in *m)
{
    MPL_free(m->hdr);
    MPL_free(m->data);
    MPL_free(m);
}

/* The message that a frame belongs to; NULL without memory. */
static struct in *find(struct peer *p, const struct am_head *head)
{
    struct in **at = &p->coming, *m;

    while (*at && (int32_t) ((*at)->head.id - head->id) < 0)
        at = &(*at)->next;
    if (*at && (*at)->head.id == head->id)
        return *at;
    m = MPL_calloc(1, sizeof(*m), MPL_MEM_BUFFER);
    if (!m)
        return NULL;
    m->head = *head;
    m->data = head->data_sz > 0 ? MPL_malloc(head->data_sz, MPL_MEM_BUFFER) : NULL;
    if (head->data_sz > 0 && !m->data) {
        MPL_free(m);
        return NULL;
    }
    m->next = *at;
    *at = m;
    return m;
}

static bool is_whole(const struct in *m)
{
    return m->hdr && m->got == m->head.data_sz;
}

static void collect(struct peer *p)
{
    while (p->coming && p->coming->head.id == p->in_id && is_whole(p->coming)) {
        struct in *m = p->coming;

        p->coming = m->next;
        p->in_id++;
        m->next = NULL;
        *came_end = m;
        came_end = &m->next;
    }
}

/* False: no memory. */
static bool take(uint32_t rank, const struct am_head *head, const void *hdr, const void *body,
                 size_t len)
{
    struct in *m = find(&peers[rank], head);

    if (!m)
        return false;
    if (hdr && !m->hdr) {
        m->hdr = MPL_malloc(MPL_MAX(head->hdr_sz, 1), MPL_MEM_BUFFER);
        if (!m->hdr)
            return false;
        memcpy(m->hdr, hdr, head->hdr_sz);
    }
    if (len > 0)
        memcpy(m->data + head->offset, body, len);
    m->got += len;
    collect(&peers[rank]);
    return true;
}

/* The frame is what it says, and of a message that is not complete. */
static bool is_sound(uint32_t rank, const struct am_head *head, size_t len)
{
    size_t hdr_sz = head->offset == 0 ? head->hdr_sz : 0;

    return head->handler < MPIDI_AM_HANDLERS_MAX &&
           MPIDIG_global.target_msg_cbs[head->handler] != NULL && len >= hdr_sz &&
           len - hdr_sz <= head->data_sz && head->offset <= head->data_sz - (len - hdr_sz) &&
           (int32_t) (head->id - peers[rank].in_id) >= 0;
}

static void on_recv(void *ctx, uint32_t rank, const void *head, size_t head_len, const void *body,
                    size_t body_len)
{
    struct am_head h;
    size_t hdr_sz;

    if (head_len != sizeof(h))
        return;
    memcpy(&h, head, sizeof(h));
    if (!is_sound(rank, &h, body_len))
        return;
    hdr_sz = h.offset == 0 ? h.hdr_sz : 0;
    if (!take(rank, &h, h.offset == 0 ? body : NULL, (const char *) body + hdr_sz,
              body_len - hdr_sz))
        no_memory = true;
}

static int hand_over(struct in *m)
{
    int mpi_errno = MPI_SUCCESS;
    uint32_t attr = 0; /* not local, not asynchronous, VCI 0 to VCI 0 */

    mpi_errno = MPIDIG_global.target_msg_cbs[m->head.handler](
        m->hdr, m->data, (MPI_Aint) m->head.data_sz, attr, NULL);
    forget(m);
    return mpi_errno;
}

/* Progress. */

static void send_all_waiting(void)
{
    uint32_t *at = &waiting;

    while (*at != NOBODY) {
        struct peer *p = &peers[*at];

        send_waiting(*at);
        if (p->first) {
            at = &p->next;
        } else {
            p->listed = false;
            *at = p->next;
        }
    }
}

/* All that went and all that came; an error of one does not keep the others waiting. */
static int tell(struct out *done, struct in *whole, int *events)
{
    int mpi_errno = MPI_SUCCESS;

    while (done) {
        struct out *m = done;
        int err = m->sreq ? MPIDIG_global.origin_cbs[m->head.handler](m->sreq) : MPI_SUCCESS;

        mpi_errno = mpi_errno ? mpi_errno : err;
        done = m->next;
        MPL_free(m->packed);
        MPL_free(m);
        ++*events;
    }
    while (whole) {
        struct in *next = whole->next;
        int err = hand_over(whole);

        mpi_errno = mpi_errno ? mpi_errno : err;
        whole = next;
        ++*events;
    }
    return mpi_errno;
}

int MPIDI_HWMC_am_progress(bool polled, int *events)
{
    int mpi_errno = MPI_SUCCESS;
    struct out *done;
    struct in *whole;
    bool lacked;

    MPIR_Bcast_hw_lock();
    *events = polled ? 0 : hwmc_links_poll(links);
    send_all_waiting();
    done = sent;
    sent = NULL;
    whole = came;
    came = NULL;
    came_end = &came;
    lacked = no_memory;
    MPIR_Bcast_hw_unlock();
    mpi_errno = tell(done, whole, events);
    MPIR_ERR_CHKANDJUMP(mpi_errno == MPI_SUCCESS && lacked, mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool MPIDI_HWMC_am_idle(void)
{
    bool idle;

    MPIR_Bcast_hw_lock();
    idle = waiting == NOBODY;
    MPIR_Bcast_hw_unlock();
    return idle;
}

bool MPIDI_HWMC_am_open(struct hwmc_links *l, uint32_t first, uint32_t num)
{
    const struct hwmc_links_upper upper = {.recv = on_recv};

    peers = MPL_calloc((size_t) MPIR_Process.size, sizeof(*peers), MPL_MEM_OTHER);
    if (!peers)
        return false;
    for (int i = 0; i < MPIR_Process.size; i++)
        peers[i].end = &peers[i].first;
    links = l;
    first_stream = first;
    num_streams = num;
    waiting = NOBODY;
    came_end = &came;
    for (uint32_t i = 0; i < num; i++)
        hwmc_links_use(l, first + i, &upper);
    return true;
}

void MPIDI_HWMC_am_close(void)
{
    for (int i = 0; peers && i < MPIR_Process.size; i++)
        while (peers[i].coming) {
            struct in *m = peers[i].coming;

            peers[i].coming = m->next;
            forget(m);
        }
    MPL_free(peers);
    peers = NULL;
    links = NULL;
}
