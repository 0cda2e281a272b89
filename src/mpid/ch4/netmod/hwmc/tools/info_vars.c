/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPI's tools interface tells a control variable's value, not its default. The default is what a
 * process reads in whose environment no control variable is set: a child, forked before MPI starts.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "info.h"
#include "../../../../../mpi/coll/bcast_hw/settings/keys.h"

#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME_MAX_LEN 128
#define TEXT_MAX 4096
#define VALUE_MAX_LEN 256
#define STRING_MAX 16384 /* MPICH has room for thousands of bytes in a string */
#define VARS_MAX 128

extern char **environ;

struct var {
    char name[NAME_MAX_LEN];
    char value[VALUE_MAX_LEN];
    char text[TEXT_MAX];
};

struct vars {
    int num;
    struct var at[VARS_MAX];
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ours(const char *name)
{
    return begins(name, "MPIR_CVAR_HWMC_") || strcmp(name, "MPIR_CVAR_BCAST_INTRA_ALGORITHM") == 0;
}

/* The environment's word for a control variable, under any name that MPICH knows it by; or NULL. */
static const char *from_environment(const char *name)
{
    static const char *const prefixes[] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"};
    char other[2 * NAME_MAX_LEN];

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        snprintf(other, sizeof(other), "%s%s", prefixes[i], name + strlen("MPIR_CVAR_"));
        if (getenv(other) != NULL)
            return getenv(other);
    }
    return NULL;
}

/* The first of the words that a description offers for choice, or NULL when it offers none. MPICH
 * joins a description's lines: the word is what stands before the first dash, without what was on
 * the line before. */
static const char *first_choice(const char *text)
{
    static const char *const words[] = {"auto", "none"};
    const char *end = strstr(text, " - ");

    while (end != NULL && end > text && end[-1] == ' ')
        end--;
    for (size_t i = 0; end != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);

        if ((size_t) (end - text) >= len && strncmp(end - len, words[i], len) == 0)
            return words[i];
    }
    return NULL;
}

/* Through MPI_T, MPICH tells a choice among words as its number, and of a string only the default:
 * for these the environment is asked first. */
static void print_value(const struct var *v, MPI_Datatype type, const void *bytes, char *value)
{
    const char *word = from_environment(v->name), *first = first_choice(v->text);
    const int number = *(const int *) bytes;

    if (type == MPI_CHAR)
        snprintf(value, VALUE_MAX_LEN, "\"%.*s\"", VALUE_MAX_LEN - 3,
                 word != NULL ? word : (const char *) bytes);
    else if (first != NULL && (word != NULL || number == 0))
        snprintf(value, VALUE_MAX_LEN, "%s", word != NULL ? word : first);
    else
        snprintf(value, VALUE_MAX_LEN, "%d", number);
}

/* A description of words to choose from has a line for each of them. MPICH joins lines, without a
 * space. Where the line before ends with a period, the break can be seen, and is put back. */
static void part_choices(char text[TEXT_MAX])
{
    char parted[TEXT_MAX];
    size_t n = 0, word = 0; /* bytes so far; of the word at their end, and spaces after it */

    for (const char *p = text; *p != '\0' && n + 2 < TEXT_MAX; p++) {
        if (begins(p, "- ") && n > 0 && parted[n - 1] == ' ' && word > 0 && n > word &&
            parted[n - word - 1] == '.') {
            memmove(&parted[n - word + 1], &parted[n - word], word);
            parted[n - word] = '\n';
            n++;
        }
        if (isalnum((unsigned char) *p) || *p == '_')
            word = n > 0 && parted[n - 1] == ' ' ? 1 : word + 1;
        else
            word = *p == ' ' && word > 0 ? word + 1 : 0;
        parted[n++] = *p;
    }
    parted[n] = '\0';
    strcpy(text, parted);
}

static void read_cvar(int index, struct var *v)
{
    int name_len = sizeof(v->name), text_len = sizeof(v->text), verbosity, bind, scope, count;
    static union {
        int number;
        char text[STRING_MAX];
    } bytes;
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
    MPI_T_enum names;

    v->name[0] = '\0';
    if (MPI_T_cvar_get_info(index, v->name, &name_len, &verbosity, &type, &names, v->text,
                            &text_len, &bind, &scope) != MPI_SUCCESS ||
        !ours(v->name))
        return;
    strcpy(v->value, "?");
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return;
    memset(&bytes, 0, sizeof(bytes));
    if (count < STRING_MAX && MPI_T_cvar_read(handle, &bytes) == MPI_SUCCESS)
        print_value(v, type, &bytes, v->value);
    part_choices(v->text);
    MPI_T_cvar_handle_free(&handle);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct var *) a)->name, ((const struct var *) b)->name);
}

static void read_cvars(struct vars *vars)
{
    int provided, num = 0;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&num);
    vars->num = 0;
    for (int i = 0; i < num && vars->num < VARS_MAX; i++) {
        read_cvar(i, &vars->at[vars->num]);
        vars->num += ours(vars->at[vars->num].name);
    }
    qsort(vars->at, (size_t) vars->num, sizeof(vars->at[0]), by_name);
    MPI_T_finalize();
}

