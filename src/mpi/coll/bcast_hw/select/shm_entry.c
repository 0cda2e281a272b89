/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * shm_entry: see shm_entry.h.
 */

#include "shm_entry.h"

#include <errno.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_keys.h"
#include "spread_rules.h"
#include "../shm/segment/params.h"
#include "../shm/segment/segment.h"
#include "../shm/topo/shape.h"
#include "../shm/segment/slot.h"

#define FILE_MAX_BYTES (1 << 20)

#define HOSTS "between=hosts" /* the part for collectives over hosts */

/* By which message length a collective may be selected: what MPICH's search knows of it. */
enum { AVG = 1, TOTAL = 2 };

static const struct collective {
    const char *name;
    enum hwmc_shm_table table;
    unsigned lengths;
} collectives[] = {
    {"barrier", HWMC_SHM_TABLE_BARRIERS, 0},
    {"bcast", HWMC_SHM_TABLE_BCASTS, AVG | TOTAL},
    {"reduce", HWMC_SHM_TABLE_REDUCTIONS, AVG | TOTAL},
    {"allreduce", HWMC_SHM_TABLE_REDUCTIONS, AVG | TOTAL},
    {"reduce_scatter", HWMC_SHM_TABLE_REDUCTIONS, TOTAL},
    {"gather", HWMC_SHM_TABLE_NONE, 0},
    {"allgather", HWMC_SHM_TABLE_NONE, 0},
    {"scatter", HWMC_SHM_TABLE_NONE, 0},
    {"alltoall", HWMC_SHM_TABLE_NONE, 0},
    {"scan", HWMC_SHM_TABLE_NONE, 0},
};

static bool wrong(char *why, const char *what, const char *key)
{
    snprintf(why, HWMC_SHM_ENTRY_WHY, "%s: %s", key, what);
    return false;
}

static bool named_shape(const char *text, int *shape)
{
#define X(id, name)                                                                                \
    if (strcmp(text, name) == 0)                                                                   \
        *shape = HWMC_SHM_SHAPE_##id;
    HWMC_SHM_SHAPES(X)
#undef X
    return *shape >= 0;
}

static bool read_param(struct hwmc_shm_entry *e, const char *key)
{
    const char *v;

    if ((v = hwmc_json_after(key, "degree=")))
        return hwmc_json_number(v, 1, HWMC_SHM_RANKS_MAX, &e->degree);
    if ((v = hwmc_json_after(key, "shape=")))
        return named_shape(v, &e->shape);
    if ((v = hwmc_json_after(key, "chunk=")))
        return hwmc_json_number(v, 64, HWMC_SHM_CHUNK_MAX, &e->chunk) && e->chunk % 64 == 0;
    if ((v = hwmc_json_after(key, "inline_max=")))
        return hwmc_json_number(v, 0, HWMC_SHM_INLINE, &e->inline_max);
    if ((v = hwmc_json_after(key, "copy_min=")) && strcmp(v, "never") == 0) {
        e->copy_min = HWMC_SHM_ENTRY_NEVER;
        return true;
    }
    if (v)
        return hwmc_json_number(v, 0, INT64_MAX - 1, &e->copy_min);
    if ((v = hwmc_json_after(key, "piece_min=")))
        return hwmc_json_number(v, 1, INT32_MAX, &e->piece_min);
    if ((v = hwmc_json_after(key, "shift=")))
        return hwmc_json_number(v, 0, INT32_MAX, &e->shift);
    if ((v = hwmc_json_after(key, "crowded=")) && (strcmp(v, "yes") == 0 || strcmp(v, "no") == 0)) {
        e->crowded = strcmp(v, "yes") == 0;
        return true;
    }
    return false;
}

static bool read_algorithm(struct hwmc_shm_entry *e, const char *name, enum hwmc_shm_table table)
{
    const bool any = table == HWMC_SHM_TABLE_ANY;

    if (any || table == HWMC_SHM_TABLE_BARRIERS)
        e->barrier = hwmc_shm_barrier_named(name);
    if (any || table == HWMC_SHM_TABLE_BCASTS)
        e->bcast = hwmc_shm_bcast_named(name);
    if (any || table == HWMC_SHM_TABLE_REDUCTIONS)
        e->reduction = hwmc_shm_reduction_named(name);
    return e->barrier >= 0 || e->bcast >= 0 || e->reduction >= 0 || strcmp(name, "auto") == 0;
}

bool hwmc_shm_entry_read(struct hwmc_shm_entry *e, struct json_object *leaf,
                         enum hwmc_shm_table table, char why[HWMC_SHM_ENTRY_WHY])
{
    char key[HWMC_JSON_KEY_MAX];
    const char *name = NULL;
    struct json_object *params = NULL;

