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
#endif

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_HWMC_LANE
      category    : CH4_HWMC
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        What hwmc's lanes between two processes are.
        auto - UCX; with MPIR_CVAR_HWMC_RESILIENT reliable connections of verbs as well, and rather,
               where the device migrates paths by itself.
        ucx  - UCX, over whatever it has.
        rc   - Reliable connections of verbs where all processes have an RDMA device on a rail, UCX
               elsewhere and until they are connected.

    - name        : MPIR_CVAR_HWMC_RC_MAX_PEERS
      category    : CH4_HWMC
      type        : int
      default     : 256
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Reliable connections of verbs that a process has at a time on each rail. Peers beyond that
        are served by UCX.

    - name        : MPIR_CVAR_HWMC_RC_TIMEOUT
      category    : CH4_HWMC
      type        : int
      default     : 12
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        How long a reliable connection waits for an acknowledgement before it sends again, as the
        exponent t of 4.096 us * 2^t, 1 to 31; a device may take four times that. With 12 a dead
        path is known within half a second.

    - name        : MPIR_CVAR_HWMC_APM
      category    : CH4_HWMC
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        If true, reliable connections get an alternate path, to which the device migrates by itself
        when the path dies, where a trial at start-up shows that it does. False: a dead path is left
        in software.

    - name        : MPIR_CVAR_HWMC_APM_PATH
      category    : CH4_HWMC
      type        : string
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : |-
        Which of its ports and LIDs this process offers for alternate paths; a path is what both
        ends offer.
        auto      - Another port of the device, else another LID of the same port.
        port=N    - The device's port N, and no other.
        port=same - The rail's own port, by another of its LIDs (the subnet has to have LMC > 0).
        bits=B    - The LID is the port's first plus B. May follow one of the others with a comma.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

bool hwmc_rc_wanted(void)
{
    return MPIR_CVAR_HWMC_LANE == MPIR_CVAR_HWMC_LANE_rc ||
           (MPIR_CVAR_HWMC_LANE == MPIR_CVAR_HWMC_LANE_auto && MPIR_CVAR_HWMC_RESILIENT);
}

bool hwmc_rc_named(void)
{
    return MPIR_CVAR_HWMC_LANE == MPIR_CVAR_HWMC_LANE_rc;
}

#ifdef HAVE_HWMC_VERBS

struct rc {
    struct hwmc_lane *lane;     /* NULL: none, or closed */
    bool taken;                 /* sessions have it; else nothing comes */
    struct hwmc_lane_params to; /* who gets it: recv, lost, sent and ctx */
    int rail;                   /* of the job */
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
        .max_peers = (uint32_t) MPL_MAX(MPIR_CVAR_HWMC_RC_MAX_PEERS, 1),
        .rail = rail,
        .timeout = (uint8_t) MPL_MIN(MPL_MAX(MPIR_CVAR_HWMC_RC_TIMEOUT, 1), 31),
        .apm = MPIR_CVAR_HWMC_APM,
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

    MPIR_ERR_CHKANDJUMP1(!hwmc_apm_preference_parse(MPIR_CVAR_HWMC_APM_PATH, &preference),
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_path", "**hwmc_path %s",
                         MPIR_CVAR_HWMC_APM_PATH);
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

int hwmc_rc_hardware(void)
{
    const char *reason;
    int n = 0;

    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        n += of_job[i] && hwmc_lane_rc_apm(of_job[i]->lane, &reason) == HWMC_LANE_RC_APM_HARDWARE;
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

void hwmc_rc_close(void)
{
}

#endif
