/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * lanes: see lanes.h.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../base/counters.h"
#include "addresses.h"
#include "lanes.h"
#include "rc.h"
#include "sessions.h"
#include "peers.h"
#include "auth.h"
#include "../lane/ucx.h"

#ifdef HAVE_HWMC_VERBS
#include "../verbs/port.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"
#endif

#include <unistd.h>

#define WIRE_NAME_MAX 32
#define CONTROL 0 /* number of the lane for control and repair, of those that are the engine's */

/* What a lane's callbacks get. */
struct wire {
    struct hwmc_lane_params to; /* who gets what comes: recv, lost, sent and ctx */
    bool sessions;              /* sessions do */
    int rail;                   /* the job's number, of a lane for trees; -1: of none */
    int port;                   /* of own_rails.mine that it goes by; -1: of any */
    unsigned before, lane;      /* ports in its subnet before that; its number there */
    char name[WIRE_NAME_MAX];
};

static struct hwmc_lane *control; /* the engine's; NULL: it has streams of sessions */
static struct hwmc_job_rails own_rails;
static struct wire control_wire, rail_wires[HWMC_RAILS_MAX][HWMC_RAIL_LANES_MAX];

static void write_name(const struct wire *w, const struct hwmc_addr *addr, char name[WIRE_NAME_MAX])
{
    snprintf(name, WIRE_NAME_MAX, "%" PRIx64 "-%u-%u",
             hwmc_addr_subnet_id(addr, own_rails.mine[w->port].prefix), w->before, w->lane);
}

/* The peer's name of the wire, that of a port in its own subnet. */
static void name_at(const struct wire *w, uint32_t peer, char name[WIRE_NAME_MAX])
{
    const uint32_t host = (uint32_t) hwmc_host_of(peer);

    memcpy(name, w->name, WIRE_NAME_MAX);
    for (int i = 0; w->port >= 0 && i < own_rails.num_job; i++)
        if (own_rails.port_at[i] == w->port && hwmc_job_addresses_far(host) >> i & 1)
            write_name(w, &hwmc_job_addresses()[host][i], name);
}

/* For the lane: where the peer is. */
static int address_of(void *ctx, uint32_t peer, void *addr, size_t *len)
{
    char name[WIRE_NAME_MAX];

    if (hwmc_is_helper)
        return HWMC_AGAIN;
    name_at(ctx, peer, name);
    *len = hwmc_peers_address(peer, name, addr, *len);
    return *len > 0 ? HWMC_OK : HWMC_ERR_PEER;
}

static void on_recv(void *ctx, const void *head, size_t head_len, const void *body, size_t body_len)
{
    const struct wire *w = ctx;

    w->to.recv(w->to.ctx, head, head_len, body, body_len);
}

static void on_lost(void *ctx, uint32_t peer)
{
    const struct wire *w = ctx;

    if (w->rail < 0 || !hwmc_wires_is_silent(&hwmc_process_engine()->wires, (uint32_t) w->rail))
        w->to.lost(w->to.ctx, peer);
}

static void on_sent(void *ctx, uint64_t tag)
{
    const struct wire *w = ctx;

    w->to.sent(w->to.ctx, tag);
}

static struct hwmc_lane_params to_engine(struct hwmc_engine *engine)
{
    return (struct hwmc_lane_params){.recv = hwmc_engine_on_lane,
                                     .lost = hwmc_engine_on_lost,
                                     .sent = hwmc_engine_on_sent,
                                     .ctx = engine};
}

/* Sessions outlive what happens between hosts; inside one there is nothing to survive. */
static bool survives(void *ctx, uint32_t peer)
{
    return ((struct wire *) ctx)->sessions && !hwmc_same_host(peer);
}

/* NULL when UCX cannot, and then why. */
static struct hwmc_lane *open_lane(struct wire *w, const char *devices, enum hwmc_family family,
                                   int *err)
{
    const struct hwmc_lane_ucx_params params = {
        .lane =
            {.recv = on_recv, .lost = on_lost, .address_of = address_of, .sent = on_sent, .ctx = w},
        .size = (uint32_t) MPIR_Process.size,
        .devices = devices,
        .no_mates = !hwmc_host_is_shared(),
        .tcp_families = family == HWMC_IPV6 ? "inet6,inet" : NULL,
        .survives = survives,
    };
    struct hwmc_lane *lane = NULL;

    *err = hwmc_lane_ucx_open(&params, &lane);
    return *err == HWMC_OK ? lane : NULL;
}

/* UCX's names of a port: the interface's, and that of the RDMA device behind it if there is one. */
static void name_devices(const struct hwmc_rail *rail, char *devices, size_t room)
{
    snprintf(devices, room, "%s", rail->name);
#ifdef HAVE_HWMC_VERBS
    struct hwmc_verbs_port port;
    char path[128];

    if (hwmc_verbs_port_open(rail, &port) != HWMC_OK)
        return;
    /* UCX finds devices in sysfs, and warns of a name that is not there, as an emulated
     * device's. */
    snprintf(path, sizeof(path), "/sys/class/infiniband/%s",
             ibv_get_device_name(port.context->device));
    if (access(path, F_OK) == 0)
        snprintf(devices, room, "%s,%s:%d", rail->name, ibv_get_device_name(port.context->device),
                 port.port);
    hwmc_verbs_port_close(&port);
#endif
}

