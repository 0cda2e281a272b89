/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * record: see record.h.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "record.h"
#include "../wires/auth.h"
#include "../wires/rails.h"
#include "../../../../../mpi/coll/bcast_hw/engine/engine.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#include <arpa/inet.h>

#define VALUE_MAX 600 /* of the job record */
#define RAILS_FORMAT "%416s"

_Static_assert(HWMC_MATCH_TEXT_MAX > 416, "RAILS_FORMAT");

static int parse_group(const char *text, struct hwmc_job_record *job)
{
    char dotted[INET_ADDRSTRLEN];
    const char *colon = strchr(text, ':');
    struct in_addr in;

    if (!colon || (size_t) (colon - text) >= sizeof(dotted) ||
        !hwmc_random_ports_parse(colon + 1, &job->ports))
        return -1;
    memcpy(dotted, text, (size_t) (colon - text));
    dotted[colon - text] = '\0';
    if (inet_pton(AF_INET, dotted, &in) != 1 || !IN_MULTICAST(ntohl(in.s_addr)))
        return -1;
    job->group = ntohl(in.s_addr);
    return 0;
}

static enum hwmc_integrity integrity_set(void)
{
    switch (hwmc_settings.ways.integrity) {
        case HWMC_SET_INTEGRITY_OFF:
            return HWMC_INTEGRITY_OFF;
        case HWMC_SET_INTEGRITY_KEYED:
            return HWMC_INTEGRITY_KEYED;
        default:
            return HWMC_INTEGRITY_CRC32C;
    }
}

static int draw_job(struct hwmc_job_record *job)
{
    int mpi_errno = MPI_SUCCESS;

    mpi_errno = hwmc_mpi_random(&job->key, sizeof(job->key));
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_ERR_CHKANDJUMP1(hwmc_random_ports(hwmc_random_ephemeral(), &job->ports) != HWMC_OK,
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "the system gives no random numbers");
    job->group = 0;
    job->integrity = integrity_set();
    if (*hwmc_settings.debug.group)
        MPIR_ERR_CHKANDJUMP1(parse_group(hwmc_settings.debug.group, job) != 0, mpi_errno,
                             MPI_ERR_OTHER, "**hwmc_group", "**hwmc_group %s",
                             hwmc_settings.debug.group);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

int hwmc_job_record_exchange(const struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails,
                             struct hwmc_job_record *job)
{
    int mpi_errno = MPI_SUCCESS;
    char value[VALUE_MAX], ports[HWMC_RANDOM_PORTS_TEXT_MAX];

    if (MPIR_Process.rank == 0) {
        mpi_errno = draw_job(job);
        MPIR_ERR_CHECK(mpi_errno);
        hwmc_job_rails_write(rails, job->rails);
        hwmc_random_ports_write(&job->ports, ports);
        snprintf(value, sizeof(value), "%" PRIx64 ":%s:%" PRIx32 ":%d:%s", job->key, ports,
                 job->group, job->integrity, job->rails);
        mpi_errno = MPIR_pmi_kvs_put("hwmc-job", value);
        MPIR_ERR_CHECK(mpi_errno);
        if (job->integrity == HWMC_INTEGRITY_KEYED)
            mpi_errno = hwmc_auth_secret_put();
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = hwmc_lanes_put(lanes);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_pmi_barrier();
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_pmi_kvs_get(0, "hwmc-job", value, (int) sizeof(value));
    MPIR_ERR_CHECK(mpi_errno);
    job->rails[0] = '\0'; /* there may be none */
    MPIR_ERR_CHKANDJUMP1(sscanf(value, "%" SCNx64 ":%39[0-9a-f,]:%" SCNx32 ":%d:" RAILS_FORMAT,
                                &job->key, ports, &job->group, &job->integrity, job->rails) < 4 ||
                             !hwmc_random_ports_read(ports, &job->ports),
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_other", "**hwmc_other %s",
                         "the process manager changed hwmc's job record");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
