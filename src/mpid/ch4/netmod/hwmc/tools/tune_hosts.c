/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Collectives over hosts: what is tried, and the part of the selection for them.
 */
#include "tune.h"

#include "../../../../../mpi/coll/bcast_hw/settings/keys.h"

#include <string.h>

/* Bytes of the least vector that goes in several parts. */
#define PARTS_FROM 8192

struct tune_op tune_host_ops[TUNE_HOST_OPS_MAX];
int tune_num_host_ops;

/* The key of a collective in MPIR_CVAR_HWMC_ALGORITHMS; NULL: it has none. */
static const struct hwmc_key *key_of(const char *name)
{
    size_t num;
    const struct hwmc_key *keys = hwmc_keys(HWMC_KEYS_ALGORITHMS, &num);

    for (size_t i = 0; i < num; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

void tune_host_ops_init(void)
{
    for (int o = 0; o < tune_num_ops; o++) {
        struct tune_op *op = &tune_host_ops[tune_num_host_ops];

        if (!key_of(tune_ops[o].name))
            continue; /* broadcasts */
        *op = tune_ops[o];
        op->over_hosts = true;
        op->cvar = hwmc_keys_variable(HWMC_KEYS_ALGORITHMS);
        op->table = HWMC_SHM_TABLE_NONE;
        op->length = op->most > 0 ? "avg_msg_size" : NULL;
        tune_num_host_ops++;
    }
}

/* MPICH's, and hwmc's, by each way where there are several. */
int tune_host_candidates(const struct tune_op *op, struct tune_candidate *to)
{
    const struct hwmc_key *key = key_of(op->name);
    const bool has_ways = key->words[HWMC_SET_RUNNER_CHAIN] != NULL;
    int num = 0;

    for (int w = HWMC_SET_RUNNER_HW; w < HWMC_KEY_WORDS && key->words[w]; w++)
        if (w != HWMC_SET_RUNNER_HW || !has_ways)
            to[num++] = (struct tune_candidate){.algorithm = key->words[w]};
    return num;
}

bool tune_host_fits(const struct tune_candidate *c, int64_t bytes)
{
    return bytes >= PARTS_FROM ||
           (strcmp(c->algorithm, "trees") != 0 && strcmp(c->algorithm, "chain") != 0 &&
            strcmp(c->algorithm, "blocks") != 0);
}

static void write_lengths(FILE *to, const struct tune_op *op, const struct tune_found *f)
{
    const char *comma = "";

    for (int i = 0; i < f->num; i++) {
        const char *algorithm = f->choice[i].algorithm;

        if (i + 1 < f->num && strcmp(algorithm, f->choice[i + 1].algorithm) == 0)
            continue;
        if (op->length) {
            fprintf(to, "%s\n                \"%s", comma, op->length);
            if (i + 1 < f->num)
                fprintf(to, "<=%lld", tune_between(f->bytes[i], f->bytes[i + 1]));
            else
                fprintf(to, "=any");
            fprintf(to, "\": {\"algorithm=%s\": {}}", algorithm);
        } else {
            fprintf(to, "\"algorithm=%s\": {}", algorithm);
        }
        comma = ",";
    }
}

void tune_host_write(FILE *to, const struct tune_stage *stages, int num_stages,
                     struct tune_found *const *found)
{
    const char *comma = "";

    fprintf(to, "    \"between=hosts\": {");
    for (int o = 0; o < tune_num_host_ops; o++) {
        if (found[0][o].num == 0)
            continue;
        fprintf(to, "%s\n        \"collective=%s\": {", comma, tune_host_ops[o].name);
        for (int s = 0; s < num_stages; s++) {
            fprintf(to, "%s\n            \"hosts", s > 0 ? "," : "");
            if (s + 1 < num_stages)
                fprintf(to, "<=%d", stages[s].hosts);
            else
                fprintf(to, "=any");
            fprintf(to, "\": {");
            write_lengths(to, &tune_host_ops[o], &found[s][o]);
            fprintf(to, "}");
        }
        fprintf(to, "\n        }");
        comma = ",";
    }
    fprintf(to, "\n    }");
}
