/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A message of the exchange has before it one byte: the rail of the job that its lane is over.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../base/counters.h"
#include "rc.h"
#include "auth.h"
#ifdef HAVE_HWMC_VERBS
#include "../lane/rc/rc.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"
#endif

bool hwmc_rc_wanted(void)
{
    return hwmc_settings.ways.lane == HWMC_SET_LANE_RC ||
           (hwmc_settings.ways.lane == HWMC_SET_LANE_AUTO && hwmc_settings.ways.resilient);
}

bool hwmc_rc_named(void)
{
    return hwmc_settings.ways.lane == HWMC_SET_LANE_RC;
}

#ifdef HAVE_HWMC_VERBS

struct rc {
    struct hwmc_lane *lane;     /* NULL: none, or closed */
    bool taken;                 /* sessions have it; else nothing comes */
    struct hwmc_lane_params to; /* who gets it: recv, lost, sent and ctx */
    int rail;                   /* of the job */
    char name[HWMC_RAIL_NAME_MAX];
};

static struct rc by_rail[HWMC_RAILS_MAX]; /* of rails.mine */
static struct rc *of_job[HWMC_RAILS_MAX]; /* by the job's number; NULL: none taken */
static struct hwmc_sessions *sessions;    /* NULL: there is no way to connect yet */
static uint32_t exchange;                 /* stream */

static void on_recv(void *ctx, const void *head, size_t head_len, const void *body, size_t body_len)
{
    const struct rc *rc = ctx;

    rc->to.recv(rc->to.ctx, head, head_len, body, body_len);
}

static void on_lost(void *ctx, uint32_t peer)
{
    const struct rc *rc = ctx;

    rc->to.lost(rc->to.ctx, peer);
}

static void on_sent(void *ctx, uint64_t tag)
{
    const struct rc *rc = ctx;

    rc->to.sent(rc->to.ctx, tag);
}

static int tell(void *ctx, uint32_t peer, const void *msg, size_t len)
{
    unsigned char rail = (unsigned char) ((struct rc *) ctx)->rail;

    return sessions ? hwmc_sessions_send(sessions, exchange, peer, &rail, 1, msg, len, NULL)
                    : HWMC_ERR_PEER;
}

static void on_exchange(void *ctx, uint32_t peer, const void *head, size_t head_len,
                        const void *body, size_t body_len)
{
    const unsigned char *rail = head;

    (void) ctx;
    if (head_len == 1 && *rail < HWMC_RAILS_MAX && of_job[*rail])
        hwmc_lane_rc_hear(of_job[*rail]->lane, peer, body, body_len);
}

/* Without being named, a lane is of use only if hardware migrates. */
static bool serves(struct hwmc_lane *lane)
{
    const char *reason;

    return hwmc_rc_named() || hwmc_lane_rc_apm(lane, &reason) == HWMC_LANE_RC_APM_HARDWARE;
}

static void open_one(const struct hwmc_rail *rail, const struct hwmc_apm_preference *preference,
                     struct rc *rc)
{
    const struct hwmc_lane_rc_params params = {
        .lane = {.recv = on_recv, .lost = on_lost, .sent = on_sent, .ctx = rc},
        .size = (uint32_t) MPIR_Process.size,
        .rank = (uint32_t) MPIR_Process.rank,
        .max_peers = (uint32_t) MPL_MAX(hwmc_settings.tune.rc_max_peers, 1),
        .rail = rail,
        .timeout = (uint8_t) MPL_MIN(MPL_MAX(hwmc_settings.tune.rc_timeout, 1), 31),
        .apm = hwmc_settings.ways.apm,
        .preference = *preference,
        .counts = hwmc_counters.rc,
        .tell = tell,
    };

    *rc = (struct rc){0};
    if (hwmc_lane_rc_open(&params, &rc->lane) != HWMC_OK) {
        rc->lane = NULL;
    } else if (!serves(rc->lane)) {
        rc->lane->ops->close(rc->lane);
        rc->lane = NULL;
    }
}

int hwmc_rc_open(const struct hwmc_job_rails *rails)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_apm_preference preference;

    MPIR_ERR_CHKANDJUMP1(!hwmc_apm_preference_parse(hwmc_settings.tune.apm_path, &preference),
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_path", "**hwmc_path %s",
                         hwmc_settings.tune.apm_path);
    for (int i = 0; i < rails->num && hwmc_rc_wanted(); i++)
        open_one(&rails->mine[i], &preference, &by_rail[i]);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void hwmc_rc_match(const struct hwmc_job_rails *rails, int *have)
{
    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        have[i] = i < rails->num_job && rails->at[i] >= 0 && by_rail[rails->at[i]].lane;
}

