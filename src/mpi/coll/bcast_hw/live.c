/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The writing side of live.h. Without a file for it everything is kept in the process's own memory: PVARs and the
 * summary need no more.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif

#include "node_glue.h"
#include "live.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static struct bcast_hw_live own;
static struct bcast_hw_live *live = &own;
static bool is_open;
static pthread_mutex_t comms_lock = PTHREAD_MUTEX_INITIALIZER;

/* Memory that others can map and not write to; NULL where the system has none. The descriptor stays as long as the
 * process, for by that it is found. */
static struct bcast_hw_live *make(void)
{
    void *m = MAP_FAILED;
    int fd = memfd_create(BCAST_HW_LIVE_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return NULL;
    if (posix_fallocate(fd, 0, sizeof(own)) == 0)
        m = mmap(NULL, sizeof(own), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) {
        close(fd);
        return NULL;
    }
#ifdef F_SEAL_FUTURE_WRITE
    /* Linux 5.1; before, whoever may trace the process could write here as well as anywhere else in it. */
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
#endif
    return m;
}

bool MPIR_Bcast_hw_live_open(const char *version)
{
    struct bcast_hw_live *made;

    if (is_open)
        return false;
    is_open = true;
    made = make();
    if (made)
        live = made;
    snprintf(live->version, sizeof(live->version), "%s", version);
    live->bytes = sizeof(*live);
    live->rank = (uint32_t) MPIR_Process.rank;
    live->size = (uint32_t) MPIR_Process.size;
    atomic_thread_fence(memory_order_release);
    live->magic = BCAST_HW_LIVE_MAGIC;
    return true;
}

const struct bcast_hw_live *MPIR_Bcast_hw_live(void)
{
    return live;
}

uint64_t *MPIR_Bcast_hw_counters_add(const struct MPIR_Bcast_hw_counter *list, uint32_t num)
{
    const uint32_t first = live->num_counters;

    MPL_COMPILE_TIME_ASSERT(sizeof(unsigned long long) == sizeof(uint64_t)); /* as PVARs have it */
    MPIR_Assert(is_open && first + num <= BCAST_HW_LIVE_COUNTERS);
    for (uint32_t i = 0; i < num; i++) {
        const uint32_t at = first + i;

        MPIR_Assert(strlen(list[i].name) < BCAST_HW_LIVE_NAME);
        strcpy(live->name[at], list[i].name);
        live->level[at] = list[i].level;
        MPIR_T_PVAR_STMT(HWMC,
                         MPIR_T_PVAR_REGISTER_impl(
                             list[i].level ? MPI_T_PVAR_CLASS_LEVEL : MPI_T_PVAR_CLASS_COUNTER,
                             MPI_UNSIGNED_LONG_LONG, list[i].name, &live->value[at], 1,
                             MPI_T_ENUM_NULL, MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_NO_OBJECT,
                             MPIR_T_PVAR_FLAG_READONLY | MPIR_T_PVAR_FLAG_CONTINUOUS, NULL, NULL,
                             "CH4_HWMC", list[i].text));
    }
    atomic_store_explicit(&live->num_counters, first + num, memory_order_release);
    return &live->value[first];
}

void MPIR_Bcast_hw_live_rail(uint32_t number, const struct bcast_hw_rail *port, const char *fabric)
{
    const uint32_t n = live->num_rails;

    MPIR_Assert(n < BCAST_HW_RAILS_MAX);
    live->rail[n].number = number;
    live->rail[n].port = *port;
    snprintf(live->rail[n].fabric, sizeof(live->rail[n].fabric), "%s", fabric);
    atomic_store_explicit(&live->num_rails, n + 1, memory_order_release);
}

/* Why there is no multicast, as the counters bcast_hw_off_* name it. */
static const char *reason_word(const struct bcast_hw_group *g)
{
    switch (g->reason) {
#define X(name, lower, value, text)                                                                \
    case BCAST_HW_REASON_##name:                                                                   \
        return #lower;
        BCAST_HW_REASONS(X)
#undef X
        default:
            return "?";
    }
}

static void write_network(const struct bcast_hw_comm *c, char *text, size_t room)
{
    const struct bcast_hw_side *first = &c->side[0];

    if (c->worth == BCAST_HW_WORTH_NO)
        snprintf(text, room, "left to MPICH");
    else if (first->state == BCAST_HW_SIDE_COUNTING)
        snprintf(text, room, "not yet");
    else if (first->state == BCAST_HW_SIDE_SETUP)
        snprintf(text, room, "being set up");
    else if (first->state == BCAST_HW_SIDE_OFF)
        snprintf(text, room, "off");
    else if (first->state == BCAST_HW_SIDE_BROKEN)
        snprintf(text, room, "broken");
    else if (first->shape.frag_bytes > 0)
        snprintf(text, room, "multicast");
    else if (first->group)
        snprintf(text, room, "trees: %s", reason_word(first->group));
    else /* by hosts, and another rank of this one takes part */
        snprintf(text, room, "trees");
}

static const char *host_words(const struct bcast_hw_node_comm *n)
{
    switch (n ? n->state : BCAST_HW_NODE_SPREAD) {
        case BCAST_HW_NODE_SPREAD:
            return "-";
        case BCAST_HW_NODE_PART:
            return "part of broadcasts";
        case BCAST_HW_NODE_COUNTING:
            return "not yet";
        case BCAST_HW_NODE_ON:
            return "shared memory";
        case BCAST_HW_NODE_OFF:
            return "off";
        default:
            return "broken";
    }
}

/* The place of a communicator, found if it has none; NULL: there is none. */
static struct bcast_hw_live_comm *place_of(struct bcast_hw_comm *c)
{
    for (uint32_t i = 0; !c->live && i < BCAST_HW_LIVE_COMMS; i++)
        if (live->comm[i].ranks == 0)
            c->live = &live->comm[i];
    return c->live;
}

static void begin_write(struct bcast_hw_live_comm *p)
{
    atomic_store_explicit(&p->turn, p->turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end_write(struct bcast_hw_live_comm *p)
{
    atomic_store_explicit(&p->turn, p->turn + 1, memory_order_release);
}

void MPIR_Bcast_hw_live_show(MPIR_Comm *comm, struct bcast_hw_comm *c)
{
    struct bcast_hw_live_comm *p;

    pthread_mutex_lock(&comms_lock);
    if (!c->counted)
        live->num_comms++;
    c->counted = true;
    p = place_of(c);
    if (p) {
        begin_write(p);
        p->context = (uint32_t) comm->context_id;
        p->ranks = (uint32_t) comm->local_size;
        p->rank = (uint32_t) comm->rank;
        snprintf(p->name, sizeof(p->name), "%.31s", comm->name);
        write_network(c, p->network, sizeof(p->network));
        snprintf(p->host, sizeof(p->host), "%s", host_words(c->node));
        end_write(p);
    }
    pthread_mutex_unlock(&comms_lock);
}

void MPIR_Bcast_hw_live_hide(struct bcast_hw_comm *c)
{
    pthread_mutex_lock(&comms_lock);
    if (c->live) {
        begin_write(c->live);
        c->live->ranks = 0;
        end_write(c->live);
    }
    if (c->counted)
        live->num_comms--;
    pthread_mutex_unlock(&comms_lock);
}
