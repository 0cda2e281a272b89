/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Faults, from inside (ibemu.h) and from outside (a file).
 */
#include "control.h"
#include "device.h"
#include "ibemu.h"
#include "qp.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int ibemu_drop(double percent, uint64_t seed)
{
    struct em_hca *hca = em_device_hca();

    if (hca == NULL || percent < 0 || percent > 100)
        return EINVAL;
    pthread_mutex_lock(&hca->lock);
    hca->faults.drop = (unsigned) (percent * 10);
    hca->faults.seed = seed;
    pthread_mutex_unlock(&hca->lock);
    return 0;
}

int ibemu_cut_port(int port_num, int cut)
{
    struct em_hca *hca = em_device_hca();
    struct em_port *port = hca != NULL ? em_hca_port(hca, port_num) : NULL;

    if (port == NULL)
        return EINVAL;
    pthread_mutex_lock(&hca->lock);
    port->cut = cut != 0;
    pthread_mutex_unlock(&hca->lock);
    return 0;
}

int ibemu_cut_lid(uint16_t lid, int cut)
{
    struct em_hca *hca = em_device_hca();
    int e;

    if (hca == NULL)
        return EINVAL;
    pthread_mutex_lock(&hca->lock);
    e = em_faults_cut_lid(&hca->faults, lid, cut != 0);
    pthread_mutex_unlock(&hca->lock);
    return e;
}

int ibemu_join(const char *answer)
{
    struct em_hca *hca = em_device_hca();
    bool known;

    if (hca == NULL)
        return EINVAL;
    pthread_mutex_lock(&hca->lock);
    known = em_joins_parse(&hca->joins, answer);
    pthread_mutex_unlock(&hca->lock);
    return known ? 0 : EINVAL;
}

int ibemu_raise(enum ibv_event_type event, int port_num)
{
    struct em_hca *hca = em_device_hca();

    if (hca == NULL || em_hca_port(hca, port_num) == NULL)
        return EINVAL;
    pthread_mutex_lock(&hca->lock);
    em_event_raise_port(hca, event, port_num);
    pthread_mutex_unlock(&hca->lock);
    return 0;
}

int ibemu_break_qp(struct ibv_qp *ibv)
{
    struct em_qp *qp = (struct em_qp *) ibv;

    pthread_mutex_lock(&qp->hca->lock);
    em_qp_event(qp, IBV_EVENT_QP_FATAL);
    em_qp_to_error(qp);
    pthread_mutex_unlock(&qp->hca->lock);
    return 0;
}

int ibemu_read_counters(struct ibemu_counters *counters)
{
    struct em_hca *hca = em_device_hca();
    const struct em_counters *c;

    if (hca == NULL)
        return EINVAL;
    c = &hca->count;
    pthread_mutex_lock(&hca->lock);
    *counters = (struct ibemu_counters){
        .sent = c->sent,
        .received = c->received,
        .lost = c->lost_by_faults,
        .dropped = c->dropped_header,
        .dropped_qkey = c->dropped_qkey,
        .dropped_no_recv = c->dropped_no_recv,
        .retransmitted = c->retransmitted,
        .rnr_naks = c->rnr_naks,
        .sequence_naks = c->sequence_naks,
        .duplicates = c->duplicates,
        .migrations = c->migrations,
    };
    pthread_mutex_unlock(&hca->lock);
    return 0;
}

int em_control_open(const char *path, int *fd)
{
    char copy[PATH_MAX];
    int e;

    if (strlen(path) >= sizeof(copy))
        return ENAMETOOLONG;
    memcpy(copy, path, strlen(path) + 1);
    *fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (*fd < 0)
        return errno;
    if (inotify_add_watch(*fd, dirname(copy), IN_CLOSE_WRITE | IN_MOVED_TO) >= 0)
        return 0;
    e = errno;
    close(*fd);
    *fd = -1;
    return e;
}

static void raise_named(struct em_hca *hca, const char *name, int port_num)
{
    static const struct {
        const char *name;
        enum ibv_event_type type;
    } events[] = {{"client-reregister", IBV_EVENT_CLIENT_REREGISTER},
                  {"sm-change", IBV_EVENT_SM_CHANGE},
                  {"lid-change", IBV_EVENT_LID_CHANGE}};

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        if (strcmp(events[i].name, name) == 0 && em_hca_port(hca, port_num) != NULL)
            em_event_raise_port(hca, events[i].type, port_num);
}

static void apply_line(struct em_hca *hca, const char *line)
{
    char name[32];
    double percent;
    int lid, port_num;

    if (sscanf(line, "drop %lf", &percent) == 1 && percent >= 0 && percent <= 100)
        hca->faults.drop = (unsigned) (percent * 10);
    else if (sscanf(line, "cut %i", &lid) == 1 && lid > 0 && lid <= 0xffff)
        em_faults_cut_lid(&hca->faults, (uint16_t) lid, true);
    else if (sscanf(line, "join %31s", name) == 1)
        em_joins_parse(&hca->joins, name);
    else if (sscanf(line, "raise %31s %d", name, &port_num) == 2)
        raise_named(hca, name, port_num);
}

void em_control_apply(struct em_hca *hca, const char *path, int fd)
{
    char news[4096], line[128];
    FILE *f;

    while (read(fd, news, sizeof(news)) > 0)
        continue;
    f = fopen(path, "re");
    if (f == NULL)
        return;
    hca->faults.drop = 0;
    hca->faults.num_cut_lids = 0;
    while (fgets(line, sizeof(line), f) != NULL)
        apply_line(hca, line);
    fclose(f);
}
