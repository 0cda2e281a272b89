/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hwmc_info --doctor. All processes run the same steps, each of which ends with a barrier:
 *
 *   call    process 0 shows what it has drawn
 *   self    every process shows its surroundings; so all know the hosts and their probers
 *   ports   probers show their ports
 *   ready   probers have opened the rails of the first host, and joined
 *   seen    probers have tried the rails, and show what they saw
 *
 * Process 0 reads all of it and judges.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "doctor_pmi.h"
#include "doctor_try.h"
#include "info.h"
#include "version.h"
#include "../rail/match.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_S 60 /* that processes wait for each other in a step */
#define BROKEN 2

/* What this process knows. */
struct work {
    struct hwmc_doctor_pmi pmi;
    struct hwmc_doctor_call call;
    struct hwmc_doctor_self *self; /* by process */
    int num_hosts;
    int *prober;                     /* by host */
    struct hwmc_doctor_ports *ports; /* by host */
    int num_rails;
    int (*at)[HWMC_RAILS_MAX];
    struct hwmc_doctor_seen *seen; /* of all hosts at process 0; of this one elsewhere */
    struct hwmc_doctor_look *look;
};

static int fail(const struct work *w, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "hwmc_info: doctor: process %d: ", w->pmi.rank);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    return BROKEN;
}

static void say(const struct work *w, const char *format, ...)
{
    va_list args;

    if (w->pmi.rank != 0)
        return;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
}

static void give_up(int signal)
{
    static const char text[] =
        "hwmc_info: doctor: other processes of the job have not come for 60 s\n";
    const ssize_t n = write(2, text, sizeof(text) - 1);

    (void) signal;
    (void) n;
    _exit(BROKEN);
}

static bool step(struct work *w)
{
    bool good;

    alarm(PATIENCE_S);
    good = hwmc_doctor_pmi_barrier(&w->pmi);
    alarm(0);
    return good;
}

static void *room_for(size_t num, size_t bytes)
{
    void *room = calloc(num > 0 ? num : 1, bytes);

    if (room == NULL) {
        fprintf(stderr, "hwmc_info: no memory\n");
        exit(BROKEN);
    }
    return room;
}

static int share_call(struct work *w)
{
    if (w->pmi.rank == 0 && (!hwmc_doctor_draw(&w->call) ||
                             !hwmc_doctor_pmi_put(&w->pmi, "call", &w->call, sizeof(w->call))))
        return fail(w, "nothing could be drawn, or shown to others");
    if (!step(w))
        return fail(w, "the process manager does not answer");
    if (w->pmi.rank != 0 && !hwmc_doctor_pmi_get(&w->pmi, 0, "call", &w->call, sizeof(w->call)))
        return fail(w, "process 0 runs another build of hwmc_info");
    if (w->call.num_ports < 0 || w->call.num_ports > HWMC_DOCTOR_JOB_PORTS)
        return fail(w, "process 0 has drawn %d ports", w->call.num_ports);
    return 0;
}

/* Numbers hosts in the order of their first processes. */
static void find_hosts(struct work *w)
{
    w->prober = room_for((size_t) w->pmi.size, sizeof(*w->prober));
    for (int i = 0; i < w->pmi.size; i++) {
        int host = 0;

        while (host < w->num_hosts && strcmp(w->self[w->prober[host]].host, w->self[i].host) != 0)
            host++;
        if (host == w->num_hosts)
            w->prober[w->num_hosts++] = i;
    }
}

/* What comes from another process ends its texts. */
static bool end_texts(struct hwmc_doctor_self *one)
{
    one->version[sizeof(one->version) - 1] = '\0';
    one->host[sizeof(one->host) - 1] = '\0';
    one->others[sizeof(one->others) - 1] = '\0';
    one->governor[sizeof(one->governor) - 1] = '\0';
    one->driver[sizeof(one->driver) - 1] = '\0';
    return true;
}

static int share_self(struct work *w)
{
    struct hwmc_doctor_self *mine;

    w->self = room_for((size_t) w->pmi.size, sizeof(*w->self));
    mine = &w->self[w->pmi.rank];
    hwmc_doctor_look_at_host(mine, w->call.port, w->call.num_ports);
    if (!hwmc_doctor_pmi_put(&w->pmi, "self", mine, sizeof(*mine)) || !step(w))
        return fail(w, "the process manager does not answer");
    for (int i = 0; i < w->pmi.size; i++) {
        struct hwmc_doctor_self *one = &w->self[i];

        if (i == w->pmi.rank)
            continue;
        if (!hwmc_doctor_pmi_get(&w->pmi, i, "self", one, sizeof(*one)) || !end_texts(one) ||
            one->bytes != sizeof(*one) || strcmp(one->version, mine->version) != 0)
            return fail(w, "process %d runs another build of hwmc than %s", i, HWMC_VERSION);
    }
    find_hosts(w);
    return 0;
}