static void name_wire(struct wire *w, int port, int lane)
{
    const struct hwmc_rail *rail = &own_rails.mine[port];

    w->port = port;
    w->lane = (unsigned) lane;
    w->before = 0;
    for (int i = 0; i < port; i++)
        w->before += hwmc_rail_meets(&own_rails.mine[i], rail);
    write_name(w, &rail->addr, w->name);
}

bool hwmc_lanes_need_sessions(void)
{
    return hwmc_settings.ways.resilient || hwmc_rc_named();
}

static int within(int lanes)
{
    return lanes < 1 ? 1 : MPL_MIN(lanes, HWMC_RAIL_LANES_MAX);
}

/* Lanes over each rail: inside a site, and in all. */
static int near_lanes(void)
{
    return within(hwmc_settings.tune.rail_lanes);
}

static int rail_lanes(void)
{
    if (hwmc_lanes_need_sessions())
        return 1;
    return hwmc_has_site() ? MPL_MAX(near_lanes(), within(hwmc_settings.tune.site_lanes))
                           : near_lanes();
}

/* UCX makes no connections between IPv6 addresses of a link: such a rail has multicast alone. */
static bool is_for_lanes(const struct hwmc_rail *rail)
{
    return rail->addr.family != HWMC_IPV6 || !hwmc_addr_is_link_local(&rail->addr);
}

static void open_rail(struct hwmc_lanes *lanes, struct hwmc_engine *engine,
                      const struct hwmc_job_rails *rails, int at)
{
    const enum hwmc_family family = (enum hwmc_family) rails->mine[at].addr.family;
    char devices[512];
    int err;

    if (!is_for_lanes(&rails->mine[at]))
        return;
    name_devices(&rails->mine[at], devices, sizeof(devices));
    for (int i = 0; i < rail_lanes(); i++) {
        struct wire *w = &rail_wires[at][i];

        w->to = to_engine(engine);
        w->rail = -1;
        name_wire(w, at, i);
        lanes->by_rail[at][i] = open_lane(w, devices, family, &err);
        if (!lanes->by_rail[at][i])
            break;
    }
}

void hwmc_lanes_open(struct hwmc_lanes *lanes, struct hwmc_engine *engine,
                     const struct hwmc_job_rails *rails)
{
    *lanes = (struct hwmc_lanes){0};
    own_rails = *rails;
    control_wire = (struct wire){.to = to_engine(engine), .rail = -1, .port = -1, .name = "c"};
    lanes->control = open_lane(&control_wire, NULL, rails->family, &lanes->err);
    if (lanes->control && (rails->num * rail_lanes() > 1 || hwmc_lanes_need_sessions()))
        for (int i = 0; i < rails->num; i++)
            open_rail(lanes, engine, rails, i);
}

/* Why a process has no lane for control: with its rank, one integer. */
enum want { WANT_ADDRESS, WANT_LIMIT, WANT_NOMEM, WANT_DEVICE, WANTS };

static enum want want_of(int err)
{
    switch (err) {
        case HWMC_ERR_INVAL:
            return WANT_ADDRESS;
        case HWMC_ERR_LIMIT:
            return WANT_LIMIT;
        case HWMC_ERR_NOMEM:
            return WANT_NOMEM;
        default:
            return WANT_DEVICE;
    }
}

int hwmc_lanes_want(const struct hwmc_lanes *lanes)
{
    return lanes->control ? INT_MAX : MPIR_Process.rank * WANTS + (int) want_of(lanes->err);
}

void hwmc_lanes_say(int want)
{
    static const char *const texts[] = {"the address of its UCX worker is too long",
                                        "it has no descriptors left", "it has no memory",
                                        "UCX has no transport that can be waited for"};
    struct hwmc_setup_counts *counts = hwmc_counters.setup;
    uint64_t *const count[] = {&counts->job_off_address, &counts->job_off_limit,
                               &counts->job_off_nomem, &counts->job_off_device};
    char host[256] = "";

    *count[want % WANTS] = 1;
    if (MPIR_Process.rank != want / WANTS)
        return;
    gethostname(host, sizeof(host) - 1);
    fprintf(stderr, "hwmc: off in this job, broadcasts are MPICH's: rank %d on %s: %s\n",
            MPIR_Process.rank, host, texts[want % WANTS]);
}

static int num_of(const struct hwmc_lanes *lanes, int at)
{
    int n = 0;

    while (n < HWMC_RAIL_LANES_MAX && lanes->by_rail[at][n])
        n++;
    return n;
}

