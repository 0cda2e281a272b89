/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The selection as MPICH reads it. Neighbours with the same choice become one range; a choice holds
 * up to the geometric mean of the last length it was found for and the next. The last of ranks and
 * of lengths holds for all above.
 */
#include "tune.h"

#include <math.h>
#include <string.h>

static bool same(const struct tune_candidate *a, const struct tune_candidate *b)
{
    return strcmp(a->algorithm, b->algorithm) == 0 && a->degree == b->degree &&
           a->binary == b->binary && a->chunk == b->chunk && a->direct == b->direct;
}

long long tune_between(int64_t low, int64_t high)
{
    return low <= TUNE_INLINE && high > TUNE_INLINE
               ? TUNE_INLINE
               : (long long) sqrt((double) low * (double) high);
}

static void write_params(FILE *to, const struct tune_candidate *c, bool crowded, bool copies)
{
    if (c->degree > 0)
        fprintf(to, "\"degree=%d\": {}, \"shape=%s\": {}, ", c->degree,
                c->binary ? "knomial" : "kary");
    if (c->chunk > 0)
        fprintf(to, "\"chunk=%d\": {}, ", c->chunk);
    if (copies)
        fprintf(to, c->direct ? "\"copy_min=0\": {}, " : "\"copy_min=never\": {}, ");
    fprintf(to, "\"crowded=%s\": {}", crowded ? "yes" : "no");
}

static void write_lengths(FILE *to, const struct tune_op *op, const struct tune_found *f,
                          bool crowded)
{
    const char *comma = "";

    for (int i = 0; i < f->num; i++) {
        if (i + 1 < f->num && same(&f->choice[i], &f->choice[i + 1]))
            continue;
        fprintf(to, "%s\n            \"%s", comma, op->length);
        if (i + 1 < f->num)
            fprintf(to, "<=%lld", tune_between(f->bytes[i], f->bytes[i + 1]));
        else
            fprintf(to, "=any");
        fprintf(to, "\": {\"algorithm=%s\": {", f->choice[i].algorithm);
        write_params(to, &f->choice[i], crowded, f->bytes[i] > TUNE_INLINE);
        fprintf(to, "}}");
        comma = ",";
    }
    fprintf(to, "\n        ");
}

/* Without algorithms: from which length on single copy wins, as MPICH's search is not by length
 * here. */
static void write_threshold(FILE *to, const struct tune_found *f, bool crowded)
{
    int first = f->num;

    while (first > 0 && f->direct_wins[first - 1])
        first--;
    fprintf(to, "\"algorithm=auto\": {");
    if (first == f->num)
        fprintf(to, "\"copy_min=never\": {}");
    else
        fprintf(to, "\"copy_min=%lld\": {}",
                first == 0 ? 0 : tune_between(f->bytes[first - 1], f->bytes[first]));
    fprintf(to, ", \"crowded=%s\": {}}", crowded ? "yes" : "no");
}

static void write_op(FILE *to, const struct tune_op *op, const struct tune_stage *stage,
                     const struct tune_found *f)
{
    if (op->length) {
        write_lengths(to, op, f, stage->crowded);
    } else if (op->most > 0) {
        write_threshold(to, f, stage->crowded);
    } else {
        fprintf(to, "\"algorithm=%s\": {", f->choice[0].algorithm);
        write_params(to, &f->choice[0], stage->crowded, false);
        fprintf(to, "}");
    }
}

void tune_write(FILE *to, const struct tune_stage *stages, int num_stages,
                struct tune_found *const *found)
{
    const char *comma = "";

    for (int o = 0; o < tune_num_ops; o++) {
        if (found[0][o].num == 0)
            continue;
        fprintf(to, "%s\n    \"collective=%s\": {", comma, tune_ops[o].name);
        for (int s = 0; s < num_stages; s++) {
            fprintf(to, "%s\n        \"comm_size", s > 0 ? "," : "");
            if (s + 1 < num_stages)
                fprintf(to, "<=%d", stages[s].ranks);
            else
                fprintf(to, "=any");
            fprintf(to, "\": {");
            write_op(to, &tune_ops[o], &stages[s], &found[s][o]);
            fprintf(to, "}");
        }
        fprintf(to, "\n    }");
        comma = ",";
    }
}
