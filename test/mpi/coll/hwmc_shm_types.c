/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_layouts.h"
#include "hwmc_forms.h"

/* Collectives that move data, on datatypes with holes: each rank describes what it sends and what
 * it receives in its own way, so that only the signatures match. What memory must look like is the
 * data unpacked into poison, which shows a hole written to as well as a wrong datum. */

#define RANKS 64
#define COMMON 12 /* ints: any layout goes into them without a rest */

/* Memory for a part for each rank. */
struct side {
    const struct hwtest_layout *layout;
    MPI_Aint extent;
    int count; /* elements of a part */
    struct hwtest_area have, want;
};

static struct side make_side(const struct hwtest_layout *layout, int ints, int parts)
{
    struct side s = {.layout = layout, .count = ints / layout->per_element};
    MPI_Aint lower;

    MPI_Type_get_extent(layout->type, &lower, &s.extent);
    s.have = hwtest_make_area(layout->type, s.count * parts);
    s.want = hwtest_make_area(layout->type, s.count * parts);
    return s;
}

static void free_side(struct side *s)
{
    free(s->have.memory);
    free(s->want.memory);
}

/* Puts what `from` has for `to` where the part lies. */
static void put(const struct side *s, struct hwtest_area area, int part, int from, int to,
                uint64_t key)
{
    int ints = s->count * s->layout->per_element, position = 0;
    size_t bytes = (size_t) ints * sizeof(int);
    int *data = malloc(bytes + 1);

    hwtest_fill(data, bytes, hwtest_mix(key) + (uint64_t) from * RANKS + (uint64_t) to);
    MPI_Unpack(data, (int) bytes, &position, (char *) area.origin + part * s->count * s->extent,
               s->count, s->layout->type, MPI_COMM_SELF);
    free(data);
}

static int check(struct side *out, struct side *in, const char *what)
{
    int errs = in ? hwtest_same_area(in->have, in->want, what) : 0;

    hwtest_done++;
    free_side(out);
    if (in)
        free_side(in);
    return errs;
}

struct setting {
    const struct hwtest_layout *send, *recv; /* of this rank */
    int ints;                                /* of a part */
    int rank, size, root;
    uint64_t key;
};

static int gather(const struct setting *s)
{
    struct side out = make_side(s->send, s->ints, 1);
    struct side in = make_side(s->recv, s->ints, s->size);

    put(&out, out.have, 0, s->rank, s->root, s->key);
    for (int i = 0; i < s->size && s->rank == s->root; i++)
        put(&in, in.want, i, i, s->root, s->key);
    MPI_Gather(out.have.origin, out.count, out.layout->type, in.have.origin, in.count,
               in.layout->type, s->root, MPI_COMM_WORLD);
    return check(&out, &in, "gather");
}

static int scatter(const struct setting *s)
{
    struct side out = make_side(s->send, s->ints, s->size);
    struct side in = make_side(s->recv, s->ints, 1);

    for (int i = 0; i < s->size && s->rank == s->root; i++)
        put(&out, out.have, i, s->root, i, s->key);
    put(&in, in.want, 0, s->root, s->rank, s->key);
    MPI_Scatter(out.have.origin, out.count, out.layout->type, in.have.origin, in.count,
                in.layout->type, s->root, MPI_COMM_WORLD);
    return check(&out, &in, "scatter");
}

static int allgather(const struct setting *s)
{
    struct side out = make_side(s->send, s->ints, 1);
    struct side in = make_side(s->recv, s->ints, s->size);

    put(&out, out.have, 0, s->rank, 0, s->key);
    for (int i = 0; i < s->size; i++)
        put(&in, in.want, i, i, 0, s->key);
    MPI_Allgather(out.have.origin, out.count, out.layout->type, in.have.origin, in.count,
                  in.layout->type, MPI_COMM_WORLD);
    return check(&out, &in, "allgather");
}

