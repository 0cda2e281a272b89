/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the network is like, as far as algorithm selection asks (core/model/model). Once a job, when
 * it starts, the first process asks one on another host how fast its lanes are
 * (core/model/measure), and one at another site how far that is; what MPIR_CVAR_HWMC_NETWORK
 * says goes before, and nobody is asked where it says all. Then each host asks the next one, all at
 * once: hosts that share processors, or a line, hinder each other. All others get it from the
 * first, so that every process selects by the same figures.
 */

#include "mpiimpl.h"
#include "netmod.h"
#include "../core/path/wrr.h"
#include "../engine/engine.h"
#include "../process/mpich.h"
#include "../select/network.h"
#include "../select/network_text.h"
#include "../settings/settings.h"

/* Mbit/s and ns that nobody can say. */
#define NOT_SAID UINT32_MAX
#define NO_LATENCY UINT64_MAX

/* For all answers of a process; after it the figures are guessed. */
#define WAIT_NS UINT64_C(2000000000)

/* For an answer by every rail, from when one has come: the other host is there then, and a rail
 * without answer silent; and for the first one. */
#define ANSWER_NS UINT64_C(1000000000)
#define FIRST_NS (5 * ANSWER_NS)

/* What the first process tells. */
static struct figures {
    struct hwmc_network network;
    uint32_t rail_mbit[HWMC_RAIL_BITS]; /* of the lanes' rails; 0: not measured */
    uint32_t loads;                     /* 1: all hosts at once are yet to be measured */
} figures;

/* The first process on another host than the first's, and at its site or not; -1: there is none. */
static int partner(bool same_site)
{
    for (int i = 1; i < MPIR_Process.size; i++)
        if (hwmc_host_of((uint32_t) i) != hwmc_host_of(0) &&
            (hwmc_site_of((uint32_t) i) == hwmc_site_of(0)) == same_site)
            return i;
    return -1;
}

static bool measured(struct hwmc_engine *e, int peer, uint32_t brief)
{
    uint64_t until = hwmc_now() + WAIT_NS;
    bool done = false;

    hwmc_lock();
    hwmc_engine_measure(e, (uint32_t) peer, brief, hwmc_now());
    hwmc_unlock();
    hwmc_wait_begins();
    while (!done && hwmc_now() < until && MPID_Progress_test(NULL) == MPI_SUCCESS) {
        hwmc_wait_polled();
        hwmc_lock();
        done = hwmc_measure_done(&e->measure);
        hwmc_unlock();
    }
    hwmc_wait_ends();
    return done;
}

static uint64_t least_latency(const struct hwmc_measure *m)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < HWMC_MEASURE_LANES; i++)
        if (m->of[i].mbit > 0)
            least = MPL_MIN(least, m->of[i].latency_ns);
    return least;
}

/* The first process on the next host, where this one is the first on its own; else, or where there
 * is one host, -1. */
static int next_host(void)
{
    const int own = hwmc_host_of((uint32_t) MPIR_Process.rank);
    int first = -1, next = -1;

    for (int i = 0; i < MPIR_Process.size; i++) {
        const int host = hwmc_host_of((uint32_t) i);

        if (host == own && i < MPIR_Process.rank)
            return -1;
        if (host > own && (next < 0 || host < hwmc_host_of((uint32_t) next)))
            next = i;
        if (host < own && (first < 0 || host < hwmc_host_of((uint32_t) first)))
            first = i;
    }
    return next >= 0 ? next : first;
}

/* By which of the first lanes of rails this process got an answer from another host. */
static uint32_t answering(struct hwmc_engine *e, uint32_t all)
{
    const int peer = next_host();
    uint64_t until = hwmc_now() + FIRST_NS;
    uint32_t answered = 0;

    if (peer < 0)
        return all;
    hwmc_lock();
    hwmc_engine_ask(e, (uint32_t) peer);
    hwmc_unlock();
    while (answered != all && hwmc_now() < until && MPID_Progress_test(NULL) == MPI_SUCCESS) {
        const bool first = answered == 0;

        hwmc_lock();
        answered = e->answered;
        hwmc_unlock();
        if (first && answered != 0)
            until = hwmc_now() + ANSWER_NS;
    }
    return answered;
}

/* A network that is none, as a port of the same subnet on all hosts that no cable joins, is found
 * by asking: each host asks the next one. What does not answer one of them carries nothing for all.
 * */