/* The same of ports, whose number is no more than there is room for. */
static void bound_ports(struct hwmc_doctor_ports *p)
{
    p->num = p->num < 0 ? 0 : p->num > HWMC_RAILS_MAX ? HWMC_RAILS_MAX : p->num;
    p->wrong[sizeof(p->wrong) - 1] = '\0';
    p->twice[sizeof(p->twice) - 1] = '\0';
    for (int i = 0; i < p->num; i++) {
        p->at[i].bridge[sizeof(p->at[i].bridge) - 1] = '\0';
        hwmc_rail_bound(&p->at[i].rail);
    }
}

/* The host whose prober this process is; -1: none. */
static int host_of(const struct work *w)
{
    for (int host = 0; host < w->num_hosts; host++)
        if (w->prober[host] == w->pmi.rank)
            return host;
    return -1;
}

static int share_ports(struct work *w, struct hwmc_doctor_try **t)
{
    const int me = host_of(w);

    w->ports = room_for((size_t) w->num_hosts, sizeof(*w->ports));
    if (me >= 0) {
        struct hwmc_doctor_ports *mine = &w->ports[me];

        *t = hwmc_doctor_try_find(&w->call, mine);
        if (*t == NULL)
            return fail(w, "no memory");
        if (!hwmc_doctor_pmi_put(&w->pmi, "ports", mine, sizeof(*mine)))
            return fail(w, "the process manager does not answer");
    }
    if (!step(w))
        return fail(w, "the process manager does not answer");
    for (int host = 0; me >= 0 && host < w->num_hosts; host++) {
        if (host != me && !hwmc_doctor_pmi_get(&w->pmi, w->prober[host], "ports", &w->ports[host],
                                               sizeof(w->ports[host])))
            return fail(w, "nothing is known of process %d", w->prober[host]);
        bound_ports(&w->ports[host]);
    }
    return 0;
}

/* The job's rails are those of the first host; others find theirs by subnet, as in a job. */
static void match_rails(struct work *w)
{
    struct hwmc_rail rails[HWMC_RAILS_MAX];
    char text[HWMC_MATCH_TEXT_MAX];

    w->num_rails = w->ports[0].num;
    w->at = room_for((size_t) w->num_hosts, sizeof(*w->at));
    for (int i = 0; i < w->num_rails; i++)
        rails[i] = w->ports[0].at[i].rail;
    hwmc_match_write(rails, w->num_rails, text);
    for (int host = 0; host < w->num_hosts; host++) {
        for (int i = 0; i < w->ports[host].num; i++)
            rails[i] = w->ports[host].at[i].rail;
        for (int i = 0; i < HWMC_RAILS_MAX; i++)
            w->at[host][i] = -1;
        if (w->num_rails > 0)
            hwmc_match_read(text, rails, w->ports[host].num, w->at[host]);
    }
}

/* The first UDP port that all processes could have; 0: none. */
static uint16_t choose_port(const struct work *w)
{
    const uint32_t all = hwmc_doctor_job_ports(w->self, w->pmi.size, w->call.num_ports);

    return all != 0 ? w->call.port[__builtin_ctz(all)] : 0;
}

static int try_rails(struct work *w, struct hwmc_doctor_try *t)
{
    const struct hwmc_doctor_hosts hosts = {
        .num = w->num_hosts,
        .me = host_of(w),
        .num_rails = w->num_rails,
        .ports = w->ports,
        .at = (const int(*)[HWMC_RAILS_MAX]) w->at,
    };

    if (t && !hwmc_doctor_try_open(t, &hosts, choose_port(w), w->seen, w->look))
        return fail(w, "no memory");
    if (!step(w))
        return fail(w, "the process manager does not answer");
    if (t)
        hwmc_doctor_try_run(t);
    if (!step(w))
        return fail(w, "the process manager does not answer");
    if (t)
        hwmc_doctor_try_leave(t);
    return 0;
}

