/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The writing side of live.h. Without a file for it everything is kept in the process's own memory: PVARs need no
 * more.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif

#include "glue.h"
#include "live.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static struct bcast_hw_live own;
static struct bcast_hw_live *live = &own;
static bool is_open;

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
