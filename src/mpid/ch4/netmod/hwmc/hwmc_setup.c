/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * At the start of a job the first process draws the job's key and UDP port. They and every process's
 * lane address travel in the process manager's key-value space:
 *
 *   hwmc-job      KEY:PORT:GROUP:RAILS, the first three hexadecimal; GROUP is 0 but in tests; RAILS are
 *                 the first process's (rail/match)
 *   hwmc-R-I      part I of the lane address of process R, hexadecimal; the last part is shorter
 *                 than the others, or empty
 *
 * The job record is read by all at once, a peer's address when it is first sent to.
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_rails.h"
#include "lane/ucx.h"
#include "../../../../mpi/coll/bcast_hw/engine/engine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/random.h>

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_HWMC_FABRIC
      category    : CH4_HWMC
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        What multicasts.
        auto - The best there is.
        udp  - IP multicast.
        none - Nothing, MPICH's own algorithms run.

    - name        : MPIR_CVAR_HWMC_GROUP
      category    : CH4_HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        For tests: the multicast group and UDP port of every communicator, as 239.192.1.2:50000.
        Empty: drawn at random.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#if MPICH_NUMVERSION >= 50000000
#define INT_TYPE MPIR_INT_INTERNAL
#define NO_ERRORS 0
#elif MPICH_NUMVERSION >= 40200000
#define INT_TYPE MPI_INT
#define NO_ERRORS MPIR_ERR_NONE
#else
#define INT_TYPE MPI_INT
#define NO_ERRORS &errflag
#endif

#define PORT_FIRST 49152u /* RFC 6335: dynamic ports */
#define VALUE_MAX 1024    /* of what the process manager may hold in a value, used */

struct MPIDI_HWMC_global MPIDI_HWMC_global;

struct job {
    uint64_t key;
    unsigned port;
    uint32_t group;                  /* 0: drawn */
    char rails[HWMC_MATCH_TEXT_MAX]; /* of the first process */
};

static int parse_group(const char *text, struct job *job)
{
    char dotted[INET_ADDRSTRLEN];
    const char *colon = strchr(text, ':');
    struct in_addr in;
    unsigned port;
    char rest;

    if (!colon || (size_t) (colon - text) >= sizeof(dotted) ||
        sscanf(colon + 1, "%5u%c", &port, &rest) != 1 || port < 1 || port > 65535)
        return -1;
    memcpy(dotted, text, (size_t) (colon - text));
    dotted[colon - text] = '\0';
    if (inet_pton(AF_INET, dotted, &in) != 1 || !IN_MULTICAST(ntohl(in.s_addr)))
        return -1;
    job->group = ntohl(in.s_addr);
    job->port = port;
    return 0;
}

