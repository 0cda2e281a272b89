/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "alike.h"
#include "../../../../../mpi/coll/bcast_hw/core/base/prng.h"
#include "../../../../../mpi/coll/bcast_hw/select/spread_choose.h"
#include "../../../../../mpi/coll/bcast_hw/settings/keys.h"

#include <unistd.h>

#define NAME_MAX_LEN 64
#define HOST_MAX 128
#define VALUE_MAX (HWMC_KEY_VALUE + 4) /* with quotes; a multiple of an int */

/* Those whose scope is MPI_T_SCOPE_ALL_EQ; make check-style compares. */
#define NUMBERS(X)                                                                                 \
    X(HWMC_CHANNELS)                                                                               \
    X(HWMC_ENABLE)                                                                                 \
    X(HWMC_FABRIC)                                                                                 \
    X(HWMC_FAILOVER)                                                                               \
    X(HWMC_INTEGRITY)                                                                              \
    X(HWMC_LANE)                                                                                   \
    X(HWMC_MIN_RANKS)                                                                              \
    X(HWMC_REPAIR)                                                                                 \
    X(HWMC_RESILIENT)                                                                              \
    X(HWMC_ROOT_DELAY)                                                                             \
    X(HWMC_SHM)

#define TEXTS(X)                                                                                   \
    X(HWMC_ALLREDUCE_ALGORITHM)                                                                    \
    X(HWMC_BARRIER_ALGORITHM)                                                                      \
    X(HWMC_BCAST_ALGORITHM)                                                                        \
    X(HWMC_REDUCE_ALGORITHM)                                                                       \
    X(HWMC_SUMMARY)

#define X(name) +1
#define NUM (0 NUMBERS(X) TEXTS(X))
enum { NUM_VARIABLES = NUM, NUM_MAX = NUM_VARIABLES + HWMC_KEYS_MAX + 1 };
#undef X

/* A variable, or a key of one, and what it is here. */
struct variable {
    char name[NAME_MAX_LEN], value[VALUE_MAX];
};

static struct variable *note_number(struct variable *v, const char *name, int value)
{
    snprintf(v->name, sizeof(v->name), "%s", name);
    snprintf(v->value, sizeof(v->value), "%d", value);
    return v + 1;
}

static struct variable *note_text(struct variable *v, const char *name, const char *text)
{
    snprintf(v->name, sizeof(v->name), "%s", name);
    snprintf(v->value, sizeof(v->value), "\"%s\"", text ? text : "");
    return v + 1;
}

/* The keys of a string that must be alike. */
static struct variable *note_keys(struct variable *v, enum hwmc_key_string string)
{
    char name[NAME_MAX_LEN], value[HWMC_KEY_VALUE];
    size_t num;
    const struct hwmc_key *keys = hwmc_keys(string, &num);

    for (size_t i = 0; i < num; i++) {
        if (!keys[i].alike)
            continue;
        snprintf(name, sizeof(name), "%s: %s", hwmc_keys_variable(string), keys[i].name);
        hwmc_key_print(&keys[i], &hwmc_settings, value);
        v = note_text(v, name, value);
    }
    return v;
}

/* How many there are. The same on all processes. */
static int read_all(struct variable *first)
{
    struct variable *v = first;
    char rules[HWMC_SPREAD_TEXT];

#define X(name) v = note_number(v, "MPIR_CVAR_" #name, (int) MPIR_CVAR_##name);
    NUMBERS(X)
#undef X
#define X(name) v = note_text(v, "MPIR_CVAR_" #name, MPIR_CVAR_##name);
    TEXTS(X)
#undef X
    hwmc_spread_print(rules);
    v = note_text(v, "MPIR_CVAR_HWMC_SELECTION: between hosts", rules);
    for (int i = 0; i < HWMC_KEYS_STRINGS; i++)
        v = note_keys(v, (enum hwmc_key_string) i);
    return (int) (v - first);
}

/* Of 31 bits, so that its negative is an int too. */
static int hash_of(const struct variable *v)
{
    uint64_t hash = 0;

    for (const char *c = v->value; *c; c++)
        hash = hwmc_prng(hash, (unsigned char) *c);
    return (int) (hash >> 33);
}

/* By two reductions in one: the least of each value, and the least of its negative. Sets
 * same[i]. */
static int compare(MPIR_Comm *world, const int *value, int num, bool *same)
{
    int mpi_errno = MPI_SUCCESS;
    int mine[2 * NUM_MAX], all[2 * NUM_MAX];

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
    char value[VALUE_MAX], host[HOST_MAX];
};

static int tell(MPIR_Comm *world, const struct variable *v, int from, struct told *told)
{
    memset(told, 0, sizeof(*told));
    told->hash = hash_of(v);
    memcpy(told->value, v->value, sizeof(told->value));
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
    struct variable v[NUM_MAX];
    const int num = read_all(v);
    int hash[NUM_MAX], which = 0;
    bool same[NUM_MAX];
    uint64_t all = 0;

    for (int i = 0; i < num; i++) {
        hash[i] = hash_of(&v[i]);
        all = hwmc_prng(all, (uint64_t) hash[i]);
    }
    mpi_errno = compare(world, (int[]){(int) (all >> 33), (int) (all & INT_MAX)}, 2, same);
    MPIR_ERR_CHECK(mpi_errno);
    if (same[0] && same[1])
        goto fn_exit;
    mpi_errno = compare(world, hash, num, same);
    MPIR_ERR_CHECK(mpi_errno);
    while (which < num - 1 && same[which])
        which++;
    mpi_errno = complain(world, &v[which]);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
