/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * turns: jobs on one machine that run side by side and work in turn, a few milliseconds each, so
 * that what the machine does to one of them it does to all. One file, which whoever starts the jobs
 * makes, of zeros.
 *
 * Job k of n works while turn is k, n + k, 2n + k, ...; its rank 0 ends a turn, when all its ranks
 * are through. No turn begins before all jobs are ready, and none ends before all are done. Who
 * waits sleeps until it is woken: dozens of processes that wait take nothing from the one job that
 * works.
 */
#ifndef HWMC_TEST_LAB_TURNS_H_INCLUDED
#define HWMC_TEST_LAB_TURNS_H_INCLUDED

#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What the file begins with. */
struct turns_shared {
    _Atomic unsigned ready, turn, done;
};

struct turns {
    struct turns_shared *shared; /* NULL: this job is alone */
    unsigned jobs, mine;         /* n; the turn of this job that is next */
};

/* Sleeps while the word has the value, until it is woken, or for so long (NULL: no limit). */
static inline void turns_sleep(_Atomic unsigned *word, unsigned value, const struct timespec *most)
{
    syscall(SYS_futex, word, FUTEX_WAIT, value, most, NULL, 0);
}

static inline void turns_wake(_Atomic unsigned *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static inline void turns_wait(_Atomic unsigned *word, unsigned value)
{
    unsigned now;

    while ((now = atomic_load(word)) < value)
        turns_sleep(word, now, NULL);
}

static inline void turns_add(_Atomic unsigned *word)
{
    atomic_fetch_add(word, 1);
    turns_wake(word);
}

/* FILE:K:N. Returns 0 if that is not what it is. */
static inline int turns_open(struct turns *t, const char *text)
{
    char name[1024];
    int fd;
    void *map;

    if (sscanf(text, "%1023[^:]:%u:%u", name, &t->mine, &t->jobs) != 3 || t->mine >= t->jobs)
        return 0;
    fd = open(name, O_RDWR);
    if (fd < 0)
        return 0;
    map = mmap(NULL, sizeof(struct turns_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    t->shared = map == MAP_FAILED ? NULL : map;
    return t->shared != NULL;
}

/* By every rank, before it initializes its library: jobs start one after the other, as what a
 * library measures then it is to measure alone. */
static inline void turns_before(struct turns *t)
{
    if (t->shared)
        turns_wait(&t->shared->ready, t->mine);
}

/* By one rank of each job, when all its ranks have opened it. */
static inline void turns_ready(struct turns *t)
{
    if (t->shared)
        turns_add(&t->shared->ready);
}

/* By every rank. */
static inline void turns_begin(struct turns *t)
{
    if (!t->shared)
        return;
    turns_wait(&t->shared->ready, t->jobs);
    turns_wait(&t->shared->turn, t->mine);
    t->mine += t->jobs;
}

/* By one rank, when all are through. */
static inline void turns_end(struct turns *t)
{
    if (t->shared)
        turns_add(&t->shared->turn);
}

/* By every rank; `first` is true on one. */
static inline void turns_done(struct turns *t, int first)
{
    if (!t->shared)
        return;
    if (first)
        turns_add(&t->shared->done);
    turns_wait(&t->shared->done, t->jobs);
}

#endif /* HWMC_TEST_LAB_TURNS_H_INCLUDED */