static int share_seen(struct work *w)
{
    const size_t of_host = (size_t) w->num_rails * (size_t) w->num_hosts;
    const size_t seen_bytes = of_host * sizeof(*w->seen);
    const size_t look_bytes = (size_t) w->num_rails * sizeof(*w->look);

    if (w->pmi.rank != 0 && host_of(w) >= 0 &&
        (!hwmc_doctor_pmi_put(&w->pmi, "seen", w->seen, seen_bytes) ||
         !hwmc_doctor_pmi_put(&w->pmi, "look", w->look, look_bytes)))
        return fail(w, "the process manager does not answer");
    if (!step(w))
        return fail(w, "the process manager does not answer");
    for (int host = 1; w->pmi.rank == 0 && w->num_rails > 0 && host < w->num_hosts; host++)
        if (!hwmc_doctor_pmi_get(&w->pmi, w->prober[host], "seen",
                                 &w->seen[(size_t) host * of_host], seen_bytes) ||
            !hwmc_doctor_pmi_get(&w->pmi, w->prober[host], "look", &w->look[host * w->num_rails],
                                 look_bytes))
            return fail(w, "process %d does not say what it saw", w->prober[host]);
    return 0;
}

static int judge(const struct work *w, bool json)
{
    const struct hwmc_doctor_case c = {
        .num = w->pmi.size,
        .self = w->self,
        .num_hosts = w->num_hosts,
        .prober = w->prober,
        .ports = w->ports,
        .num_rails = w->num_rails,
        .at = (const int(*)[HWMC_RAILS_MAX]) w->at,
        .num_job_ports = w->call.num_ports,
        .seen = w->seen,
        .look = w->look,
    };
    static struct hwmc_doctor_report report;

    hwmc_doctor_judge(&c, &report);
    if (json)
        hwmc_doctor_print_json(&c, &report);
    else
        hwmc_doctor_print(&c, &report);
    return hwmc_doctor_status(&report);
}

/* The status is process 0's: mpiexec combines those of all. */
static int examine(struct work *w, struct hwmc_doctor_try **t, bool json)
{
    int status = share_call(w);

    if (status == 0)
        status = share_self(w);
    if (status != 0)
        return status;
    say(w, "doctor: %d process%s on %d host%s; trying the rails\n", w->pmi.size,
        w->pmi.size > 1 ? "es" : "", w->num_hosts, w->num_hosts > 1 ? "s" : "");
    status = share_ports(w, t);
    if (status != 0)
        return status;
    match_rails(w);
    w->seen = room_for((size_t) w->num_hosts * (size_t) w->num_hosts * (size_t) w->num_rails,
                       sizeof(*w->seen));
    w->look = room_for((size_t) w->num_hosts * (size_t) w->num_rails, sizeof(*w->look));
    status = try_rails(w, *t);
    if (status == 0)
        status = share_seen(w);
    return status == 0 && w->pmi.rank == 0 ? judge(w, json) : status;
}

static int examine_all(bool json)
{
    struct work w = {0};
    struct hwmc_doctor_try *t = NULL;
    const char *why;
    int status;

    signal(SIGALRM, give_up);
    if (!hwmc_doctor_pmi_open(&w.pmi, &why))
        return fail(&w, "%s", why);
    status = examine(&w, &t, json);
    if (t)
        hwmc_doctor_try_close(t);
    hwmc_doctor_pmi_close(&w.pmi);
    free(w.self);
    free(w.prober);
    free(w.ports);
    free(w.at);
    free(w.seen);
    free(w.look);
    return status;
}

/* A program beside this one. */
static bool find_beside(const char *name, char *path, size_t room)
{
    char own[4096];
    const ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
    char *end;

    if (len <= 0)
        return false;
    own[len] = '\0';
    end = strrchr(own, '/');
    return end != NULL &&
           snprintf(path, room, "%.*s/%s", (int) (end - own), own, name) < (int) room;
}

/* Becomes mpiexec, with one process on each host. */
static int start_on(const char *hosts, bool json)
{
    char mpiexec[4096], info[4096], num[16];
    int count = 1;

    for (const char *c = hosts; *c != '\0'; c++)
        count += *c == ',';
    snprintf(num, sizeof(num), "%d", count);
    if (find_beside("mpiexec", mpiexec, sizeof(mpiexec)) &&
        find_beside("hwmc_info", info, sizeof(info)))
        execl(mpiexec, mpiexec, "-hosts", hosts, "-ppn", "1", "-n", num, info, "--doctor",
              json ? "--json" : NULL, (char *) NULL);
    fprintf(stderr, "hwmc_info: mpiexec, which should be beside it, cannot be started\n");
    return BROKEN;
}

int hwmc_info_doctor(const char *hosts, bool json)
{
    return hosts ? start_on(hosts, json) : examine_all(json);
}
