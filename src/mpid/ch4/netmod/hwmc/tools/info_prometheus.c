/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hwmc_info --live --prometheus: counters of all processes of this host that run hwmc, in the text
 * format of Prometheus, version 0.0.4. A file is written beside its name and renamed, so a
 * collector reads the old one or the new one. A counter that is 0 in all processes is left out:
 * they would be most of the lines.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "info.h"
#include "info_page.h"
#include "../../../../../mpi/coll/bcast_hw/stats/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGES_MAX 4096

/* Processes that show something, and their counters. */
struct pages {
    int num;
    struct hwmc_info_page *at;
    uint64_t (*value)[HWMC_EXPORT_COUNTERS];
    uint32_t *counters; /* of each, how many */
};

/* Opens a page, and leaves no descriptors open: there may be many. */
static bool take_page(struct hwmc_info_page *p, const char *pid, bool tells)
{
    if (hwmc_info_page_open(p, pid, tells) != 0)
        return false;
    hwmc_info_page_let_go(p);
    return true;
}

/* One process, or all that this one may look at. */
static void find_pages(struct pages *all, const char *pid)
{
    DIR *proc = pid ? NULL : opendir("/proc");

    if (pid)
        all->num = take_page(&all->at[0], pid, true);
    for (struct dirent *e; proc && all->num < PAGES_MAX && (e = readdir(proc)) != NULL;)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
            all->num += take_page(&all->at[all->num], e->d_name, false);
    if (proc)
        closedir(proc);
    for (int i = 0; i < all->num; i++)
        all->counters[i] = hwmc_info_page_counters(all->at[i].live, all->value[i]);
}

static void close_pages(struct pages *all)
{
    for (int i = 0; i < all->num; i++)
        hwmc_info_page_close(&all->at[i]);
    all->num = 0;
}

/* A backslash and the end of a line are written with a backslash; in a label's value quotes are,
 * too. */
static void write_escaped(FILE *to, const char *text, bool label)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            fputs("\\n", to);
        else if (*text == '\\' || (label && *text == '"'))
            fprintf(to, "\\%c", *text);
        else
            fputc(*text, to);
    }
}

/* A metric: its name, and by what its values are divided, since Prometheus has seconds only. */
struct metric {
    char name[HWMC_EXPORT_NAME + 16];
    double scale; /* 0: they are written as they are */
};

static struct metric metric_of(const struct hwmc_export *live, uint32_t counter)
{
    const char *const name = live->name[counter];
    const char *const end = live->kind[counter] == HWMC_COUNTER ? "_total" : "";
    const size_t len = strlen(name);
    const bool is_ns = len > 3 && strcmp(name + len - 3, "_ns") == 0;
    struct metric m = {.scale = is_ns ? 1e9 : 0};

    snprintf(m.name, sizeof(m.name), "%.*s%s%s", (int) (is_ns ? len - 3 : len), name,
             is_ns ? "_seconds" : "", end);
    return m;
}

static void write_head(FILE *to, const char *name, const char *type, const char *text)
{
    fprintf(to, "# HELP %s ", name);
    write_escaped(to, text, false);
    fprintf(to, "\n# TYPE %s %s\n", name, type);
}

static void write_rank(FILE *to, const char *name, const struct hwmc_info_page *p)
{
    fprintf(to, "%s{pid=\"%s\",rank=\"%u\"", name, p->pid, p->live->rank);
}

static void write_label(FILE *to, const char *name, const char *value)
{
    char clean[HWMC_UTF8_ROOM(HWMC_RAIL_NAME_MAX)]; /* none is longer */

    hwmc_utf8_copy(value, clean);
    fprintf(to, ",%s=\"", name);
    write_escaped(to, clean, true);
    fprintf(to, "\"");
}

/* Where a page has a counter, which another one has at `like`; -1: it does not. Builds of a version
 * have the same at the same place, but for those with verbs and without. */
static int find_counter(const struct pages *all, int page, const char *name, uint32_t like)
{
    const struct hwmc_export *live = all->at[page].live;

    if (like < all->counters[page] && strcmp(live->name[like], name) == 0)
        return (int) like;
    for (uint32_t i = 0; i < all->counters[page]; i++)
        if (strcmp(live->name[i], name) == 0)
            return (int) i;
    return -1;
}

/* The values of a counter of page `first` there and in those behind it. */
static void write_values(FILE *to, const struct pages *all, int first, uint32_t counter,
                         const struct metric *m)
{
    const char *const name = all->at[first].live->name[counter];

    for (int i = first; i < all->num; i++) {
        const int at = find_counter(all, i, name, counter);

        if (at < 0)
            continue;
        write_rank(to, m->name, &all->at[i]);
        if (m->scale > 0)
            fprintf(to, "} %.9g\n", (double) all->value[i][at] / m->scale);
        else
            fprintf(to, "} %" PRIu64 "\n", all->value[i][at]);
    }
}

