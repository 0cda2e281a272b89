/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Messages of one host in resilient mode: what is long is read in the sender's memory, into
 * receives of one piece and of many, posted early and late, and by one-sided operations.
 *
 *   -deaf  ranks with odd numbers are kept from reading others' memory, as a security policy may
 *          do: they must get the same data another way */

#define ROUNDS 4
#define LONGEST ((size_t) 3 << 20)
#define TAG 5

static const size_t sizes[] = {1, 16384, 16385, 65536, 65537, 262144, LONGEST - 1, LONGEST};

/* From now on process_vm_readv answers EPERM. */
static int be_deaf(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
        return 0;
    perror("seccomp");
    return 1;
}

static uint64_t key_of(int round, size_t size, int sender)
{
    return ((uint64_t) round * 64 + size % 61) * 1024 + (uint64_t) sender;
}

/* Ring: each to the next, received in one piece. Odd rounds: the receive comes late. */
static int pieces(int round, size_t bytes, int rank, int size, char *out, char *in)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request req[2];

    hwtest_fill(out, bytes, key_of(round, bytes, rank));
    memset(in, 0, bytes);
    if (round % 2 == 0)
        MPI_Irecv(in, (int) bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &req[0]);
    MPI_Isend(out, (int) bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &req[1]);
    if (round % 2 == 1) {
        MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(in, (int) bytes, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &req[0]);
    }
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    MPI_Wait(&req[1], MPI_STATUS_IGNORE);
    return hwtest_check(in, bytes, key_of(round, bytes, from), "a message in one piece");
}

/* The same into every second word. */
static int scattered(int round, size_t bytes, int rank, int size, char *out, char *in)
{
    int words = (int) (bytes / 16), from = (rank + size - 1) % size;
    int errs = 0;
    MPI_Datatype gaps;

    MPI_Type_vector(words, 1, 2, MPI_UINT64_T, &gaps);
    MPI_Type_commit(&gaps);
    hwtest_fill(out, (size_t) words * 8, key_of(round, bytes, rank));
    memset(in, 0, bytes);
    MPI_Sendrecv(out, words, MPI_UINT64_T, (rank + 1) % size, TAG, in, 1, gaps, from, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < words; i++)
        memcpy(out + (size_t) i * 8, in + (size_t) i * 16, 8);
    errs +=
        hwtest_check(out, (size_t) words * 8, key_of(round, bytes, from), "a scattered message");
    MPI_Type_free(&gaps);
    return errs;
}

/* Put to the next one, got from the one before. */
static int one_sided(int round, size_t bytes, int rank, int size, char *out, char *in, MPI_Win win,
                     char *mine)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int errs = 0;

    hwtest_fill(out, bytes, key_of(round, bytes, rank));
    MPI_Win_fence(0, win);
    MPI_Put(out, (int) bytes, MPI_BYTE, to, 0, (int) bytes, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    errs += hwtest_check(mine, bytes, key_of(round, bytes, from), "what was put");
    MPI_Get(in, (int) bytes, MPI_BYTE, to, 0, (int) bytes, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    return errs + hwtest_check(in, bytes, key_of(round, bytes, rank), "what was got back");
}

/* Which way the messages went; nothing of it without links. */
static int check_ways(int rank, bool deaf)
{
    bool read = hwtest_counter("hwmc_am_read") > 0;
    bool refused = hwtest_counter("hwmc_am_refused") > 0;

    if (hwtest_counter("hwmc_am_received") == 0 || (read == !deaf && refused == deaf))
        return 0;
    printf("rank %d: messages %s read in place, and %s refused\n", rank, read ? "were" : "were not",
           refused ? "some" : "none");
    return 1;
}

int main(int argc, char **argv)
{
    int rank, size, provided, errs = 0;
    bool deaf;
    char *out = malloc(LONGEST), *in = malloc(LONGEST), *mine;
    MPI_Win win;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    deaf = hwtest_flag(argc, argv, "-deaf") && rank % 2 == 1;
    if (deaf)
        errs += be_deaf();
    MPI_Win_allocate((MPI_Aint) LONGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            errs += pieces(round, sizes[i], rank, size, out, in);
            errs += scattered(round, sizes[i], rank, size, out, in);
            errs += one_sided(round, sizes[i], rank, size, out, in, win, mine);
        }
    }
    MPI_Win_free(&win);
    errs += check_ways(rank, deaf);
    free(out);
    free(in);
    /* The last to leave the tools interface: some MPICH cannot be entered a second time. */
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
