/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What a job has counted, as one table or one line of JSON, when it ends: a row for each number
 * that is not 0 everywhere, with the sum over all ranks if it is a counter, the least, the most,
 * and the rank that had the most. Ranks give what they know of themselves and of others up a
 * binomial tree to rank 0, which writes.
 *
 * It runs at the beginning of MPI_Finalize, which waits for all ranks anyway. Nothing that goes
 * wrong here is an error of the program: ranks that could not be heard are missing in the table,
 * which says so.
 */

#include "mpiimpl.h"
#include "netmod.h"
#include "../process/hosts.h"
#include "../process/mpich.h"
#include "../stats/export.h"
#include "../stats/json_add.h"
#include "../settings/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct row {
    uint64_t total, least, most;
    uint32_t rank; /* the lowest that had the most */
    char host[28]; /* where it ran */
};

/* What a rank tells of itself and those below it in the tree. */
struct table {
    uint32_t ranks; /* that it tells of */
    uint32_t rows;
    struct row row[];
};

static size_t table_bytes(uint32_t rows)
{
    return sizeof(struct table) + rows * sizeof(struct row);
}

#define JSON_PREFIX "json:"

static char *where;  /* NULL: nowhere */
static bool as_json; /* a line of JSON, not a table */

void hwmc_summary_open(void)
{
    const char *wanted = hwmc_settings.summary;

    if (where)
        return;
    as_json = strncmp(wanted, JSON_PREFIX, strlen(JSON_PREFIX)) == 0;
    wanted += as_json ? strlen(JSON_PREFIX) : 0;
    if (*wanted && strcmp(wanted, "0") != 0)
        where = MPL_strdup(wanted);
}

static void own(const struct hwmc_export *live, struct table *t)
{
    char host[sizeof(t->row[0].host)] = "";

    gethostname(host, sizeof(host) - 1);
    t->ranks = 1;
    t->rows = live->num_counters;
    for (uint32_t i = 0; i < t->rows; i++) {
        struct row *r = &t->row[i];

        r->total = r->least = r->most = live->value[i];
        r->rank = live->rank;
        memcpy(r->host, host, sizeof(host));
    }
}

static void combine(struct table *t, const struct table *other)
{
    t->ranks += other->ranks;
    for (uint32_t i = 0; i < t->rows; i++) {
        struct row *r = &t->row[i];
        const struct row *o = &other->row[i];

        r->total += o->total;
        r->least = MPL_MIN(r->least, o->least);
        if (o->most > r->most || (o->most == r->most && o->rank < r->rank)) {
            r->most = o->most;
            r->rank = o->rank;
            memcpy(r->host, o->host, sizeof(r->host));
        }
    }
}

/* Up the tree: rank 0 has all of it in `t` afterwards. `other` is room for one more. */
static void gather(MPIR_Comm *world, struct table *t, struct table *other)
{
    const int bytes = (int) table_bytes(t->rows);

    for (int bit = 1; bit < world->local_size; bit *= 2) {
        if (world->rank & bit) {
            MPIC_Send(t, bytes, HWMC_BYTE, world->rank - bit, MPIR_GATHER_TAG, world,
                      HWMC_NO_ERRORS);
            return;
        }
        if (world->rank + bit < world->local_size &&
            MPIC_Recv(other, bytes, HWMC_BYTE, world->rank + bit, MPIR_GATHER_TAG, world,
                      MPI_STATUS_IGNORE HWMC_RECV_TAIL) == MPI_SUCCESS &&
            other->rows == t->rows)
            combine(t, other);
    }
}

static void write_rails(FILE *to, const struct hwmc_export *live)
{
    for (uint32_t i = 0; i < live->num_rails; i++) {
        const struct hwmc_export_rail *r = &live->rail[i];

        fprintf(to, "rail %u at rank 0: %s, ", r->number, r->port.name);
        if (r->port.mbit > 0)
            fprintf(to, "%u Mbit/s, ", r->port.mbit);
        fprintf(to, "%s\n", *r->fabric ? r->fabric : "no multicast");
    }
}

