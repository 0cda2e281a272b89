/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * record: at the start of a job the first process draws the job's key and some UDP ports, of which
 * the job uses the first that all can have. They and every process's lane address travel in the
 * process manager's key-value space:
 *
 *   hwmc-job      KEY:PORT,PORT...:GROUP:INTEGRITY:RAILS, the first three hexadecimal; GROUP is 0
 *                 but in tests; INTEGRITY is an enum hwmc_integrity; RAILS are the first
 *                 process's (rail/match)
 *   hwmc-secret   where messages are authenticated (wires/auth.c)
 *   hwmc-R-...    lane addresses of process R (wires/lanes.c)
 *
 * All processes read the job record at once, and a peer's address when they first send to it.
 */

#ifndef HWMC_NETMOD_INIT_RECORD_H_INCLUDED
#define HWMC_NETMOD_INIT_RECORD_H_INCLUDED

#include "../base/random.h"
#include "../rail/match.h"
#include "../wires/lanes.h"

struct hwmc_job_record {
    uint64_t key;
    struct hwmc_random_port_list ports;
    uint32_t group;                  /* 0: drawn */
    int integrity;                   /* enum hwmc_integrity */
    char rails[HWMC_MATCH_TEXT_MAX]; /* of the first process */
};

/* The first process draws the record and puts it; all put their lanes' addresses, and get the
 * record. MPI error code. */
int hwmc_job_record_exchange(const struct hwmc_lanes *lanes, const struct hwmc_job_rails *rails,
                             struct hwmc_job_record *job);

#endif /* HWMC_NETMOD_INIT_RECORD_H_INCLUDED */
