/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_families.h"
#include "hwmc_forms.h"

/* Blocking collectives among other traffic: who waits in one must still move the messages of
 * others.
 *
 * A rank begins to send a long message and goes into a barrier or broadcast that cannot end before
 * its neighbour has received that; nonblocking collectives and messages are under way while
 * blocking ones run on the same communicator; two communicators that overlap are used by turns. */

#define ROUNDS 40
#define LONG ((size_t) 1 << 20)
#define BYTES ((size_t) 70000)

/* Even ranks send, odd ones receive before they come to the collective. */
static int message_first(struct hwtest_call *c, char *message, int family, int round)
{
    uint64_t key = 100 + (uint64_t) round;
    size_t bytes = round % 2 ? LONG : 5000;
    MPI_Request request = MPI_REQUEST_NULL;
    int errs = 0, rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hwtest_prepare(message, bytes, rank % 2 == 0, key);
    if (rank % 2 == 0 && rank + 1 < size)
        MPI_Issend(message, (int) bytes, MPI_BYTE, rank + 1, round, MPI_COMM_WORLD, &request);
    if (rank % 2 == 1) {
        MPI_Recv(message, (int) bytes, MPI_BYTE, rank - 1, round, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        errs += hwtest_verify(message, bytes, key, "message before a collective");
    }
    errs += hwtest_family_call(c, family, 0, round % size, BYTES, key);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return errs;
}

/* The receive is there, the sender comes only after the collective. */
static int message_after(struct hwtest_call *c, char *message, int family, int round)
{
    uint64_t key = 500 + (uint64_t) round;
    size_t bytes = round % 2 ? LONG : 5000;
    MPI_Request request = MPI_REQUEST_NULL;
    int errs, rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hwtest_prepare(message, bytes, rank % 2 == 0, key);
    if (rank % 2 == 1)
        MPI_Irecv(message, (int) bytes, MPI_BYTE, rank - 1, round, MPI_COMM_WORLD, &request);
    errs = hwtest_family_call(c, family, 0, round % size, BYTES, key);
    if (rank % 2 == 0 && rank + 1 < size)
        MPI_Send(message, (int) bytes, MPI_BYTE, rank + 1, round, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank % 2 == 1)
        errs += hwtest_verify(message, bytes, key, "message after a collective");
    return errs;
}

/* Three nonblocking ones begin, blocking ones run, in another order they end. */
static int among_nonblocking(struct hwtest_call *c, char *message, uint64_t *state)
{
    uint64_t key = hwtest_random(state, 1 << 30);
    size_t bytes = hwtest_random_bytes(state, BYTES);
    MPI_Request requests[3];
    int errs = 0, rank, size, root, sum = 0, mine;

    MPI_Comm_rank(c->comm, &rank);
    MPI_Comm_size(c->comm, &size);
    root = (int) hwtest_random(state, (uint64_t) size);
    mine = rank + 1;
    hwtest_prepare(message, bytes, rank == root, key);
    MPI_Ibcast(message, (int) bytes, MPI_BYTE, root, c->comm, &requests[0]);
    errs += hwtest_any_call(c, state, BYTES);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c->comm, &requests[1]);
    errs += hwtest_any_call(c, state, BYTES);
    MPI_Ibarrier(c->comm, &requests[2]);
    errs += hwtest_any_call(c, state, BYTES);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    errs += hwtest_any_call(c, state, BYTES);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    errs += sum != size * (size + 1) / 2;
    return errs + hwtest_verify(message, bytes, key, "nonblocking broadcast");
}

/* A rank of both waits in one for ranks that wait in the other for somebody else. */
static int overlapping(struct hwtest_call *c, struct hwtest_call *upper, uint64_t *state)
{
    uint64_t other = *state + 1000000;
    int errs = 0;

    for (int i = 0; i < 6; i++) {
        errs += hwtest_any_call(c, state, BYTES);
        if (upper->comm != MPI_COMM_NULL)
            errs += hwtest_any_call(upper, &other, BYTES);
    }
    return errs;
}

int main(int argc, char **argv)
{
    struct hwtest_call whole, upper;
    uint64_t state = 3;
    int errs = 0, rank, size;
    char *message;

    MTest_Init(&argc, &argv);
    hwtest_forms_init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    message = hwtest_alloc(LONG);
    hwtest_call_init(&whole, MPI_COMM_WORLD, hwtest_families_room(BYTES, size));
    hwtest_call_init(&upper, MPI_COMM_NULL, hwtest_families_room(BYTES, size));
    MPI_Comm_split(MPI_COMM_WORLD, rank >= size / 2 ? 0 : MPI_UNDEFINED, -rank, &upper.comm);
    for (int round = 0; round < ROUNDS; round++) {
        errs += message_first(&whole, message, round % HWTEST_FAMILIES, round);
        errs += message_after(&whole, message, (round + 1) % HWTEST_FAMILIES, round);
        errs += among_nonblocking(&whole, message, &state);
        errs += overlapping(&whole, &upper, &state);
    }
    if (upper.comm != MPI_COMM_NULL)
        MPI_Comm_free(&upper.comm);
    hwtest_call_free(&whole);
    hwtest_call_free(&upper);
    free(message);
    return hwtest_finish(errs + hwtest_forms_check());
}