static void write_table(FILE *to, const struct hwmc_export *live, const struct table *t)
{
    fprintf(to, "hwmc %s: %u ranks", live->version, live->size);
    if (t->ranks < live->size)
        fprintf(to, ", of which %u could not be heard", live->size - t->ranks);
    fprintf(to, "\n");
    write_rails(to, live);
    fprintf(to, "%-32s %16s %16s %16s  %s\n", "", "total", "least", "most", "by rank");
    for (uint32_t i = 0; i < t->rows; i++) {
        const struct row *r = &t->row[i];

        if (r->most == 0)
            continue;
        fprintf(to, "%-32s ", live->name[i]);
        if (live->kind[i] != HWMC_COUNTER)
            fprintf(to, "%16s", "-");
        else
            fprintf(to, "%16" PRIu64, r->total);
        fprintf(to, " %16" PRIu64 " %16" PRIu64 "  %u (%s)\n", r->least, r->most, r->rank, r->host);
    }
}

static struct json_object *json_of_rails(const struct hwmc_export *live)
{
    struct json_object *all = json_object_new_array();

    for (uint32_t i = 0; i < live->num_rails; i++) {
        const struct hwmc_export_rail *r = &live->rail[i];
        struct json_object *one = json_object_new_object();

        hwmc_json_number(one, "number", r->number);
        hwmc_json_text(one, "port", r->port.name);
        hwmc_json_number(one, "mbit", r->port.mbit);
        hwmc_json_text(one, "multicast", r->fabric);
        json_object_array_add(all, one);
    }
    return all;
}

static struct json_object *json_of_rows(const struct hwmc_export *live, const struct table *t)
{
    struct json_object *all = json_object_new_object();

    for (uint32_t i = 0; i < t->rows; i++) {
        const struct row *r = &t->row[i];
        struct json_object *one;

        if (r->most == 0)
            continue;
        one = json_object_new_object();
        if (live->kind[i] == HWMC_COUNTER)
            hwmc_json_number(one, "total", r->total);
        hwmc_json_number(one, "least", r->least);
        hwmc_json_number(one, "most", r->most);
        hwmc_json_number(one, "by_rank", r->rank);
        hwmc_json_text(one, "host", r->host);
        json_object_object_add(all, live->name[i], one);
    }
    return all;
}

/* One line, so that a file with several jobs can be read line by line. */
static void write_json(FILE *to, const struct hwmc_export *live, const struct table *t)
{
    struct json_object *all = json_object_new_object();

    hwmc_json_text(all, "hwmc", live->version);
    hwmc_json_number(all, "ranks", live->size);
    hwmc_json_number(all, "heard", t->ranks);
    json_object_object_add(all, "rails", json_of_rails(live));
    json_object_object_add(all, "counters", json_of_rows(live, t));
    fprintf(to, "%s\n",
            json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN |
                                                    JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(all);
}

static void complain(const char *why)
{
    fprintf(stderr, "hwmc: MPIR_CVAR_HWMC_SUMMARY: %s: %s\n", where, why);
}

/* By one write, so that what other jobs append to the file stays beside it; to standard error if
 * the file cannot be opened. */
static void tell(const char *text, size_t len)
{
    int fd = STDERR_FILENO;
    ssize_t n;

    if (strcmp(where, "stderr") != 0 && strcmp(where, "1") != 0) {
        fd = open(where, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) {
            complain(strerror(errno));
            fd = STDERR_FILENO;
        }
    }
    n = write(fd, text, len);
    if (n != (ssize_t) len)
        complain(n < 0 ? strerror(errno) : "it took a part only");
    if (fd != STDERR_FILENO && close(fd) != 0)
        complain(strerror(errno));
}

static void print(const struct hwmc_export *live, const struct table *t)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    if (!to)
        return;
    if (as_json)
        write_json(to, live, t);
    else
        write_table(to, live, t);
    if (fclose(to) == 0)
        tell(text, len);
    free(text);
}

void hwmc_summary(MPIR_Comm *world)
{
    const struct hwmc_export *live = hwmc_export_page();
    struct table *t, *other;

    if (!where)
        return;
    t = MPL_calloc(1, table_bytes(live->num_counters), MPL_MEM_OTHER);
    other = MPL_calloc(1, table_bytes(live->num_counters), MPL_MEM_OTHER);
    MPIR_Assert(t && other);
    own(live, t);
    gather(world, t, other);
    if (world->rank == 0)
        print(live, t);
    MPL_free(t);
    MPL_free(other);
    MPL_free(where);
    where = NULL;
}