static int draw_job(struct job *job)
{
    int mpi_errno = MPI_SUCCESS;
    struct {
        uint64_t key;
        uint32_t port;
    } bits;
    ssize_t got;

    do
        got = getrandom(&bits, sizeof(bits), 0);
    while (got < 0 && errno == EINTR);
    MPIR_ERR_CHKANDJUMP1(got != sizeof(bits), mpi_errno, MPI_ERR_OTHER, "**hwmc_other",
                         "**hwmc_other %s", "no random numbers from the system");
    job->key = bits.key;
    job->port = PORT_FIRST + bits.port % (65536u - PORT_FIRST);
    job->group = 0;
    if (MPIR_CVAR_HWMC_GROUP && *MPIR_CVAR_HWMC_GROUP)
        MPIR_ERR_CHKANDJUMP1(parse_group(MPIR_CVAR_HWMC_GROUP, job) != 0, mpi_errno, MPI_ERR_OTHER,
                             "**hwmc_group", "**hwmc_group %s", MPIR_CVAR_HWMC_GROUP);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Bytes of an address that go into one value. */
static size_t part_len(void)
{
    int max = MPL_MIN(MPIR_pmi_max_val_size(), VALUE_MAX);

    return (size_t) (max - 1) / 2;
}

static void part_key(char *key, size_t room, unsigned rank, unsigned part)
{
    snprintf(key, room, "hwmc-%u-%u", rank, part);
}

static int put_address(struct bcast_hw_lane *lane)
{
    int mpi_errno = MPI_SUCCESS;
    const void *addr;
    size_t len, done = 0, n;
    char key[64], value[VALUE_MAX];

    lane->ops->address(lane, &addr, &len);
    for (unsigned part = 0;; part++) {
        n = MPL_MIN(len - done, part_len());
        value[0] = '\0';
        for (size_t i = 0; i < n; i++)
            snprintf(value + 2 * i, 3, "%02x", ((const unsigned char *) addr)[done + i]);
        part_key(key, sizeof(key), (unsigned) MPIR_Process.rank, part);
        mpi_errno = MPIR_pmi_kvs_put(key, n > 0 ? value : "-");
        MPIR_ERR_CHECK(mpi_errno);
        done += n;
        if (n < part_len())
            break;
    }

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* How many bytes the hexadecimal text has; -1 when it is none or too long. */
static int from_hex(const char *text, unsigned char *bytes, size_t room)
{
    size_t n = 0;
    unsigned byte;

    if (strcmp(text, "-") == 0)
        return 0;
    for (; text[2 * n] != '\0'; n++) {
        if (n == room || sscanf(text + 2 * n, "%2x", &byte) != 1 || text[2 * n + 1] == '\0')
            return -1;
        bytes[n] = (unsigned char) byte;
    }
    return (int) n;
}

/* For the lane: where the peer is. */
static int address_of(void *ctx, uint32_t peer, void *addr, size_t *len)
{
    char key[64], value[VALUE_MAX];
    size_t got = 0;

    for (unsigned part = 0;; part++) {
        int n;

        part_key(key, sizeof(key), peer, part);
        if (MPIDI_HWMC_global.pmi_in_use ||
            MPIR_pmi_kvs_get((int) peer, key, value, (int) sizeof(value)) != MPI_SUCCESS)
            return BCAST_HW_ERR_PEER;
        n = from_hex(value, (unsigned char *) addr + got, *len - got);
        if (n < 0)
            return BCAST_HW_ERR_PEER;
        got += (size_t) n;
        if ((size_t) n < part_len()) {
            *len = got;
            return BCAST_HW_OK;
        }
    }
}

/* The lane, or NULL: then hwmc carries nothing in this job. */
static struct bcast_hw_lane *open_lane(struct bcast_hw_engine *engine)
{
    const struct hwmc_lane_ucx_params params = {
        .lane = {.recv = bcast_hw_engine_on_lane,
                 .lost = bcast_hw_engine_on_lost,
                 .address_of = address_of,
                 .ctx = engine},
        .size = (uint32_t) MPIR_Process.size,
    };
    struct bcast_hw_lane *lane = NULL;

    return hwmc_lane_ucx_open(&params, &lane) == BCAST_HW_OK ? lane : NULL;
}

static int exchange(struct bcast_hw_lane *lane, const struct MPIDI_HWMC_rails *rails,
                    struct job *job)
{
    int mpi_errno = MPI_SUCCESS;
    char value[VALUE_MAX];

    if (MPIR_Process.rank == 0) {
        mpi_errno = draw_job(job);
        MPIR_ERR_CHECK(mpi_errno);
        MPIDI_HWMC_rails_write(rails, job->rails);
        snprintf(value, sizeof(value), "%" PRIx64 ":%x:%" PRIx32 ":%s", job->key, job->port,
                 job->group, job->rails);
        mpi_errno = MPIR_pmi_kvs_put("hwmc-job", value);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (lane) {
        mpi_errno = put_address(lane);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = MPIR_pmi_barrier();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_pmi_kvs_get(0, "hwmc-job", value, (int) sizeof(value));
    MPIR_ERR_CHECK(mpi_errno);
    job->rails[0] = '\0'; /* there may be none */
    MPIR_ERR_CHKANDJUMP1(sscanf(value, "%" SCNx64 ":%x:%" SCNx32 ":%152s", &job->key, &job->port,
                                &job->group, job->rails) < 3,
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "the process manager changed hwmc's job record");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* What all processes must know of each other: whether each has a lane, how fast its rails are. */
struct offer {
    int lane;
    int mbit[BCAST_HW_RAIL_BITS];
};

static int agree(MPIR_Comm *world, const struct offer *mine, struct offer *all)
{
#if MPICH_NUMVERSION < 40200000
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;
#endif

    return MPIR_Allreduce_allcomm_auto(mine, all, (int) (sizeof(*all) / sizeof(int)), INT_TYPE,
                                       MPI_MIN, world, NO_ERRORS);
}

int MPIDI_HWMC_setup(MPIR_Comm *world)
{
    int mpi_errno = MPI_SUCCESS;
    struct bcast_hw_engine *engine = MPIR_Bcast_hw_engine();
    struct bcast_hw_engine_cfg cfg = {
        .world_rank = (uint32_t) MPIR_Process.rank,
    };
    struct MPIDI_HWMC_rails rails;
    struct offer mine, all;
    struct job job;

    if (MPIR_Process.size == 1 || MPIR_CVAR_HWMC_FABRIC == MPIR_CVAR_HWMC_FABRIC_none)
        goto fn_exit;
    mpi_errno = MPIDI_HWMC_rails_choose(&rails);
    MPIR_ERR_CHECK(mpi_errno);
    if (engine)
        cfg.lane = open_lane(engine);
    MPIR_Bcast_hw_find_nodes();
    mpi_errno = exchange(cfg.lane, &rails, &job);
    MPIR_ERR_CHECK(mpi_errno);
    cfg.job = job.key;
    mine.lane = cfg.lane != NULL;
    MPIDI_HWMC_rails_match(&rails, job.rails, mine.mbit);
    mpi_errno = agree(world, &mine, &all);
    MPIR_ERR_CHECK(mpi_errno);

    /* A process without a lane can take part in no group, so there is none. */
    if (!all.lane)
        goto fn_fail;
    mpi_errno = MPIDI_HWMC_rails_open(&rails, all.mbit, job.port, job.group, &cfg);
    MPIR_ERR_CHECK(mpi_errno);
    memcpy(MPIDI_HWMC_global.fabrics, cfg.fabrics, sizeof(cfg.fabrics));
    MPIDI_HWMC_global.lane = cfg.lane;
    MPIR_Bcast_hw_register(&cfg);

fn_exit:
    return mpi_errno;
fn_fail:
    if (cfg.lane)
        cfg.lane->ops->close(cfg.lane);
    goto fn_exit;
}
