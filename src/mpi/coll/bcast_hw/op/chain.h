/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * chain: a collective as stages one after the other, itself a stage: up inside hosts, between
 * hosts, down inside hosts.
 *
 * A stage is begun when those before it are over. After an error in which members are still in step
 * (ERR_INVAL: lengths disagree), or inside a host, the others follow, as other hosts wait there:
 * `begin` sees the error, and has a stage that lets them know. After any other the chain is over.
 */

#ifndef HWMC_OP_CHAIN_H_INCLUDED
#define HWMC_OP_CHAIN_H_INCLUDED

#include "stage.h"

struct hwmc_chain;

/* Begins stage `i`, and returns it; NULL: this rank has no part in it. */
typedef struct hwmc_op_stage *(*hwmc_chain_begin_fn)(struct hwmc_chain *c, uint32_t i);

struct hwmc_chain {
    struct hwmc_op_stage stage;
    hwmc_chain_begin_fn begin;
    uint32_t stages;
    uint32_t at;                   /* the one that runs */
    struct hwmc_op_stage *running; /* NULL: it is not begun */
};

/* Of `stages` stages. `begin` finds what it needs around the chain. */
void hwmc_chain_init(struct hwmc_chain *c, uint32_t stages, hwmc_chain_begin_fn begin);

#endif /* HWMC_OP_CHAIN_H_INCLUDED */
