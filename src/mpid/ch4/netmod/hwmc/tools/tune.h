/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * tune: the parts of hwmc_tune. A stage is a number of ranks of one host, or of hosts; in it each
 * collective is tried by several candidates for several message lengths. All ranks of a stage get
 * the same figures, and so decide alike.
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
#define TUNE_HOST_OPS_MAX 16
/* Bytes: up to this a message goes with its metadata, by the tree alone. */
#define TUNE_INLINE ((int64_t) HWMC_SHM_INLINE)

/* Keys of MPIR_CVAR_HWMC_TUNE that hold for all that is tried. */
#define TUNE_KEYS "shm_after=0,setup_after=0,setup_ahead=0"

/* A collective. */
struct tune_op {
    const char *name;          /* as the selection calls it */
    const char *cvar;          /* that names its algorithm; NULL: it has one only */
    enum hwmc_shm_table table; /* of its algorithms */
    const char *length;        /* what it is selected by besides ranks; NULL: nothing */
    bool blocks;               /* memory for a message of each rank */
    bool over_hosts;           /* it is one over hosts: tune_hosts.c */
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
    int ranks;    /* in it */
    int hosts;    /* that they run on; 0: it is one inside a host */
    bool crowded; /* inside a host: they share processors */
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

/* The same over hosts, once they are initialized. */
extern struct tune_op tune_host_ops[TUNE_HOST_OPS_MAX];
extern int tune_num_host_ops;
void tune_host_ops_init(void);

/* As tune_candidates and tune_fits, which call them. */
int tune_host_candidates(const struct tune_op *op, struct tune_candidate *to);
bool tune_host_fits(const struct tune_candidate *c, int64_t bytes);

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

/* Up to which length the choice for `low` holds, if that for `high` is another one. */
long long tune_between(int64_t low, int64_t high);

/* Write entries of the selection, without the braces around all: found[stage][op]. */
void tune_write(FILE *to, const struct tune_stage *stages, int num_stages,
                struct tune_found *const *found);
void tune_host_write(FILE *to, const struct tune_stage *stages, int num_stages,
                     struct tune_found *const *found);

#endif /* HWMC_NETMOD_TOOLS_TUNE_H_INCLUDED */