static int find_silent(MPIR_Comm *world, struct hwmc_engine *e)
{
    int mpi_errno = MPI_SUCCESS;
    const uint32_t all = (1u << e->wires.cfg.num_rails) - 1, mine = answering(e, all);
    int here[HWMC_RAIL_BITS], anywhere[HWMC_RAIL_BITS];
    uint32_t silent = 0;

    for (uint32_t i = 0; i < HWMC_RAIL_BITS; i++)
        here[i] = (int) (mine >> i & 1);
    mpi_errno = MPIR_Allreduce_allcomm_auto(here, anywhere, (int) HWMC_RAIL_BITS, HWMC_INT, MPI_MIN,
                                            world, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    for (uint32_t i = 0; i < e->wires.cfg.num_rails; i++)
        silent |= anywhere[i] ? 0 : 1u << i;
    hwmc_lock();
    hwmc_engine_silent(e, silent == all ? 0 : silent);
    hwmc_unlock();
    if (MPIR_Process.rank == 0 && silent != 0 && hwmc_settings.verbose > 0)
        for (uint32_t i = 0; i < e->wires.cfg.num_rails; i++)
            if (silent >> i & 1)
                fprintf(stderr, "hwmc: no lanes on rail %u, as some host gets no answer by it\n",
                        (unsigned) e->wires.cfg.lane_rail[i]);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static struct hwmc_network guessed(uint32_t rails)
{
    return (struct hwmc_network){
        .latency_ns = HWMC_GUESSED_LATENCY_NS,
        .site_latency_ns = HWMC_GUESSED_LATENCY_NS,
        .mbit = HWMC_GUESSED_MBIT,
        .mbit_all = HWMC_GUESSED_MBIT * rails,
        .datagram_ns = HWMC_GUESSED_DATAGRAM_NS,
        .message_ns = HWMC_GUESSED_MESSAGE_NS,
    };
}

/* What the user says of the network; NOT_SAID and NO_LATENCY: nothing. */
static struct hwmc_network nothing_said(void)
{
    return (struct hwmc_network){.mbit = NOT_SAID,
                                 .mbit_all = NOT_SAID,
                                 .latency_ns = NO_LATENCY,
                                 .site_latency_ns = NO_LATENCY};
}

/* Whether that is all that a measurement would find out. */
static bool is_all(const struct hwmc_network *said, bool sites)
{
    return said->mbit != NOT_SAID && said->latency_ns != NO_LATENCY &&
           (!sites || said->site_latency_ns != NO_LATENCY);
}

/* The first process's part. */
static void measure(struct hwmc_engine *e, int near, int far)
{
    struct hwmc_network *net = &figures.network;

    /* With one host a site all that can be asked is far. */
    if ((near >= 0 || far >= 0) && measured(e, near >= 0 ? near : far, 0)) {
        net->latency_ns = net->burst_bytes = UINT64_MAX;
        net->message_ns = UINT32_MAX;
        net->mbit = net->mbit_all = 0;
        for (uint32_t i = 0; i < HWMC_MEASURE_LANES; i++) {
            if (e->measure.of[i].mbit == 0)
                continue; /* there is none, or it brings nothing */
            net->latency_ns = MPL_MIN(net->latency_ns, e->measure.of[i].latency_ns);
            net->message_ns = MPL_MIN(net->message_ns, e->measure.of[i].message_ns);
            net->burst_bytes = MPL_MIN(net->burst_bytes, e->measure.of[i].burst);
            net->mbit = MPL_MAX(net->mbit, e->measure.of[i].mbit);
            figures.rail_mbit[i] = e->measure.of[i].mbit;
        }
        for (uint32_t i = 0; i < HWMC_RAIL_BITS; i++)
            if (!hwmc_wrr_is_slow(figures.rail_mbit[i], net->mbit))
                net->mbit_all += figures.rail_mbit[i];
    }
    net->site_latency_ns = net->latency_ns;
    if (far >= 0 && measured(e, far, HWMC_MEASURE_FIRST))
        net->site_latency_ns = least_latency(&e->measure);
}

/* From the first process to all, as integers. */
static int tell(MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;

    mpi_errno = MPIR_Bcast_allcomm_auto(&figures, (int) (sizeof(figures) / sizeof(int)), HWMC_INT,
                                        0, world, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

#define LOADED_MOST 1000000 /* ns: a host that is not there yet takes no longer */

/* Latency of the nearest lane, and rate of the fastest, that this process measured while others
 * did; both 0: it did not. */
static void find_loaded(const struct hwmc_measure *m, uint64_t *ns, uint32_t *mbit)
{
    *ns = *mbit = 0;
    for (uint32_t i = 0; i < HWMC_MEASURE_LANES; i++) {
        if (m->of[i].mbit == 0)
            continue;
        *ns = *mbit == 0 ? m->of[i].median_ns : MPL_MIN(*ns, m->of[i].median_ns);
        *mbit = MPL_MAX(*mbit, m->of[i].mbit);
    }
}

/* All are here, and answer from now on. */
static int meet(MPIR_Comm *world)
{
    int one = 1, least;

    return MPIR_Allreduce_allcomm_auto(&one, &least, 1, HWMC_INT, MPI_MIN, world, HWMC_NO_ERRORS);
}

/* Latency and rate while the first process of each host asks the next host: the means over
 * hosts. */
static int measure_loaded(MPIR_Comm *world, struct hwmc_engine *e)
{
    struct hwmc_network *net = &figures.network;
    const int peer = next_host();
    int mpi_errno = MPI_SUCCESS;
    int here[3] = {0, 0, 0}, sum[3]; /* hosts, 100 ns, us that 10^6 bytes take */
    uint32_t mbit = 0;
    uint64_t ns = 0, unused;

    mpi_errno = meet(world);
    MPIR_ERR_CHECK(mpi_errno);
    if (peer >= 0 && measured(e, peer, HWMC_MEASURE_NONE))
        find_loaded(&e->measure, &ns, &mbit);
    mpi_errno = meet(world);
    MPIR_ERR_CHECK(mpi_errno);
    if (mbit > 0 && measured(e, peer, hwmc_measure_train(net->mbit))) {
        find_loaded(&e->measure, &unused, &mbit);
        here[0] = 1;
        here[1] = (int) (MPL_MIN(ns, LOADED_MOST) / 100);
        here[2] = (int) (8000000 / MPL_MAX(mbit, 1));
    }
    mpi_errno = MPIR_Allreduce_allcomm_auto(here, sum, 3, HWMC_INT, MPI_SUM, world, HWMC_NO_ERRORS);
    MPIR_ERR_CHECK(mpi_errno);
    if (sum[0] > 0) {
        net->loaded_ns = (uint64_t) sum[1] * 100 / (uint64_t) sum[0];
        net->loaded_mbit =
            (uint32_t) (UINT64_C(8000000) * (uint64_t) sum[0] / (uint64_t) MPL_MAX(sum[2], 1));
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int hwmc_find_network(MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_engine *e = hwmc_process_engine();
    const char *said = hwmc_settings.ways.network;
    int near = partner(true), far = partner(false);
    struct hwmc_network trial = nothing_said();
    bool known;

    MPIR_ERR_CHKANDJUMP1(!hwmc_network_parse(said, &trial), mpi_errno, MPI_ERR_OTHER,
                         "**hwmc_network", "**hwmc_network %s", said);
    known = is_all(&trial, far >= 0);
    hwmc_lock();
    hwmc_engine_measuring(e, true);
    hwmc_unlock();
    if (e->wires.cfg.num_rails > 1) {
        mpi_errno = find_silent(world, e);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (MPIR_Process.rank == 0) {
        figures.network = guessed(known ? MPL_MAX(e->wires.cfg.num_rails, 1) : 1);
        if (!known)
            measure(e, near, far);
        figures.loads = !known && trial.loaded_ns == 0 && near >= 0 && far < 0;
        hwmc_network_parse(said, &figures.network);
        for (uint32_t i = 0; trial.mbit != NOT_SAID && i < HWMC_RAIL_BITS; i++)
            figures.rail_mbit[i] = trial.mbit;
    }
    mpi_errno = tell(world);
    MPIR_ERR_CHECK(mpi_errno);
    if (figures.loads != 0) {
        mpi_errno = measure_loaded(world, e);
        MPIR_ERR_CHECK(mpi_errno);
    }
    hwmc_network_set(&figures.network);
    hwmc_note_network(&figures.network);
    hwmc_lock();
    hwmc_engine_measuring(e, false);
    hwmc_engine_rates(e, figures.rail_mbit);
    hwmc_unlock();

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
