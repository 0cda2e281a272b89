/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_REFUSED_H_INCLUDED
#define HWMC_TEST_MPI_REFUSED_H_INCLUDED

/* An allocator for a whole program, to be included first, by one file. It refuses what the MPI
 * library asks for, of some sizes; what others ask for, as libraries for communication, it
 * gives. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Requests from `least` to `most` bytes are refused; none where least > most. */
static volatile size_t hwtest_least = 1, hwtest_most;
static volatile int hwtest_refusals; /* how many were */
static const void *hwtest_library;   /* where the MPI library is */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);

static bool hwtest_is_refused(size_t size, const void *caller)
{
    Dl_info from;
    const bool is = size >= hwtest_least && size <= hwtest_most && dladdr(caller, &from) != 0 &&
                    from.dli_fbase == hwtest_library;

    hwtest_refusals += is;
    return is;
}

void *malloc(size_t size)
{
    return hwtest_is_refused(size, __builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return hwtest_is_refused(number * size, __builtin_return_address(0))
               ? NULL
               : __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    return hwtest_is_refused(size, __builtin_return_address(0)) ? NULL
                                                                : __libc_realloc(memory, size);
}

/* Before the others. */
static inline void hwtest_refused_init(void)
{
    Dl_info here;

    if (dladdr((const void *) MPI_Bcast, &here) == 0)
        MPI_Abort(MPI_COMM_WORLD, 77);
    hwtest_library = here.dli_fbase;
}

static inline void hwtest_refuse(size_t least, size_t most)
{
    hwtest_refusals = 0;
    hwtest_least = least;
    hwtest_most = most;
}

static inline void hwtest_refuse_none(void)
{
    hwtest_least = 1;
    hwtest_most = 0;
}

#endif /* HWMC_TEST_MPI_REFUSED_H_INCLUDED */
