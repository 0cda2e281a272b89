/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * fabrics: see fabrics.h. Of each rail a list has the kinds of fabric that this process could open;
 * `choose` takes the best that all processes can use.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../base/counters.h"
#include "fabrics.h"
#include "../fabric/fault.h"
#include "../fabric/udp.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"
#ifdef HAVE_HWMC_VERBS
#include "../fabric/verbs.h"
#endif

#ifdef HAVE_HWMC_VERBS
#define PROBE_NS UINT64_C(250000000)

/* Joins of all processes of a host would tell no more than those of one. */
static bool asks_network(void)
{
    for (uint32_t i = 0; i < (uint32_t) MPIR_Process.rank; i++)
        if (hwmc_same_host(i))
            return false;
    return true;
}

/* A subnet manager that has much to do answers late: that is no reason against multicast, for who
 * sets up a communicator joins in the background, and waits longer. */
static bool works(struct hwmc_fabric *fabric)
{
    int err;

    if (!asks_network())
        return true;
    hwmc_counters.setup->verbs_probes++;
    err = hwmc_fabric_verbs_probe(fabric, PROBE_NS);
    return err == HWMC_OK || err == HWMC_AGAIN;
}

/* NULL: verbs multicast does not work on the rail. */
static struct hwmc_fabric *try_verbs(const struct hwmc_fabrics *f, const struct hwmc_rail *rail)
{
    const struct hwmc_verbs_params params = {
        .key = f->key,
        .port = f->port,
        .groups = f->groups,
        .window = HWMC_FABRIC_WINDOW,
    };
    struct hwmc_fabric *fabric;

    if (hwmc_fabric_verbs_open(rail, &params, &fabric) != HWMC_OK)
        return NULL;
    if (works(fabric))
        return fabric;
    fabric->ops->close(fabric);
    return NULL;
}
#else
static struct hwmc_fabric *try_verbs(const struct hwmc_fabrics *f, const struct hwmc_rail *rail)
{
    (void) f;
    (void) rail;
    return NULL; /* built without */
}
#endif

static bool may_be(enum hwmc_set_fabric fabric)
{
    return hwmc_settings.ways.fabric == HWMC_SET_FABRIC_AUTO || hwmc_settings.ways.fabric == fabric;
}

void hwmc_fabrics_try(struct hwmc_fabrics *f, const struct hwmc_job_rails *rails, int *can)
{
    for (int i = 0; i < HWMC_RAILS_MAX; i++) {
        can[i] = i >= rails->num_job || rails->port_at[i] < 0;
        if (can[i] || !may_be(HWMC_SET_FABRIC_VERBS))
            continue;
        f->verbs[i] = try_verbs(f, &rails->mine[rails->port_at[i]]);
        can[i] = f->verbs[i] != NULL;
    }
}

/* Of each family that some rail has here. */
static bool may_bind(const struct hwmc_job_rails *rails, uint16_t port)
{
    bool is_free = true;

    for (int i = 0; i < rails->num && is_free; i++)
        is_free = hwmc_udp_may_bind((enum hwmc_family) rails->mine[i].addr.family, port);
    return is_free;
}

void hwmc_fabrics_try_ports(const struct hwmc_fabrics *f, const struct hwmc_job_rails *rails,
                            int *free)
{
    const bool asks = may_be(HWMC_SET_FABRIC_UDP);

    for (int i = 0; i < HWMC_RANDOM_PORTS_MAX; i++)
        free[i] = i < f->ports.num && (!asks || may_bind(rails, f->ports.port[i]));
}

bool hwmc_fabrics_choose_port(struct hwmc_fabrics *f, const int *free)
{
    int i = 0;

    while (i < f->ports.num && !free[i])
        i++;
    hwmc_counters.setup->ports_taken += (uint64_t) i;
    f->port = f->ports.port[i < f->ports.num ? i : 0];
    return i < f->ports.num;
}

/* Spoils what the fabric receives, where a test asks for that. */
static int wrap_fault(struct hwmc_fabric **fabric)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_fault_rules rules;
    const char *wrong;

    if (!*hwmc_settings.debug.fault)
        goto fn_exit;
    MPIR_ERR_CHKANDJUMP1(hwmc_fault_parse(hwmc_settings.debug.fault, &rules, &wrong) != HWMC_OK,
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_fault", "**hwmc_fault %s", wrong);
    MPIR_ERR_CHKANDJUMP(
        hwmc_fault_open(*fabric, &rules, (uint32_t) MPIR_Process.rank, NULL, fabric) != HWMC_OK,
        mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static struct hwmc_fabric *open_udp(const struct hwmc_fabrics *f, const struct hwmc_rail *rail)
{
    const struct hwmc_udp_params params = {
        .port = f->port,
        .key = f->key,
        .ttl = (uint8_t) hwmc_settings.tune.ttl,
        .loop = hwmc_host_is_shared(),
        .groups = f->groups,
        .window = HWMC_FABRIC_WINDOW,
        .unicast = &hwmc_counters.setup->drop_unicast,
    };
    struct hwmc_fabric *fabric = NULL;

    hwmc_udp_open(rail, &params, &fabric);
    return fabric;
}

/* The fabric of rail `i`; NULL where there can be no multicast. */
static struct hwmc_fabric *choose(struct hwmc_fabrics *f, int i, bool verbs,
                                  const struct hwmc_rail *rail)
{
    struct hwmc_fabric *fabric = f->verbs[i];

    if (verbs) {
#ifdef HAVE_HWMC_VERBS
        hwmc_fabric_verbs_use_port(fabric, f->port);
#endif
        f->verbs[i] = NULL; /* handed over */
        return fabric;
    }
    return may_be(HWMC_SET_FABRIC_UDP) ? open_udp(f, rail) : NULL;
}

static uint32_t fastest(const int *mbit)
{
    int max = 0;

    for (unsigned i = 0; i < HWMC_RAIL_BITS; i++)
        if (mbit[i] < INT_MAX)
            max = MPL_MAX(max, mbit[i]);
    return (uint32_t) max;
}

int hwmc_fabrics_open(struct hwmc_fabrics *f, const struct hwmc_job_rails *rails, const int *can,
                      const int *mbit, struct hwmc_wires_cfg *cfg)
{
    int mpi_errno = MPI_SUCCESS;

    for (int i = 0; i < rails->num_job; i++) {
        cfg->mbit[i] = (uint32_t) mbit[i];
        if (rails->port_at[i] < 0 || hwmc_rail_is_slow(cfg->mbit[i], fastest(mbit)))
            continue;
        cfg->fabrics[i] = choose(f, i, can[i] != 0, &rails->mine[rails->port_at[i]]);
        if (cfg->fabrics[i]) {
            mpi_errno = wrap_fault(&cfg->fabrics[i]);
            MPIR_ERR_CHECK(mpi_errno);
        }
    }
    hwmc_fabrics_close(f);

fn_exit:
    return mpi_errno;
fn_fail:
    for (int i = 0; i < rails->num_job; i++)
        if (cfg->fabrics[i])
            cfg->fabrics[i]->ops->close(cfg->fabrics[i]);
    goto fn_exit;
}

void hwmc_fabrics_close(struct hwmc_fabrics *f)
{
    for (int i = 0; i < HWMC_RAILS_MAX; i++) {
        if (f->verbs[i])
            f->verbs[i]->ops->close(f->verbs[i]);
        f->verbs[i] = NULL;
    }
}