    *e = (struct hwmc_shm_entry){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    json_object_object_foreach(leaf, leaf_key, leaf_value)
    {
        hwmc_json_squeeze(leaf_key, key);
        if (params || !(name = hwmc_json_after(key, "algorithm=")))
            return wrong(why, "an entry is one algorithm", key);
        params = leaf_value;
        if (!read_algorithm(e, name, table))
            return wrong(why, "this collective has none of that name", key);
    }
    if (!params || !json_object_is_type(params, json_type_object))
        return wrong(why, "an algorithm has its parameters in braces", key);
    json_object_object_foreach(params, param_key, param_value)
    {
        (void) param_value;
        hwmc_json_squeeze(param_key, key);
        if (!read_param(e, key))
            return wrong(why, "no parameter, or not a value of it", key);
    }
    return true;
}

/* A condition: 0 it is none, 1 it may be false, 2 it is always true. */
static int condition(const char *key, const struct collective *c)
{
    const char *v, *w;
    int64_t limit;

    if (strcmp(key, "comm_size=pow2") == 0)
        return 1;
    if (strcmp(key, "comm_size=any") == 0)
        return 2;
    if ((v = hwmc_json_after(key, "comm_size<=")))
        return hwmc_json_number(v, 0, INT32_MAX, &limit);
    if (((v = hwmc_json_after(key, "avg_msg_size")) && c->lengths & AVG) ||
        ((v = hwmc_json_after(key, "total_msg_size")) && c->lengths & TOTAL)) {
        if (strcmp(v, "=any") == 0)
            return 2;
        w = hwmc_json_after(v, "<=");
        if (w || (w = hwmc_json_after(v, "<")))
            return hwmc_json_number(w, 0, INT32_MAX, &limit);
    }
    return 0;
}

static bool check_below(struct json_object *obj, const struct collective *c, int depth, char *why);

/* Conditions, of which the last is always true, so that something holds. */
static bool check_conditions(struct json_object *obj, const struct collective *c, int depth,
                             char *why)
{
    char key[HWMC_JSON_KEY_MAX];
    int holds = 0;

    json_object_object_foreach(obj, obj_key, value)
    {
        hwmc_json_squeeze(obj_key, key);
        if (holds == 2)
            return wrong(why, "stands after a condition that is always true", key);
        holds = condition(key, c);
        if (holds == 0)
            return wrong(why, "no condition for this collective", key);
        if (!check_below(value, c, depth + 1, why))
            return false;
    }
    return holds == 2 || wrong(why, "the last condition has to be =any", c->name);
}

static bool check_below(struct json_object *obj, const struct collective *c, int depth, char *why)
{
    struct hwmc_shm_entry e;
    bool is_leaf = false;
    char key[HWMC_JSON_KEY_MAX];

    if (!json_object_is_type(obj, json_type_object) || json_object_object_length(obj) == 0 ||
        depth > HWMC_JSON_DEEPEST)
        return wrong(why, "neither conditions nor an entry", c->name);
    json_object_object_foreach(obj, obj_key, value)
    {
        (void) value;
        hwmc_json_squeeze(obj_key, key);
        is_leaf = is_leaf || hwmc_json_after(key, "algorithm=");
    }
    return is_leaf ? hwmc_shm_entry_read(&e, obj, c->table, why)
                   : check_conditions(obj, c, depth, why);
}

static const struct collective *named(const char *key)
{
    const char *name = hwmc_json_after(key, "collective=");

    for (size_t i = 0; name && i < sizeof(collectives) / sizeof(collectives[0]); i++)
        if (strcmp(name, collectives[i].name) == 0)
            return &collectives[i];
    return NULL;
}

static bool check(struct json_object *tree, char *why)
{
    const struct collective *c;
    char key[HWMC_JSON_KEY_MAX];

    if (!json_object_is_type(tree, json_type_object))
        return wrong(why, "no object", "the file");
    json_object_object_foreach(tree, tree_key, value)
    {
        hwmc_json_squeeze(tree_key, key);
        if (strcmp(key, HOSTS) == 0) {
            if (!hwmc_spread_rules_read(value, NULL, why))
                return false;
            continue;
        }
        if (!(c = named(key)))
            return wrong(why, "no collective that has a selection", key);
        if (!check_below(value, c, 0, why))
            return false;
    }
    return true;
}

struct json_object *hwmc_shm_entry_take_hosts(struct json_object *tree)
{
    struct json_object *found = NULL;
    const char *name = NULL;
    char key[HWMC_JSON_KEY_MAX];

    json_object_object_foreach(tree, tree_key, value)
    {
        hwmc_json_squeeze(tree_key, key);
        if (strcmp(key, HOSTS) == 0) {
            name = tree_key;
            found = json_object_get(value);
        }
    }
    if (found)
        json_object_object_del(tree, name);
    return found;
}

/* The value that all of `text` is, beside white space and comments, which the tokener skips. */
static bool parse_whole(const char *text, struct json_object **tree, char *why)
{
    struct json_tokener *tokener = json_tokener_new();
    enum json_tokener_error error;
    bool whole;

    if (!tokener)
        return wrong(why, "no memory", "the file");
    *tree = json_tokener_parse_ex(tokener, text, -1);
    error = json_tokener_get_error(tokener);
    whole = json_tokener_get_parse_end(tokener) == strlen(text);
    json_tokener_free(tokener);
    if (error != json_tokener_success)
        return wrong(why, json_tokener_error_desc(error), "no JSON");
    return whole || wrong(why, "more follows behind the end of the selection", "the file");
}

struct json_object *hwmc_shm_entry_parse(const char *text, char why[HWMC_SHM_ENTRY_WHY])
{
    struct json_object *tree = NULL;

    if (!parse_whole(text, &tree, why) || !check(tree, why)) {
        json_object_put(tree);
        return NULL;
    }
    return tree;
}

char *hwmc_shm_entry_load(const char *file)
{
    FILE *f = fopen(file, "r");
    char *text = f ? malloc(FILE_MAX_BYTES + 1) : NULL;
    size_t n = text ? fread(text, 1, FILE_MAX_BYTES + 1, f) : 0;

    if (text && (ferror(f) || n > FILE_MAX_BYTES)) {
        errno = n > FILE_MAX_BYTES ? EFBIG : errno;
        free(text);
        text = NULL;
    } else if (text && memchr(text, '\0', n)) { /* a reader of strings would end there */
        errno = EILSEQ;
        free(text);
        text = NULL;
    }
    if (f) {
        int error = errno;

        fclose(f);
        errno = error;
    }
    if (text)
        text[n] = '\0';
    return text;
}
