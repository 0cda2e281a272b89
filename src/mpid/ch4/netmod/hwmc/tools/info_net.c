/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The first process multicasts DATAGRAMS datagrams on its rail, all count what they hear.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "info.h"
#include "../base/random.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DATAGRAMS 20
#define EVERY_MS 10
#define LAST_MS 300 /* waited after the last */

struct call {
    uint64_t nonce;
    uint64_t group; /* 0: the first process could not open its rail */
    uint32_t port;
};

struct answer {
    char host[64];
    struct hwmc_rail rail;
    int err; /* of opening and joining */
    int heard;
};

static int find_rail(struct hwmc_rail *rail)
{
    struct hwmc_rail ports[HWMC_RAIL_PORTS_MAX];
    char spec[256], wrong[HWMC_RAIL_NAME_MAX];
    int num = hwmc_rail_discover(ports, HWMC_RAIL_PORTS_MAX);

    hwmc_info_cvar_string("MPIR_CVAR_HWMC_RAILS", spec, sizeof(spec));
    if (num < 0)
        return num;
    num = hwmc_rail_select(ports, num, spec, rail, 1, wrong);
    if (num < 0)
        snprintf(rail->name, sizeof(rail->name), "%s", wrong);
    return num < 0 ? num : HWMC_OK;
}

/* As in a job: verbs where all processes can, else udp. *f is open where the answer is OK. */
static int open_rail(const struct hwmc_rail *rail, const struct call *call, int found,
                     struct hwmc_fabric **f)
{
    const struct hwmc_info_params params = {
        .key = call->nonce, .port = (uint16_t) call->port, .window = 1 << 20};
    int can = found == HWMC_OK && hwmc_info_fabric_may_be("verbs") &&
              hwmc_info_open_verbs(rail, &params, f) == NULL;
    int all;

    MPI_Allreduce(&can, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all)
        return HWMC_OK;
    if (can)
        (*f)->ops->close(*f);
    *f = NULL;
    if (found != HWMC_OK)
        return found;
    return hwmc_info_fabric_may_be("udp") ? hwmc_info_open_udp(rail, &params, f) : HWMC_ERR_DEVICE;
}

/* The first process draws port, nonce and group; f is open on all where err is OK. */
static void prepare(int rank, struct call *call, struct answer *mine, struct hwmc_fabric **f)
{
    if (rank == 0) {
        if (hwmc_random(call, sizeof(*call)) != HWMC_OK)
            call->nonce = (uint64_t) getpid();
        call->port = hwmc_info_port(call->port);
        call->group = 0;
    }
    MPI_Bcast(call, sizeof(*call), MPI_BYTE, 0, MPI_COMM_WORLD);
    mine->err = open_rail(&mine->rail, call, find_rail(&mine->rail), f);
    if (rank == 0 && (mine->err != HWMC_OK || (*f)->ops->draw(*f, &call->group) != HWMC_OK))
        call->group = 0;
    MPI_Bcast(&call->group, sizeof(call->group), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (mine->err == HWMC_OK && call->group != 0)
        mine->err = hwmc_info_join(*f, call->group);
}

static int listen_for(struct hwmc_fabric *f, uint64_t nonce, uint64_t ms)
{
    uint64_t end = hwmc_info_now_ms() + ms, now;
    struct hwmc_in in[16];
    int heard = 0;

    while ((now = hwmc_info_now_ms()) < end) {
        int n;

        hwmc_info_wait(f, end - now);
        n = f->ops->poll(f, in, 16);
        for (int i = 0; i < n; i++)
            heard += in[i].len == sizeof(nonce) && memcmp(in[i].data, &nonce, in[i].len) == 0;
    }
    return heard;
}

static void converse(int rank, const struct call *call, struct answer *mine, struct hwmc_fabric *f)
{
    const struct hwmc_out out = {.head = &call->nonce, .head_len = sizeof(call->nonce)};

    if (mine->err != HWMC_OK || call->group == 0)
        return;
    if (rank != 0) {
        mine->heard = listen_for(f, call->nonce, DATAGRAMS * EVERY_MS + LAST_MS);
        return;
    }
    for (int i = 0; i < DATAGRAMS; i++) {
        f->ops->post(f, call->group, &out, 1);
        mine->heard += listen_for(f, call->nonce, EVERY_MS);
    }
    mine->heard += listen_for(f, call->nonce, LAST_MS) + hwmc_info_own(f);
}

/* `fabric`: its name. */
static int print_answers(const struct answer *all, int size, const char *fabric)
{
    int failed = 0;

    printf("%-6s %-16s %-16s %-19s %s\n", "rank", "host", "rail", "address", "heard");
    for (int i = 0; i < size; i++) {
        char subnet[HWMC_ADDR_SUBNET_MAX];

        hwmc_info_format_subnet(&all[i].rail, subnet);
        printf("%-6d %-16s %-16s %-19s ", i, all[i].host, all[i].rail.name, subnet);
        if (all[i].err != HWMC_OK)
            printf("no: %s\n", hwmc_err_text(all[i].err));
        else
            printf("%d of %d%s\n", all[i].heard, DATAGRAMS, all[i].heard == 0 ? ": nothing" : "");
        failed += all[i].heard == 0;
    }
    if (failed == 0)
        printf("every rank hears rank 0, by %s\n", fabric);
    else
        printf("%d of %d ranks do not hear rank 0: broadcasts will not use multicast\n", failed,
               size);
    return failed > 0;
}

int hwmc_info_net(void)
{
    struct call call = {0};
    struct answer mine, *all = NULL;
    struct hwmc_fabric *f = NULL;
    int rank, size, status = 0;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(&mine, 0, sizeof(mine));
    gethostname(mine.host, sizeof(mine.host) - 1);
    prepare(rank, &call, &mine, &f);
    MPI_Barrier(MPI_COMM_WORLD);
    converse(rank, &call, &mine, f);
    if (rank == 0)
        all = malloc((size_t) size * sizeof(*all));
    if (rank == 0 && all == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        status = print_answers(all, size, f != NULL ? f->ops->name : "nothing");
    free(all);
    if (f != NULL)
        f->ops->close(f);
    MPI_Finalize();
    return status;
}