struct hwmc_lane *hwmc_rc_take(const struct hwmc_job_rails *rails, int i, struct hwmc_sessions *to,
                               uint32_t lane)
{
    struct rc *rc = &by_rail[rails->at[i]];
    struct hwmc_lane *taken = rc->lane;

    rc->to = hwmc_sessions_params(hwmc_sessions_port(to, lane));
    if (!hwmc_process_auth_lane(&taken, lane, &rc->to))
        return NULL;
    rc->taken = true;
    rc->rail = i;
    memcpy(rc->name, rails->mine[rails->at[i]].name, sizeof(rc->name));
    of_job[i] = rc;
    return taken;
}

static void close_idle(void)
{
    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        if (by_rail[i].lane && !by_rail[i].taken) {
            by_rail[i].lane->ops->close(by_rail[i].lane);
            by_rail[i].lane = NULL;
        }
}

void hwmc_rc_exchange(struct hwmc_sessions *over, uint32_t stream)
{
    const struct hwmc_sessions_upper upper = {.recv = on_exchange};

    sessions = over;
    exchange = stream;
    hwmc_sessions_use(sessions, stream, &upper);
    close_idle();
}

static bool migrates(int rail)
{
    const char *reason;

    return of_job[rail] &&
           hwmc_lane_rc_apm(of_job[rail]->lane, &reason) == HWMC_LANE_RC_APM_HARDWARE;
}

int hwmc_rc_hardware(void)
{
    int n = 0;

    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        n += migrates(i);
    return n;
}

int hwmc_rc_find(const char *text)
{
    for (int i = 0; i < HWMC_RAILS_MAX; i++) {
        char number[12];

        snprintf(number, sizeof(number), "%d", i);
        if (migrates(i) && (strcmp(text, of_job[i]->name) == 0 || strcmp(text, number) == 0))
            return i;
    }
    return -1;
}

void hwmc_rc_list(char *text, size_t room)
{
    size_t len = 0;

    *text = '\0';
    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        if (migrates(i) && len < room)
            len += (size_t) snprintf(text + len, room - len, "%s%d (%s)", len ? ", " : "", i,
                                     of_job[i]->name);
}

/* Neighbours in a ring, and the children of one parent, take turns. */
static bool takes_alternate(uint32_t peer)
{
    return ((uint64_t) peer + (uint64_t) MPIR_Process.rank) / 2 % 2 != 0;
}

int hwmc_rc_prefer(uint32_t peer, enum hwmc_rc_want want, int rail)
{
    bool second = want == HWMC_RC_ALTERNATE || (want == HWMC_RC_BALANCE && takes_alternate(peer));
    int n = 0;

    for (int i = 0; i < HWMC_RAILS_MAX; i++) {
        uint8_t path = second ? HWMC_LANE_RC_SECOND : HWMC_LANE_RC_FIRST;

        if (!migrates(i))
            continue;
        if (want == HWMC_RC_RAIL)
            path = hwmc_lane_rc_port(of_job[i]->lane, of_job[rail]->lane);
        if (path != HWMC_LANE_RC_ANY)
            n += hwmc_lane_rc_prefer(of_job[i]->lane, peer, path) == HWMC_OK;
    }
    return n;
}

void hwmc_rc_close(void)
{
    close_idle();
    for (int i = 0; i < HWMC_RAILS_MAX; i++) {
        by_rail[i] = (struct rc){0};
        of_job[i] = NULL;
    }
    sessions = NULL;
}

#else

int hwmc_rc_open(const struct hwmc_job_rails *rails)
{
    (void) rails;
    return MPI_SUCCESS;
}

void hwmc_rc_match(const struct hwmc_job_rails *rails, int *have)
{
    (void) rails;
    memset(have, 0, HWMC_RAILS_MAX * sizeof(*have));
}

struct hwmc_lane *hwmc_rc_take(const struct hwmc_job_rails *rails, int i, struct hwmc_sessions *to,
                               uint32_t lane)
{
    (void) rails;
    (void) i;
    (void) to;
    (void) lane;
    return NULL;
}

void hwmc_rc_exchange(struct hwmc_sessions *over, uint32_t stream)
{
    (void) over;
    (void) stream;
}

int hwmc_rc_hardware(void)
{
    return 0;
}

int hwmc_rc_find(const char *text)
{
    (void) text;
    return -1;
}

void hwmc_rc_list(char *text, size_t room)
{
    (void) room;
    *text = '\0';
}

int hwmc_rc_prefer(uint32_t peer, enum hwmc_rc_want want, int rail)
{
    (void) peer;
    (void) want;
    (void) rail;
    return 0;
}

void hwmc_rc_close(void)
{
}

#endif
