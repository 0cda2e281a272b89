/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "alike.h"
#include "../../../../../mpi/coll/bcast_hw/core/base/prng.h"

#include <unistd.h>

#define VALUE_MAX 128 /* of a value as text, and of a host's name */

/* Those whose scope is MPI_T_SCOPE_ALL_EQ; make check-style compares. */
#define NUMBERS(X)                                                                                 \
    X(BCAST_HW_ALGORITHM)                                                                          \
    X(BCAST_HW_CHANNELS)                                                                           \
    X(BCAST_HW_ENABLE)                                                                             \
    X(BCAST_HW_FANOUT)                                                                             \
    X(BCAST_HW_INTEGRITY)                                                                          \
    X(BCAST_HW_JOIN_MS)                                                                            \
    X(BCAST_HW_LANES_ADAPT)                                                                        \
    X(BCAST_HW_LEAVE)                                                                              \
    X(BCAST_HW_MAX_BYTES)                                                                          \
    X(BCAST_HW_MIN_RANKS)                                                                          \
    X(BCAST_HW_NODE)                                                                               \
    X(BCAST_HW_NODE_AFTER)                                                                         \
    X(BCAST_HW_NODE_BARRIER)                                                                       \
    X(BCAST_HW_NODE_BCAST)                                                                         \
    X(BCAST_HW_NODE_CHUNK_BYTES)                                                                   \
    X(BCAST_HW_NODE_COPY)                                                                          \
    X(BCAST_HW_NODE_COPY_BYTES)                                                                    \
    X(BCAST_HW_NODE_DEGREE)                                                                        \
    X(BCAST_HW_NODE_INLINE_BYTES)                                                                  \
    X(BCAST_HW_NODE_PIECE_BYTES)                                                                   \
    X(BCAST_HW_NODE_REDUCE)                                                                        \
    X(BCAST_HW_NODE_SHAPE)                                                                         \
    X(BCAST_HW_NODE_SHIFT_BYTES)                                                                   \
    X(BCAST_HW_PIECE_BYTES)                                                                        \
    X(BCAST_HW_PREPARE)                                                                            \
    X(BCAST_HW_PROBE_AGAIN_MAX_MS)                                                                 \
    X(BCAST_HW_PROBE_AGAIN_MS)                                                                     \
    X(BCAST_HW_PROBE_MS)                                                                           \
    X(BCAST_HW_REPAIR)                                                                             \
    X(BCAST_HW_ROOT_DELAY)                                                                         \
    X(BCAST_HW_SEGMENT_BYTES)                                                                      \
    X(BCAST_HW_SEGMENT_WINDOW)                                                                     \
    X(BCAST_HW_SETUP_AFTER)                                                                        \
    X(BCAST_HW_SETUP_AHEAD)                                                                        \
    X(BCAST_HW_SIDES)                                                                              \
    X(BCAST_HW_SYNC_PERIOD)                                                                        \
    X(HWMC_FABRIC)                                                                                 \
    X(HWMC_LANE)                                                                                   \
    X(HWMC_RAIL_LANES)                                                                             \
    X(HWMC_RESILIENT)                                                                              \
    X(HWMC_SITE_LANES)                                                                             \
    X(HWMC_SUSPECT_MS)

#define TEXTS(X)                                                                                   \
    X(BCAST_HW_NODE_TOPOLOGY)                                                                      \
    X(HWMC_GROUP)                                                                                  \
    X(HWMC_SUMMARY)

/* A variable, and what it is here; text: NULL, or empty, where it is not set. */
struct variable {
    const char *name;
    bool is_text;
    int number;
    const char *text;
};

#define X(name) +1
#define NUM (0 NUMBERS(X) TEXTS(X))
enum { NUM_VARIABLES = NUM };
#undef X

