/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The writing side of export.h. Without a file for it everything is kept in the process's own
 * memory: PVARs and the summary need no more.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif

#include "mpiimpl.h"
#include "counters.h"
#include "export.h"
#include "../engine/engine.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static struct hwmc_export own;
static struct hwmc_export *live = &own;
static bool is_open;
static pthread_mutex_t comms_lock = PTHREAD_MUTEX_INITIALIZER;

/* Memory that others can map and not write to; NULL where the system has none. The descriptor stays
 * as long as the process, for by that it is found. */
static struct hwmc_export *make(void)
{
    void *m = MAP_FAILED;
    int fd = memfd_create(HWMC_EXPORT_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return NULL;
    if (posix_fallocate(fd, 0, sizeof(own)) == 0)
        m = mmap(NULL, sizeof(own), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) {
        close(fd);
        return NULL;
    }
#ifdef F_SEAL_FUTURE_WRITE
    /* Linux 5.1; before, whoever may trace the process could write here as well as anywhere else in
     * it. */
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
#endif
    return m;
}

bool hwmc_export_open(const char *version)
{
    struct hwmc_export *made;

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
    live->magic = HWMC_EXPORT_MAGIC;
    return true;
}

const struct hwmc_export *hwmc_export_page(void)
{
    return live;
}

/* The PVAR of a state is an int. */
static void read_state(void *word, void *object ATTRIBUTE((unused)), int count ATTRIBUTE((unused)),
                       void *value)
{
    *(int *) value = (int) *(uint64_t *) word;
}

static MPI_T_enum enumeration_of(const struct hwmc_counter *c)
{
    MPI_T_enum e;

    MPIR_T_enum_create(c->name, &e);
    for (int i = 0; c->states[i]; i++)
        MPIR_T_enum_add_item(e, c->states[i], i);
    return e;
}

static void register_state(const struct hwmc_counter *c, uint64_t *word)
{
    MPIR_T_PVAR_STMT(HWMC, MPIR_T_PVAR_REGISTER_impl(
                               MPI_T_PVAR_CLASS_STATE, MPI_INT, c->name, word, 1, enumeration_of(c),
                               MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_NO_OBJECT,
                               MPIR_T_PVAR_FLAG_READONLY | MPIR_T_PVAR_FLAG_CONTINUOUS, read_state,
                               NULL, "HWMC", c->text));
}

static void register_number(const struct hwmc_counter *c, uint64_t *word)
{
    const int class = c->kind == HWMC_COUNTER ? MPI_T_PVAR_CLASS_COUNTER
                      : c->kind == HWMC_LEVEL ? MPI_T_PVAR_CLASS_LEVEL
                                              : MPI_T_PVAR_CLASS_GENERIC;

    MPIR_T_PVAR_STMT(HWMC, MPIR_T_PVAR_REGISTER_impl(
                               class, MPI_UNSIGNED_LONG_LONG, c->name, word, 1, MPI_T_ENUM_NULL,
                               MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_NO_OBJECT,
                               MPIR_T_PVAR_FLAG_READONLY | MPIR_T_PVAR_FLAG_CONTINUOUS, NULL, NULL,
                               "HWMC", c->text));
}

static void keep_text(uint32_t at, const char *text)
{
    static size_t used;
    const size_t bytes = strlen(text) + 1;

    MPIR_Assert(used + bytes <= HWMC_EXPORT_TEXTS);
    live->text[at] = (uint16_t) used;
    memcpy(&live->texts[used], text, bytes);
    used += bytes;
}

uint64_t *hwmc_counters_register(const struct hwmc_counter *list, uint32_t num)
{
    const uint32_t first = live->num_counters;

    MPL_COMPILE_TIME_ASSERT(sizeof(unsigned long long) == sizeof(uint64_t)); /* as PVARs have it */
    MPIR_Assert(is_open && first + num <= HWMC_EXPORT_COUNTERS);
    for (uint32_t i = 0; i < num; i++) {
        const uint32_t at = first + i;

        MPIR_Assert(strlen(list[i].name) < HWMC_EXPORT_NAME);
        strcpy(live->name[at], list[i].name);
        live->kind[at] = (uint8_t) list[i].kind;
        keep_text(at, list[i].text);
        if (list[i].kind == HWMC_STATE)
            register_state(&list[i], &live->value[at]);
        else
            register_number(&list[i], &live->value[at]);
    }
    atomic_store_explicit(&live->num_counters, first + num, memory_order_release);
    return &live->value[first];
}

void hwmc_export_note_rail(uint32_t number, const struct hwmc_rail *port, const char *fabric)
{
    const uint32_t n = live->num_rails;

    MPIR_Assert(n < HWMC_RAILS_MAX);
    live->rail[n].number = number;
    live->rail[n].port = *port;
    snprintf(live->rail[n].fabric, sizeof(live->rail[n].fabric), "%s", fabric);
    atomic_store_explicit(&live->num_rails, n + 1, memory_order_release);
}

static void begin_write(_Atomic uint32_t *turn)
{
    atomic_store_explicit(turn, *turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end_write(_Atomic uint32_t *turn)
{
    atomic_store_explicit(turn, *turn + 1, memory_order_release);
}

/* Finds room, unless the communicator has it. */
static struct hwmc_export_comm *room_of(struct hwmc_export_place *place)
{
    for (uint32_t i = 0; !place->at && i < HWMC_EXPORT_COMMS; i++)
        if (live->comm[i].ranks == 0)
            place->at = &live->comm[i];
    return place->at;
}

void hwmc_export_show(struct hwmc_export_place *place, const struct hwmc_export_comm *comm)
{
    struct hwmc_export_comm *p;

    pthread_mutex_lock(&comms_lock);
    if (!place->counted)
        live->num_comms++;
    place->counted = true;
    p = room_of(place);
    if (p) {
        begin_write(&p->turn);
        p->context = comm->context;
        p->ranks = comm->ranks;
        p->rank = comm->rank;
        memcpy(p->name, comm->name, sizeof(p->name));
        memcpy(p->network, comm->network, sizeof(p->network));
        memcpy(p->host, comm->host, sizeof(p->host));
        end_write(&p->turn);
    }
    pthread_mutex_unlock(&comms_lock);
}

void hwmc_export_hide(struct hwmc_export_place *place)
{
    pthread_mutex_lock(&comms_lock);
    if (place->at) {
        begin_write(&place->at->turn);
        place->at->ranks = 0;
        end_write(&place->at->turn);
    }
    if (place->counted)
        live->num_comms--;
    pthread_mutex_unlock(&comms_lock);
}

/* Groups: under the lock of the engine. */

static struct hwmc_export_cast *cast_of(struct hwmc_group *g)
{
    for (uint32_t i = 0; !g->place && i < HWMC_EXPORT_CASTS; i++)
        if (live->cast[i].ranks == 0)
            g->place = &live->cast[i];
    return g->place;
}

void hwmc_export_note_cast(struct hwmc_group *g, bool first)
{
    const struct hwmc_epoch *e = &g->stream.epoch;
    struct hwmc_export_cast *p = cast_of(g);

    if (first)
        live->num_casts++;
    if (!p)
        return;
    begin_write(&p->turn);
    p->context = g->cfg.context;
    p->part = g->cfg.part;
    p->ranks = g->cfg.size;
    p->rank = g->cfg.rank;
    p->agreed = e->cfg.policy.first.rails;
    p->rails = e->now.rails;
    p->broken = g->state == HWMC_GROUP_BROKEN;
    p->lost = p->broken ? g->world[g->loss.rank] : 0;
    memcpy(p->stand, e->stand, sizeof(p->stand));
    end_write(&p->turn);
}

void hwmc_export_forget(struct hwmc_group *g)
{
    struct hwmc_export_cast *p = g->place;

    if (!g->shown)
        return;
    live->num_casts--;
    g->place = NULL;
    if (!p)
        return;
    begin_write(&p->turn);
    p->ranks = 0;
    end_write(&p->turn);
}

void hwmc_export_note_lane(uint32_t number, const struct hwmc_export_lane *lane)
{
    struct hwmc_export_lane *p = &live->lane[number];

    MPIR_Assert(number < HWMC_EXPORT_LANES);
    begin_write(&p->turn);
    p->open = lane->open;
    p->sessions = lane->sessions;
    p->rail = lane->rail;
    memcpy(p->kind, lane->kind, sizeof(p->kind));
    memcpy(p->carries, lane->carries, sizeof(p->carries));
    p->stand = lane->stand;
    end_write(&p->turn);
}