/* Takes every control variable out of the environment, by each name that MPICH knows it by. */
static void clear_environment(void)
{
    for (char **e = environ; *e != NULL;) {
        char name[NAME_MAX_LEN];
        size_t len = strcspn(*e, "=");

        if (len < sizeof(name) &&
            (begins(*e, "MPIR_CVAR_") || begins(*e, "MPIR_PARAM_") || begins(*e, "MPICH_"))) {
            memcpy(name, *e, len);
            name[len] = '\0';
            unsetenv(name);
        } else {
            e++;
        }
    }
}

/* Reads the variables in a child with a clean environment. False: it did not work. */
static bool read_defaults(struct vars *vars)
{
    int ends[2], status;
    pid_t child;
    FILE *in;
    size_t got;

    if (pipe(ends) != 0)
        return false;
    child = fork();
    if (child == 0) {
        FILE *out = fdopen(ends[1], "w");

        clear_environment();
        read_cvars(vars);
        if (out == NULL || fwrite(vars, sizeof(*vars), 1, out) != 1 || fclose(out) != 0)
            _exit(1);
        _exit(0);
    }
    close(ends[1]);
    in = fdopen(ends[0], "r");
    got = child > 0 && in != NULL ? fread(vars, sizeof(*vars), 1, in) : 0;
    if (in != NULL)
        fclose(in);
    return child > 0 && waitpid(child, &status, 0) == child && got == 1;
}

static const char *value_of(const struct vars *vars, const char *name)
{
    for (int i = 0; i < vars->num; i++)
        if (strcmp(vars->at[i].name, name) == 0)
            return vars->at[i].value;
    return "?";
}

/* A line for a value, with the default where that is another one, and what it means. */
static void print_var(const char *name, const char *value, const char *normal, const char *text,
                      int indent)
{
    if (strcmp(value, normal) == 0)
        printf("%*s%s = %s\n", indent, "", name, value);
    else
        printf("%*s%s = %s (default: %s)\n", indent, "", name, value, normal);
    hwmc_info_print_wrapped(text, indent + 4);
}

/* One key: name, value, default, unit, what it may be and what it means. */
static void print_key(const struct hwmc_key *key, const struct hwmc_settings *s)
{
    char value[HWMC_KEY_VALUE], normal[HWMC_KEY_VALUE], range[HWMC_KEY_VALUE];
    char text[TEXT_MAX];

    hwmc_key_print(key, s, value);
    hwmc_key_print_default(key, normal);
    hwmc_key_print_range(key, range);
    snprintf(text, sizeof(text), "%s (%s%s%s)", key->meaning, range, *key->unit != '\0' ? " " : "",
             key->unit);
    print_var(key->name, value, normal, text, 4);
}

/* The keys of the variable, if it holds keys. False: its value is wrong. */
static bool print_keys(const char *name)
{
    char why[HWMC_KEY_WHY];
    struct hwmc_settings s;

    for (int i = 0; i < HWMC_KEYS_STRINGS; i++) {
        const enum hwmc_key_string string = (enum hwmc_key_string) i;
        const char *text = from_environment(name);
        size_t num;
        const struct hwmc_key *keys = hwmc_keys(string, &num);

        if (strcmp(name, hwmc_keys_variable(string)) != 0)
            continue;
        memset(&s, 0, sizeof(s));
        if (!hwmc_keys_read(string, text != NULL ? text : "", &s, why)) {
            fprintf(stderr, "hwmc_info: %s\n", why);
            return false;
        }
        for (size_t k = 0; k < num; k++)
            print_key(&keys[k], &s);
    }
    return true;
}

int hwmc_info_cvars(void)
{
    struct vars *values = calloc(1, sizeof(*values)), *defaults = calloc(1, sizeof(*defaults));
    bool good = true;
    int status = 1;

    if (values == NULL || defaults == NULL || !read_defaults(defaults)) {
        fprintf(stderr, "hwmc_info: cannot read the defaults\n");
        goto out;
    }
    read_cvars(values);
    for (int i = 0; i < values->num; i++) {
        const struct var *v = &values->at[i];

        print_var(v->name, v->value, value_of(defaults, v->name), v->text, 0);
        good = print_keys(v->name) && good;
    }
    status = values->num > 0 && good ? 0 : 1;

out:
    free(values);
    free(defaults);
    return status;
}

static const char *word_for(int class)
{
    switch (class) {
        case MPI_T_PVAR_CLASS_LEVEL:
            return " (level)";
        case MPI_T_PVAR_CLASS_STATE:
            return " (state)";
        case MPI_T_PVAR_CLASS_GENERIC:
            return " (generic)";
        default:
            return "";
    }
}

int hwmc_info_pvars(void)
{
    int provided, num = 0, found = 0;

    /* MPI registers them when it starts. */
    MPI_Init(NULL, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num; i++) {
        char name[NAME_MAX_LEN], text[TEXT_MAX];
        int name_len = sizeof(name), text_len = sizeof(text);
        int verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum names;

        if (MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &names, text,
                                &text_len, &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS)
            continue;
        if (!begins(name, "hwmc_"))
            continue;
        printf("%s%s\n", name, word_for(class));
        hwmc_info_print_wrapped(text, 4);
        found++;
    }
    MPI_T_finalize();
    MPI_Finalize();
    return found > 0 ? 0 : 1;
}

void hwmc_info_cvar_string(const char *name, char *value, int room)
{
    const char *word = from_environment(name);

    snprintf(value, (size_t) room, "%s", word != NULL ? word : "");
}
