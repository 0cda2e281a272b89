/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The rails of this process: chosen here, numbered by the job, agreed by all.
 */

#ifndef HWMC_NETMOD_WIRES_RAILS_H_INCLUDED
#define HWMC_NETMOD_WIRES_RAILS_H_INCLUDED

#include "../rail/match.h"
#include "../../../../../mpi/coll/bcast_hw/engine/engine.h"

struct hwmc_job_rails {
    struct hwmc_rail mine[HWMC_RAILS_MAX]; /* in this host's order */
    int num;
    int at[HWMC_RAILS_MAX];      /* by the job's number: index in `mine`, or -1 */
    int port_at[HWMC_RAILS_MAX]; /* the same, or a port in another subnet that serves for it */
    bool elsewhere;              /* it is one */
    int num_job;
    enum hwmc_family family; /* of ports that have both: the same on all processes */
    uint32_t
        same; /* of the job's rails, a bit each: left out, as all hosts have one address there */
};

/* The least and the greatest of something that each process has, both to be combined by minimum. */
struct hwmc_job_rails_ends {
    int least_addr, most_addr;
    int least_host, most_host;
};

/* The rails that the user names or that serve. None is no error, a wrong name is one. Ports that
 * have both families go by one that all processes choose alike: IPv4; or IPv6, if some have ports
 * without IPv4, and none without IPv6; the other way round where UCX_TCP_AF_PRIO says inet6 first
 * on all. Collective over `world`. */
int hwmc_job_rails_choose(struct hwmc_job_rails *rails, MPIR_Comm *world);

/* `text` has HWMC_MATCH_TEXT_MAX bytes. */
void hwmc_job_rails_write(const struct hwmc_job_rails *rails, char *text);

/* This process is in another subnet than the first one: which, the same on hosts that multicast to
 * each other; 0: it is not. */
uint64_t hwmc_job_rails_elsewhere(const struct hwmc_job_rails *rails);

/* Finds this host's port for each rail of the job, named by `text`. mbit[i]: its speed, 0 when
 * unknown, INT_MAX when there is none: to be combined by minimum over all processes. */
void hwmc_job_rails_match(struct hwmc_job_rails *rails, const char *text, int *mbit);

/* Addresses on the job's rails, and whose they are; of HWMC_RAIL_BITS rails. */
void hwmc_job_rails_show_ends(const struct hwmc_job_rails *rails, struct hwmc_job_rails_ends *ends);

/* A network in which all hosts have the same address joins none of them: no rail, on any
 * process. */
void hwmc_job_rails_leave_same(struct hwmc_job_rails *rails,
                               const struct hwmc_job_rails_ends *ends);

/* Ranks on the same host will ask how near each is to the rails, which are matched. */
void hwmc_job_rails_tell(const struct hwmc_job_rails *rails);

#endif /* HWMC_NETMOD_WIRES_RAILS_H_INCLUDED */