static int alltoall(const struct setting *s)
{
    struct side out = make_side(s->send, s->ints, s->size);
    struct side in = make_side(s->recv, s->ints, s->size);

    for (int i = 0; i < s->size; i++) {
        put(&out, out.have, i, s->rank, i, s->key);
        put(&in, in.want, i, i, s->rank, s->key);
    }
    MPI_Alltoall(out.have.origin, out.count, out.layout->type, in.have.origin, in.count,
                 in.layout->type, MPI_COMM_WORLD);
    return check(&out, &in, "alltoall");
}

/* Parts in descending order. */
static int vectors(const struct setting *s)
{
    struct side out = make_side(s->send, s->ints, s->size);
    struct side in = make_side(s->recv, s->ints, s->size);
    int out_counts[RANKS], in_counts[RANKS], out_places[RANKS], in_places[RANKS];

    for (int i = 0; i < s->size; i++) {
        int part = s->size - 1 - i;

        out_counts[i] = out.count;
        in_counts[i] = in.count;
        out_places[i] = part * out.count;
        in_places[i] = part * in.count;
        put(&out, out.have, part, s->rank, i, s->key);
        put(&in, in.want, part, i, s->rank, s->key);
    }
    MPI_Alltoallv(out.have.origin, out_counts, out_places, out.layout->type, in.have.origin,
                  in_counts, in_places, in.layout->type, MPI_COMM_WORLD);
    return check(&out, &in, "alltoallv");
}

/* The vector forms of gather and scatter there and back: what comes back is what went out. */
static int there_and_back(const struct setting *s)
{
    struct side mine = make_side(s->send, s->ints, 1);
    struct side all = make_side(s->recv, s->ints, s->size);
    int counts[RANKS], places[RANKS];

    put(&mine, mine.have, 0, s->rank, s->root, s->key);
    put(&mine, mine.want, 0, s->rank, s->root, s->key);
    for (int i = 0; i < s->size; i++) {
        counts[i] = all.count;
        places[i] = (s->size - 1 - i) * all.count;
    }
    MPI_Gatherv(mine.have.origin, mine.count, mine.layout->type, all.have.origin, counts, places,
                all.layout->type, s->root, MPI_COMM_WORLD);
    memset(mine.have.memory, HWTEST_POISON, mine.have.bytes);
    MPI_Scatterv(all.have.origin, counts, places, all.layout->type, mine.have.origin, mine.count,
                 mine.layout->type, s->root, MPI_COMM_WORLD);
    return check(&all, &mine, "gatherv and scatterv");
}

static int broadcast(const struct setting *s)
{
    const struct hwtest_layout *layout = s->rank == s->root ? s->send : s->recv;
    struct side side = make_side(layout, s->ints, 1), none = make_side(layout, 0, 1);

    put(&side, side.want, 0, s->root, 0, s->key);
    if (s->rank == s->root)
        put(&side, side.have, 0, s->root, 0, s->key);
    MPI_Bcast(side.have.origin, side.count, layout->type, s->root, MPI_COMM_WORLD);
    return check(&none, &side, "bcast");
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, COMMON, 2 * COMMON, 300 * COMMON, 1400 * COMMON};
    struct hwtest_layout layouts[HWTEST_LAYOUTS] = {{"ints", MPI_INT, 1}};
    struct setting s = {0};
    int errs = 0, num;

    MTest_Init(&argc, &argv);
    hwtest_forms_init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.size);
    num = 1 + hwtest_make_layouts(layouts + 1);
    for (int turn = 0; turn < num; turn++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            s.send = &layouts[(turn + s.rank) % num];
            s.recv = &layouts[(2 * turn + s.rank + 1) % num];
            s.ints = lengths[i];
            s.root = (s.root + 1) % s.size;
            s.key++;
            errs += broadcast(&s) + gather(&s) + scatter(&s) + allgather(&s);
            errs += alltoall(&s) + vectors(&s) + there_and_back(&s);
        }
    }
    hwtest_free_layouts(layouts + 1, num - 1);
    return hwtest_finish(errs + hwtest_forms_check());
}