/* What is known of a lane goes to the end of the record, or, where that is NULL, would take so many
 * bytes. */
static size_t note_lane(unsigned char *record, size_t at, struct hwmc_lane *lane,
                        const struct wire *w)
{
    const void *addr;
    size_t len;

    lane->ops->address(lane, &addr, &len);
    return hwmc_peers_note(record ? record + at : NULL, w->name, addr, len);
}

static size_t note_all(unsigned char *record, const struct hwmc_lanes *lanes)
{
    size_t at = 0;

    if (lanes->control)
        at += note_lane(record, at, lanes->control, &control_wire);
    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        for (int k = 0; k < num_of(lanes, i); k++)
            at += note_lane(record, at, lanes->by_rail[i][k], &rail_wires[i][k]);
    return at;
}

int hwmc_lanes_put(const struct hwmc_lanes *lanes)
{
    int mpi_errno = MPI_SUCCESS;
    const size_t len = note_all(NULL, lanes);
    unsigned char *record = MPL_malloc(len + 1, MPL_MEM_OTHER);

    MPIR_ERR_CHKANDJUMP(!record, mpi_errno, MPI_ERR_OTHER, "**nomem");
    note_all(record, lanes);
    mpi_errno = hwmc_peers_put(record, len);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPL_free(record);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void hwmc_lanes_match(const struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails, int *have)
{
    own_rails = *rails;
    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        have[i] =
            i < rails->num_job && rails->port_at[i] >= 0 ? num_of(lanes, rails->port_at[i]) : 0;
}

/* Takes the lane from its slot, under a number that it has on all processes. NULL: no memory. */
static struct hwmc_lane *take(struct hwmc_lane **slot, struct wire *w, uint32_t number)
{
    struct hwmc_lane *lane = *slot;

    if (!hwmc_process_auth_lane(&lane, number, &w->to))
        return NULL;
    *slot = NULL;
    return lane;
}

/* One of each rail, then the next of each: any number of the first ones is spread over the rails.
 * False: no memory. */
static bool give_nth(struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails, int n,
                     const int *all_have, struct hwmc_wires_cfg *cfg)
{
    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        if (n < all_have[i]) {
            if (n == 0)
                cfg->lane_rail[cfg->num_rails++] = (uint8_t) i;
            rail_wires[rails->port_at[i]][n].rail = i;
            cfg->lanes[cfg->num_far_lanes] =
                take(&lanes->by_rail[rails->port_at[i]][n], &rail_wires[rails->port_at[i]][n],
                     CONTROL + 1 + cfg->num_far_lanes);
            if (!cfg->lanes[cfg->num_far_lanes])
                return false;
            cfg->num_far_lanes++;
        }
    if (n < near_lanes())
        cfg->num_lanes = cfg->num_far_lanes;
    return true;
}

int hwmc_lanes_give(struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails,
                    const int *all_have, struct hwmc_wires_cfg *cfg)
{
    int mpi_errno = MPI_SUCCESS, shared = 0;

    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        shared += all_have[i];
    for (int n = 0; shared > 1 && n < HWMC_RAIL_LANES_MAX; n++)
        MPIR_ERR_CHKANDJUMP(!give_nth(lanes, rails, n, all_have, cfg), mpi_errno, MPI_ERR_OTHER,
                            "**nomem");
    control = lanes->control;
    cfg->lane = take(&lanes->control, &control_wire, CONTROL);
    MPIR_ERR_CHKANDJUMP(!cfg->lane, mpi_errno, MPI_ERR_OTHER, "**nomem");
    hwmc_lanes_close(lanes);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

uint32_t hwmc_lanes_control(const struct hwmc_job_rails *rails)
{
    uint32_t by = 0;
    char devices[512], *rest, *one;

    for (int i = 0; control && i < rails->num_job; i++) {
        if (rails->port_at[i] < 0)
            continue;
        name_devices(&rails->mine[rails->port_at[i]], devices, sizeof(devices));
        for (one = strtok_r(devices, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
            if (hwmc_lane_ucx_is_by(control, one))
                by |= 1u << i;
    }
    return by;
}

struct hwmc_lane *hwmc_lanes_take(struct hwmc_lanes *lanes, int at, struct hwmc_sessions_port *port)
{
    struct hwmc_lane **slot = at < 0 ? &lanes->control : &lanes->by_rail[at][0];
    struct wire *w = at < 0 ? &control_wire : &rail_wires[at][0];

    w->to = hwmc_sessions_params(port);
    w->sessions = true;
    return take(slot, w, port->lane);
}

void hwmc_lanes_close(struct hwmc_lanes *lanes)
{
    if (lanes->control)
        lanes->control->ops->close(lanes->control);
    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        for (int k = 0; k < HWMC_RAIL_LANES_MAX; k++)
            if (lanes->by_rail[i][k])
                lanes->by_rail[i][k]->ops->close(lanes->by_rail[i][k]);
    *lanes = (struct hwmc_lanes){0};
}