static void read_all(struct variable *v)
{
#define X(name) *v++ = (struct variable){"MPIR_CVAR_" #name, false, (int) MPIR_CVAR_##name, NULL};
    NUMBERS(X)
#undef X
#define X(name) *v++ = (struct variable){"MPIR_CVAR_" #name, true, 0, MPIR_CVAR_##name};
    TEXTS(X)
#undef X
}

/* Of 31 bits, so that its negative is an int too. */
static int hash_of(const struct variable *v)
{
    uint64_t hash = hwmc_prng(0, (uint64_t) (uint32_t) v->number);

    for (const char *c = v->text; c && *c; c++)
        hash = hwmc_prng(hash, (unsigned char) *c);
    return (int) (hash >> 33);
}

/* By two reductions in one: the least of each value, and the least of its negative. Sets
 * same[i]. */
static int compare(MPIR_Comm *world, const int *value, int num, bool *same)
{
    int mpi_errno = MPI_SUCCESS;
    int mine[2 * NUM_VARIABLES], all[2 * NUM_VARIABLES];

    for (int i = 0; i < num; i++) {
        mine[2 * i] = value[i];
        mine[2 * i + 1] = -value[i];
    }
    mpi_errno =
        MPIR_Allreduce_allcomm_auto(mine, all, 2 * num, HWMC_INT, MPI_MIN, world, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < num; i++)
        same[i] = all[2 * i] == -all[2 * i + 1];

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* What a process tells of a variable that differs. */
struct told {
    int hash;
    char value[VALUE_MAX], host[VALUE_MAX];
};

static int tell(MPIR_Comm *world, const struct variable *v, int from, struct told *told)
{
    memset(told, 0, sizeof(*told));
    told->hash = hash_of(v);
    if (v->is_text)
        snprintf(told->value, sizeof(told->value), "\"%s\"", v->text ? v->text : "");
    else
        snprintf(told->value, sizeof(told->value), "%d", v->number);
    gethostname(told->host, sizeof(told->host) - 1);
    return MPIR_Bcast_allcomm_auto(told, (int) (sizeof(*told) / sizeof(int)), HWMC_INT, from, world,
                                   HWMC_NO_ERRORS);
}

/* The error that names it. */
static int complain(MPIR_Comm *world, const struct variable *v)
{
    int mpi_errno = MPI_SUCCESS, mine, first;
    struct told here, there;

    mpi_errno = tell(world, v, 0, &here);
    MPIR_ERR_CHECK(mpi_errno);
    mine = hash_of(v) == here.hash ? INT_MAX : MPIR_Process.rank;
    mpi_errno =
        MPIR_Allreduce_allcomm_auto(&mine, &first, 1, HWMC_INT, MPI_MIN, world, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = tell(world, v, first, &there);
    MPIR_ERR_CHECK(mpi_errno);
    snprintf(here.host, sizeof(here.host), "%d on host %.100s", first, there.host);
    MPIR_ERR_SETANDJUMP4(mpi_errno, MPI_ERR_OTHER, "**hwmc_alike", "**hwmc_alike %s %s %s %s",
                         v->name, here.value, here.host, there.value);

fn_fail:
    return mpi_errno;
}

int hwmc_alike(MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    struct variable v[NUM_VARIABLES];
    int hash[NUM_VARIABLES], which = 0;
    bool same[NUM_VARIABLES];
    uint64_t all = 0;

    read_all(v);
    for (int i = 0; i < NUM_VARIABLES; i++) {
        hash[i] = hash_of(&v[i]);
        all = hwmc_prng(all, (uint64_t) hash[i]);
    }
    mpi_errno = compare(world, (int[]){(int) (all >> 33), (int) (all & INT_MAX)}, 2, same);
    MPIR_ERR_CHECK(mpi_errno);
    if (same[0] && same[1])
        goto fn_exit;
    mpi_errno = compare(world, hash, NUM_VARIABLES, same);
    MPIR_ERR_CHECK(mpi_errno);
    while (which < NUM_VARIABLES - 1 && same[which])
        which++;
    mpi_errno = complain(world, &v[which]);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
