/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * doctor_try: what a prober does on the rails. In order: find; then, when all have told each other
 * their ports, open; when all have opened, run; when all have run, leave.
 *
 *   find    which ports can be rails, as a job does it; sockets of this trial listen there
 *   open    a fabric for each rail of the job, and its group is joined
 *   run     everybody multicasts short datagrams to everybody and some long ones, sends UDP
 *           datagrams to each host alone, and connects by TCP; host 0 also multicasts to a group
 *           that only it has joined
 *   leave   leaves the groups, upon which an IGMP querier asks at once who else is there
 */
#ifndef HWMC_NETMOD_TOOLS_DOCTOR_TRY_H_INCLUDED
#define HWMC_NETMOD_TOOLS_DOCTOR_TRY_H_INCLUDED

#include "doctor.h"

#define HWMC_DOCTOR_JOB_PORTS 8

/* What process 0 draws for all. */
struct hwmc_doctor_call {
    uint64_t key;           /* by which datagrams of this trial are told from others */
    uint32_t joined, other; /* numbers of multicast groups (base/random.h) */
    int32_t num_ports;      /* UDP ports that a job might use */
    uint16_t port[HWMC_DOCTOR_JOB_PORTS];
};

/* False: the system gives no random numbers. */
bool hwmc_doctor_draw(struct hwmc_doctor_call *call);

struct hwmc_doctor_try;

/* NULL: no memory. */
struct hwmc_doctor_try *hwmc_doctor_try_find(const struct hwmc_doctor_call *call,
                                             struct hwmc_doctor_ports *mine);

/* Who takes part: by host its ports; at[host][rail] is the number of one, -1: none. */
struct hwmc_doctor_hosts {
    int num, me; /* hosts; which is this one */
    int num_rails;
    const struct hwmc_doctor_ports *ports;
    const int (*at)[HWMC_RAILS_MAX];
};

/* `port`: of UDP; 0: there is none that all hosts have, and nothing is multicast. `seen` and `look`
 * are this host's part, as in struct hwmc_doctor_case. False: no memory. */
bool hwmc_doctor_try_open(struct hwmc_doctor_try *t, const struct hwmc_doctor_hosts *hosts,
                          uint16_t port, struct hwmc_doctor_seen *seen,
                          struct hwmc_doctor_look *look);
void hwmc_doctor_try_run(struct hwmc_doctor_try *t);
void hwmc_doctor_try_leave(struct hwmc_doctor_try *t);
void hwmc_doctor_try_close(struct hwmc_doctor_try *t);

#endif /* HWMC_NETMOD_TOOLS_DOCTOR_TRY_H_INCLUDED */
