/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Counters of the netmod. All are registered in every job: those not in use stay 0.
 */

#ifndef HWMC_NETMOD_BASE_COUNTERS_H_INCLUDED
#define HWMC_NETMOD_BASE_COUNTERS_H_INCLUDED

#include <stdint.h>

struct hwmc_session_counts;
struct hwmc_helper_counts;
struct hwmc_auth_lane_counts;
struct hwmc_lane_rc_counts;

#define HWMC_AM_COUNTS(X)                                                                          \
    X(am_received, "messages of MPICH that sessions brought here")                                 \
    X(am_read, "of those, read where they lay in the sender's memory")                             \
    X(am_refused, "of those, requested as this process may not read the sender's memory")          \
    X(am_bad, "frames of such messages dropped: they do not fit the others of their message")

struct hwmc_am_counts {
#define X(field, text) uint64_t field;
    HWMC_AM_COUNTS(X)
#undef X
};

/* Levels. */
#define HWMC_LANES_COUNTS(X)                                                                       \
    X(hardware, "lanes that hardware takes off a dead path")                                       \
    X(software, "other lanes, which software takes off a dead path")

struct hwmc_lanes_counts {
#define X(field, text) uint64_t field;
    HWMC_LANES_COUNTS(X)
#undef X
};

/* Info key hwmc_path. */
#define HWMC_PATH_COUNTS(X)                                                                        \
    X(asked, "times that the program named a path for connections: info key hwmc_path")            \
    X(ignored, "of those, without effect: no lane migrates paths, or there is no such rail")

struct hwmc_path_counts {
#define X(field, text) uint64_t field;
    HWMC_PATH_COUNTS(X)
#undef X
};

/* How set-up of a job went. */
#define HWMC_SETUP_COUNTS(X)                                                                       \
    X(drop_unicast, "datagrams dropped: sent to this host alone, on the job's port")               \
    X(ports_taken, "UDP ports that the job drew, and some process could not have")                 \
    X(rails_same, "networks that are no rails, as all hosts have one address there")               \
    X(verbs_probes, "times that this process asked a network whether verbs multicasts there")      \
    X(job_off_address, "1: hwmc is off in this job, as an address of UCX was too long")            \
    X(job_off_limit, "1: ..., as a process has no more descriptors")                               \
    X(job_off_nomem, "1: ..., as a process had no memory")                                         \
    X(job_off_device, "1: ..., as UCX had no transport that could be waited for")

struct hwmc_setup_counts {
#define X(field, text) uint64_t field;
    HWMC_SETUP_COUNTS(X)
#undef X
};

struct hwmc_counters {
    struct hwmc_setup_counts *setup;
    struct hwmc_session_counts *session;
    struct hwmc_lanes_counts *lanes;
    struct hwmc_path_counts *path;
    struct hwmc_am_counts *am;
    struct hwmc_helper_counts *helper;
    struct hwmc_auth_lane_counts *auth_lane;
    struct hwmc_lane_rc_counts *rc; /* of all lanes; NULL without verbs */
};

extern struct hwmc_counters hwmc_counters;

/* After hwmc_export_open. */
void hwmc_counters_add(void);

#endif /* HWMC_NETMOD_BASE_COUNTERS_H_INCLUDED */
