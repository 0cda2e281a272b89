/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_families.h"
#include "hwmc_forms.h"

/* All blocking collectives, in every form: rooted ones from every root, vector forms, in place, of
 * lengths around those where the way changes in which data go inside a host: what fits into a slot,
 * the length of a chunk and of two. Then on communicators of all kinds, and many in a row with
 * ranks that come late.
 *
 * -max=BYTES   the longest length; -rounds=N of many in a row; -quick: fewer roots */

#define CHUNK ((size_t) 32768)

static const size_t lengths[] = {0,
                                 1,
                                 88,
                                 89,
                                 1000,
                                 CHUNK - 4,
                                 CHUNK,
                                 CHUNK + 1,
                                 2 * CHUNK - 1,
                                 2 * CHUNK,
                                 2 * CHUNK + 4,
                                 5 * CHUNK + 8,
                                 1 << 20};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static size_t most = 1 << 20;
static bool quick;

/* `length` is that of a part, as far as memory goes: then of all parts. */
static size_t total_of(size_t length, int family, int size)
{
    size_t total = hwtest_families[family].divided ? length * (size_t) size : length;

    return total <= most ? total : length;
}

static int from_all_roots(struct hwtest_call *c, int family, size_t length)
{
    int size, errs = 0, step = quick || length > 4 * CHUNK ? 2 : 1;

    MPI_Comm_size(c->comm, &size);
    for (int form = 0; form < 4; form++) {
        const struct hwtest_family *f = &hwtest_families[family];
        int roots = f->rooted ? size : 1;

        if ((form % 2 == 1 && !f->has_in_place) || (form >= 2 && !f->has_vector))
            continue;
        for (int root = form % step; root < roots; root += step)
            errs += hwtest_family_call(c, family, form, root, total_of(length, family, size),
                                       length + (uint64_t) root);
    }
    return errs;
}

static int all_families(struct hwtest_call *c)
{
    int errs = 0;

    for (int family = 0; family < HWTEST_FAMILIES; family++) {
        for (size_t i = 0; i < LENGTHS; i++) {
            if (lengths[i] <= most)
                errs += from_all_roots(c, family, lengths[i]);
        }
    }
    return errs;
}

/* Ranks come late by turns: one sleeps, one computes. */
static void delay(uint64_t *state, int rank, int size)
{
    struct timespec t = {.tv_nsec = (long) hwtest_random(state, 300000)};

    if ((int) hwtest_random(state, (uint64_t) size) == rank)
        nanosleep(&t, NULL);
    if ((int) hwtest_random(state, (uint64_t) size) == rank)
        hwtest_compute((double) t.tv_nsec * 0.5e-9);
}

static int many(struct hwtest_call *c, int rounds, bool late)
{
    uint64_t state = 17;
    int errs = 0, rank, size;

    MPI_Comm_rank(c->comm, &rank);
    MPI_Comm_size(c->comm, &size);
    for (int i = 0; i < rounds; i++) {
        uint64_t times = hwtest_mix((uint64_t) i);

        if (late && i % 4 == 0)
            delay(&times, rank, size);
        errs += hwtest_any_call(c, &state, most / 4);
    }
    return errs;
}

/* A communicator of the kind: reversed, odd and even, all but one, those of this host, of itself;
 * MPI_COMM_NULL for ranks that are not in it, or past the last kind. */
static MPI_Comm make_comm(int kind)
{
    MPI_Comm comm = MPI_COMM_NULL, half;
    MPI_Group all, some;
    int rank, size, none = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    switch (kind) {
        case 0:
            MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comm);
            break;
        case 1:
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
            break;
        case 2:
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
            MPI_Comm_split(half, rank / 2 % 2, rank, &comm);
            MPI_Comm_free(&half);
            break;
        case 3:
            MPI_Comm_group(MPI_COMM_WORLD, &all);
            MPI_Group_excl(all, 1, &none, &some);
            MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
            MPI_Group_free(&some);
            MPI_Group_free(&all);
            break;
        case 4:
            MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
            break;
        case 5:
            MPI_Comm_dup(MPI_COMM_SELF, &comm);
            break;
    }
    return comm;
}

#define KINDS 6

/* Neighbours of a rank may be in another communicator meanwhile. */
static int on_comms(struct hwtest_call *c, int rounds)
{
    int errs = 0;

    for (int kind = 0; kind < KINDS; kind++) {
        c->comm = make_comm(kind);
        if (c->comm == MPI_COMM_NULL)
            continue;
        errs += many(c, rounds, kind % 2 == 0);
        MPI_Comm_free(&c->comm);
    }
    return errs;
}

int main(int argc, char **argv)
{
    struct hwtest_call call;
    int errs = 0, size, rounds;

    MTest_Init(&argc, &argv);
    hwtest_forms_init(argc, argv);
    most = (size_t) hwtest_option(argc, argv, "-max", (double) most);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 400);
    quick = hwtest_flag(argc, argv, "-quick");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hwtest_call_init(&call, MPI_COMM_WORLD, hwtest_families_room(most, size));
    errs += all_families(&call);
    errs += many(&call, rounds, false);
    errs += many(&call, rounds, true);
    errs += on_comms(&call, rounds / 8);
    hwtest_call_free(&call);
    return hwtest_finish(errs + hwtest_forms_check());
}
