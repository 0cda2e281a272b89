/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * tune: the parts of hwmc_tune. A stage is a number of ranks; in it each collective is tried by
 * several candidates for several message lengths. All ranks of a stage get the same figures, and so
 * decide alike.
 */
#ifndef HWMC_NETMOD_TOOLS_TUNE_H_INCLUDED
#define HWMC_NETMOD_TOOLS_TUNE_H_INCLUDED

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../../../../mpi/coll/bcast_hw/shm/segment/params.h"
#include "../../../../../mpi/coll/bcast_hw/select/shm_entry.h"

#define TUNE_SIZES_MAX 24
#define TUNE_STAGES_MAX 16
#define TUNE_CANDIDATES_MAX 96
/* Bytes: up to this a message goes with its metadata, by the tree alone. */
#define TUNE_INLINE ((int64_t) HWMC_SHM_INLINE)

/* Keys of MPIR_CVAR_HWMC_TUNE that hold for all that is tried. */
#define TUNE_KEYS "shm_after=0"

/* A collective. */
struct tune_op {
    const char *name;          /* as the selection calls it */
    const char *cvar;          /* that names its algorithm; NULL: it has one only */
    enum hwmc_shm_table table; /* of its algorithms */
    const char *length;        /* what it is selected by besides ranks; NULL: nothing */
    bool blocks;               /* memory for a message of each rank */
    int64_t most;              /* bytes: longer messages are not tried */
    void (*call)(MPI_Comm comm, char *from, char *to, int bytes, int ranks);
};

struct tune_candidate {
    const char *algorithm;
    int degree;  /* 0: no tree */
    bool binary; /* of the knomial shape, not the kary */
    int chunk;   /* bytes; 0: what the caches suggest */
    bool direct; /* by single copy, whatever the length; or never */
};

/* What was found for one collective and stage: a choice for each length. */
struct tune_found {
    int num; /* lengths; 0: none was tried */
    int64_t bytes[TUNE_SIZES_MAX];
    struct tune_candidate choice[TUNE_SIZES_MAX];
    bool direct_wins[TUNE_SIZES_MAX]; /* of an op without algorithms */
};

struct tune_stage {
    int ranks;
    bool crowded; /* they share processors */
    MPI_Comm comm;
};

struct tune_plan {
    int num_sizes;
    int64_t bytes[TUNE_SIZES_MAX]; /* ascending */
    int repeats;
    double sample;   /* seconds that a sample takes at least */
    const char *ops; /* names, between commas; NULL: all */
    const char *out; /* NULL: stdout */
};

extern const struct tune_op tune_ops[];
extern const int tune_num_ops;

/* Ends the job. */
void tune_fail(const char *what);

/* The candidates for a collective; returns how many. */
int tune_candidates(const struct tune_op *op, int ranks, struct tune_candidate *to);

/* Whether a candidate is another one than those before it, for messages of that length. */
bool tune_fits(const struct tune_op *op, const struct tune_candidate *c, int64_t bytes);

/* From the next choice of a communicator on, collectives go by it. */
void tune_apply(const struct tune_op *op, const struct tune_candidate *c);

/* As before any. Between stages all ranks of the job have to go by the same. */
void tune_reset(void);

/* Tries a collective. Says on stderr, at rank 0, how far it is. */
void tune_measure(const struct tune_op *op, const struct tune_stage *stage,
                  const struct tune_plan *plan, struct tune_found *found);

/* Writes the selection: found[stage][op]. */
void tune_write(FILE *to, const struct tune_stage *stages, int num_stages,
                struct tune_found *const *found);

#endif /* HWMC_NETMOD_TOOLS_TUNE_H_INCLUDED */
