/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * glibc puts a thread's copy of all thread-local variables that the program and its libraries have
 * from the start on the stack that its creator gives it. There may be megabytes of them, so the
 * stack is made that much longer.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif

#include "mpidimpl.h"
#include "../base/global.h"
#include "exit_pmi.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define OWN_BYTES                                                                                  \
    (256 * 1024) /* for what the thread does, and what the C library keeps of a thread */

static struct {
    bool entered;
    pthread_t thread;
    int mpi_errno;
    atomic_bool done;
    void *map; /* a page that nobody may touch, and the stack; NULL: there is none */
    size_t bytes, page;
} barrier;

/* Adds what thread-local variables of a loaded object take of each thread's stack, at most. */
static int add_tls(struct dl_phdr_info *object, size_t size, void *sum)
{
    (void) size;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *) sum += object->dlpi_phdr[i].p_memsz + object->dlpi_phdr[i].p_align;
    return 0;
}

void hwmc_exit_pmi_reserve(void)
{
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    size_t bytes = OWN_BYTES;
    void *map;

    if (barrier.map)
        return;
    dl_iterate_phdr(add_tls, &bytes);
    bytes = (bytes + page - 1) / page * page + page;
    map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (map == MAP_FAILED)
        return;
    mprotect(map, page, PROT_NONE);
    barrier.map = map;
    barrier.bytes = bytes;
    barrier.page = page;
}

static void *wait_in_barrier(void *unused)
{
    barrier.mpi_errno = MPIR_pmi_barrier();
    atomic_store(&barrier.done, true);
    return unused;
}

static int start_on_reserved(void)
{
    pthread_attr_t attributes;
    int err;

    pthread_attr_init(&attributes);
    err = pthread_attr_setstack(&attributes, (char *) barrier.map + barrier.page,
                                barrier.bytes - barrier.page);
    if (err == 0)
        err = pthread_create(&barrier.thread, &attributes, wait_in_barrier, NULL);
    pthread_attr_destroy(&attributes);
    return err;
}

int hwmc_exit_pmi_enter(void)
{
    int err = EINVAL, mpi_errno = MPI_SUCCESS;

    if (barrier.entered)
        goto fn_exit;
    atomic_store(&barrier.done, false);
    if (barrier.map)
        err = start_on_reserved();
    if (err == EINVAL) /* it does not suffice: the C library knows by itself what does */
        err = pthread_create(&barrier.thread, NULL, wait_in_barrier, NULL);
    MPIR_ERR_CHKANDJUMP1(err != 0, mpi_errno, MPI_ERR_OTHER, "**hwmc_end_thread",
                         "**hwmc_end_thread %s", strerror(err));
    barrier.entered = true;
    hwmc_global.pmi_in_use = true;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

bool hwmc_exit_pmi_is_over(int *mpi_errno)
{
    if (!atomic_load(&barrier.done))
        return false;
    pthread_join(barrier.thread, NULL);
    if (barrier.map)
        munmap(barrier.map, barrier.bytes);
    barrier.map = NULL;
    barrier.entered = false;
    hwmc_global.pmi_in_use = false;
    *mpi_errno = barrier.mpi_errno;
    return true;
}
