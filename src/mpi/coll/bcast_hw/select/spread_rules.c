/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_rules: see spread_rules.h.
 */

#include "spread_rules.h"

#include <json.h>
#include <stdio.h>

#include "json_keys.h"
#include "../core/base/prng.h"
#include "../settings/keys.h"

#define RULES_MOST 4096

/* Where a walk through the tree is. */
struct walk {
    struct hwmc_spread_rules *rules; /* NULL: nothing is kept */
    struct hwmc_spread_rule now;     /* the conditions so far */
    const struct hwmc_key *key;      /* of the collective: its algorithms */
    char *why;
};

static bool wrong(const struct walk *w, const char *what, const char *key)
{
    snprintf(w->why, HWMC_SPREAD_RULES_WHY, "%s: %s", key, what);
    return false;
}

static bool keep_rule(struct walk *w)
{
    struct hwmc_spread_rules *r = w->rules;
    struct hwmc_spread_rule *more;

    if (!r)
        return true;
    more = r->num < RULES_MOST ? realloc(r->rule, (r->num + 1) * sizeof(*more)) : NULL;
    if (!more)
        return wrong(w, "too many entries, or no memory", w->key->name);
    r->rule = more;
    r->rule[r->num++] = w->now;
    return true;
}

static bool read_leaf(struct walk *w, const char *name, struct json_object *params)
{
    int word = 0;

    if (!json_object_is_type(params, json_type_object) || json_object_object_length(params) != 0)
        return wrong(w, "an algorithm over hosts has no parameters, but {}", name);
    while (word < HWMC_KEY_WORDS && w->key->words[word] && strcmp(w->key->words[word], name) != 0)
        word++;
    if (word == HWMC_KEY_WORDS || !w->key->words[word])
        return wrong(w, "this collective has no algorithm of that name over hosts", name);
    w->now.runner = (enum hwmc_set_runner) word;
    return keep_rule(w);
}

/* The bound that a condition sets; NULL: it is none. *any: it is always true. */
static int64_t *read_condition(struct walk *w, const char *key, bool *any, int64_t *bound)
{
    const struct {
        const char *name;
        int64_t *field;
    } each[] = {{"hosts", &w->now.hosts},
                {"ranks_per_host", &w->now.each},
                {"avg_msg_size", &w->now.bytes}};

    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        const char *rest = hwmc_json_after(key, each[i].name), *number;

        if (!rest || (each[i].field == &w->now.bytes && w->now.coll == HWMC_COLL_BARRIER))
            continue;
        *any = strcmp(rest, "=any") == 0;
        *bound = INT64_MAX;
        number = hwmc_json_after(rest, "<=");
        if (*any || (number && hwmc_json_number(number, 0, INT64_MAX - 1, bound)))
            return each[i].field;
    }
    return NULL;
}

/* Reads an object that has conditions, and last one that is always true, or else an algorithm. The
 * depth is bounded. */
static bool read_below(struct walk *w, struct json_object *obj, int depth)
{
    const struct hwmc_spread_rule before = w->now;
    char key[HWMC_JSON_KEY_MAX];
    bool any = false;

    if (!json_object_is_type(obj, json_type_object) || depth > HWMC_JSON_DEEPEST)
        return wrong(w, "neither conditions nor an algorithm", w->key->name);
    json_object_object_foreach(obj, obj_key, value)
    {
        int64_t bound, *field;

        hwmc_json_squeeze(obj_key, key);
        if (any)
            return wrong(w, "stands after a condition that is always true", key);
        if (hwmc_json_after(key, "algorithm=")) {
            any = true;
            if (!read_leaf(w, hwmc_json_after(key, "algorithm="), value))
                return false;
            continue;
        }
        field = read_condition(w, key, &any, &bound);
        if (!field)
            return wrong(w, "no condition for this collective over hosts", key);
        *field = bound < *field ? bound : *field;
        if (!read_below(w, value, depth + 1))
            return false;
        w->now = before;
    }
    return any || wrong(w, "the last condition has to be =any", w->key->name);
}

static const struct hwmc_key *key_named(const char *name, enum hwmc_coll *coll)
{
    static const char *const names[] = {
#define X(name, lower) [HWMC_COLL_##name] = #lower,
        HWMC_COLLS(X)
#undef X
    };
    size_t num;
    const struct hwmc_key *keys = hwmc_keys(HWMC_KEYS_ALGORITHMS, &num);

    for (int i = 0; name && i < HWMC_COLL_LIMIT; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        *coll = (enum hwmc_coll) i;
        for (size_t k = 0; k < num; k++)
            if (strcmp(keys[k].name, name) == 0)
                return &keys[k];
    }
    return NULL;
}

static bool read_all(struct walk *w, struct json_object *hosts)
{
    char key[HWMC_JSON_KEY_MAX];

    if (!json_object_is_type(hosts, json_type_object))
        return wrong(w, "no object", "between=hosts");
    json_object_object_foreach(hosts, hosts_key, value)
    {
        hwmc_json_squeeze(hosts_key, key);
        w->now =
            (struct hwmc_spread_rule){.hosts = INT64_MAX, .each = INT64_MAX, .bytes = INT64_MAX};
        w->key = key_named(hwmc_json_after(key, "collective="), &w->now.coll);
        if (!w->key)
            return wrong(w, "no collective that has a selection over hosts", key);
        if (!read_below(w, value, 0))
            return false;
    }
    return true;
}

bool hwmc_spread_rules_read(struct json_object *hosts, struct hwmc_spread_rules *rules,
                            char why[HWMC_SPREAD_RULES_WHY])
{
    struct walk w = {.rules = rules, .why = why};

    if (rules)
        *rules = (struct hwmc_spread_rules){NULL, 0};
    if (read_all(&w, hosts))
        return true;
    if (rules)
        hwmc_spread_rules_free(rules);
    return false;
}

void hwmc_spread_rules_free(struct hwmc_spread_rules *rules)
{
    free(rules->rule);
    *rules = (struct hwmc_spread_rules){NULL, 0};
}

static enum hwmc_set_runner find_of(const struct hwmc_spread_rules *rules, enum hwmc_coll coll,
                                    const struct hwmc_coll_case *c)
{
    for (uint32_t i = 0; i < rules->num; i++) {
        const struct hwmc_spread_rule *r = &rules->rule[i];

        if (r->coll == coll && c->members <= r->hosts && c->each <= r->each &&
            (r->bytes == INT64_MAX || c->bytes <= (uint64_t) r->bytes))
            return r->runner;
    }
    return HWMC_SET_RUNNER_AUTO;
}

enum hwmc_set_runner hwmc_spread_rules_find(const struct hwmc_spread_rules *rules,
                                            const struct hwmc_coll_case *c)
{
    const enum hwmc_set_runner found = find_of(rules, c->coll, c);

    if (found == HWMC_SET_RUNNER_AUTO && c->coll == HWMC_COLL_ALLTOALLW)
        return find_of(rules, HWMC_COLL_ALLTOALLV, c);
    return found;
}

uint64_t hwmc_spread_rules_hash(const struct hwmc_spread_rules *rules)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < rules->num; i++) {
        const struct hwmc_spread_rule *r = &rules->rule[i];

        hash = hwmc_prng(hash, (uint64_t) r->coll);
        hash = hwmc_prng(hash, (uint64_t) r->hosts);
        hash = hwmc_prng(hash, (uint64_t) r->each);
        hash = hwmc_prng(hash, (uint64_t) r->bytes);
        hash = hwmc_prng(hash, (uint64_t) r->runner);
    }
    return hash;
}