/* A counter of page `first`, if earlier ones do not have it, and it is not 0 everywhere. */
static void write_counter(FILE *to, const struct pages *all, int first, uint32_t counter)
{
    const struct hwmc_export *live = all->at[first].live;
    const struct metric m = metric_of(live, counter);
    const char *text = &live->texts[live->text[counter]];
    bool any = false;

    for (int i = 0; i < first; i++)
        if (find_counter(all, i, live->name[counter], counter) >= 0)
            return;
    for (int i = first; i < all->num && !any; i++) {
        const int at = find_counter(all, i, live->name[counter], counter);

        any = at >= 0 && all->value[i][at] > 0;
    }
    if (!any)
        return;
    if (m.scale > 0 && strncmp(text, "nano", 4) == 0)
        text += 4;
    write_head(to, m.name, live->kind[counter] == HWMC_COUNTER ? "counter" : "gauge", text);
    write_values(to, all, first, counter, &m);
}

static void write_processes(FILE *to, const struct pages *all)
{
    write_head(to, "hwmc_process_info", "gauge", "a process that runs hwmc, always 1");
    for (int i = 0; i < all->num; i++) {
        write_rank(to, "hwmc_process_info", &all->at[i]);
        fprintf(to, ",ranks=\"%u\"", all->at[i].live->size);
        write_label(to, "version", all->at[i].live->version);
        fprintf(to, "} 1\n");
    }
}

static int count_groups(const struct hwmc_export *live, uint32_t rail, const char *state)
{
    struct hwmc_export_cast c;
    int num = 0;

    for (uint32_t i = 0; i < HWMC_EXPORT_CASTS; i++)
        num += hwmc_info_page_read(&live->cast[i].turn, &c, sizeof(c)) && c.ranks > 0 &&
               strcmp(hwmc_info_page_state(&c, rail), state) == 0;
    return num;
}

static void write_rails(FILE *to, const struct pages *all)
{
    static const char *const states[] = {"on", "disabled", "off", "broken"};

    write_head(to, "hwmc_rail_groups", "gauge",
               "multicast groups of a process, by rail and state there");
    for (int i = 0; i < all->num; i++) {
        const struct hwmc_export *live = all->at[i].live;
        const uint32_t num = atomic_load_explicit(&live->num_rails, memory_order_acquire);

        for (uint32_t k = 0; k < num && k < HWMC_RAILS_MAX; k++)
            for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); s++) {
                write_rank(to, "hwmc_rail_groups", &all->at[i]);
                fprintf(to, ",rail=\"%u\"", live->rail[k].number);
                write_label(to, "port", live->rail[k].port.name);
                write_label(to, "state", states[s]);
                fprintf(to, "} %d\n", count_groups(live, live->rail[k].number, states[s]));
            }
    }
}

static void write_metrics(FILE *to, const struct pages *all)
{
    write_head(to, "hwmc_processes", "gauge", "processes of this host that run hwmc");
    fprintf(to, "hwmc_processes %d\n", all->num);
    if (all->num == 0)
        return;
    write_processes(to, all);
    write_rails(to, all);
    for (int i = 0; i < all->num; i++)
        for (uint32_t c = 0; c < all->counters[i]; c++)
            write_counter(to, all, i, c);
}

/* 0, or 1 and what is wrong has been said. */
static int write_file(const char *name, const struct pages *all)
{
    char temporary[4096];
    FILE *to;
    int bad;

    if (name == NULL) {
        write_metrics(stdout, all);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    /* Collectors read files that end with .prom. */
    if (snprintf(temporary, sizeof(temporary), "%s.%d", name, (int) getpid()) >=
        (int) sizeof(temporary))
        return 1;
    to = fopen(temporary, "we");
    bad = to == NULL;
    if (to) {
        write_metrics(to, all);
        bad = fchmod(fileno(to), 0644) != 0 || ferror(to);
        bad = fclose(to) != 0 || bad;
        bad = bad || rename(temporary, name) != 0;
    }
    if (bad) {
        fprintf(stderr, "hwmc_info: %s: %s\n", name, strerror(errno));
        unlink(temporary);
    }
    return bad;
}

int hwmc_info_prometheus(const char *pid, const char *file, const char *interval)
{
    struct pages all = {.at = calloc(PAGES_MAX, sizeof(*all.at)),
                        .value = calloc(PAGES_MAX, sizeof(*all.value)),
                        .counters = calloc(PAGES_MAX, sizeof(*all.counters))};
    double seconds = 0;
    int status = 0;

    if (interval && !hwmc_info_seconds(interval, &seconds)) {
        fprintf(stderr, "hwmc_info: not understood: %s\n", interval);
        return 2;
    }
    if (!all.at || !all.value || !all.counters) {
        fprintf(stderr, "hwmc_info: no memory\n");
        return 1;
    }
    do {
        const struct timespec nap = {(time_t) seconds,
                                     (long) ((seconds - (double) (time_t) seconds) * 1e9)};

        find_pages(&all, pid);
        status = pid && all.num == 0 ? 1 : write_file(file, &all);
        close_pages(&all);
        if (interval && status == 0)
            nanosleep(&nap, NULL);
    } while (interval && status == 0);
    free(all.at);
    free(all.value);
    free(all.counters);
    return status;
}
