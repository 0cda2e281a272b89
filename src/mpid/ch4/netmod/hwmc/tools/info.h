/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * info: the parts of hwmc_info. Each prints to stdout; the exit status of the program is the value.
 */
#ifndef HWMC_NETMOD_TOOLS_INFO_H_INCLUDED
#define HWMC_NETMOD_TOOLS_INFO_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../fabric/udp.h"
#include "../rail/rail.h"

/* How a path over the rail that dies is left, and why so. */
void hwmc_info_path(const struct hwmc_rail *rail, char *text, size_t room);

/* The network ports of this host, and whether multicast works on each. */
int hwmc_info_rails(void);

/* What of this host's settings limits a job, and whether the kernel takes bursts in one piece. */
int hwmc_info_limits(void);

/* What is seen on a port, on which a burst is multicast to this host itself. */
#define HWMC_INFO_BURST 8
struct hwmc_info_seen {
    int err; /* of opening it and joining a group; the rest is set where it is OK */
    size_t datagram, window;
    int came; /* of HWMC_INFO_BURST datagrams */
    bool sends_together;
    uint32_t together; /* the most that came in one piece */
};
void hwmc_info_look_at(const struct hwmc_rail *rail, struct hwmc_info_seen *seen);

/* Tries this host, or with the rest of a job all its hosts, for what hwmc needs and what slows it:
 * docs/doctor.md. `hosts`: names between commas, on which mpiexec is to start it; NULL: here. The
 * exit status is 0, 1 (something slows hwmc) or 2 (something does not work). */
int hwmc_info_doctor(const char *hosts, bool json);

/* hwmc's control variables: value, default, description. */
int hwmc_info_cvars(void);

/* hwmc's performance variables. Initializes MPI. */
int hwmc_info_pvars(void);

/* What process `pid`, a number in text, shows of itself while it runs; every `seconds`, a number in
 * text, what changed, until it ends. NULL: once. `json`: as JSON, once. */
int hwmc_info_live(const char *pid, const char *seconds, bool json);

/* The counters of process `pid`, NULL: of all on this host, in Prometheus' format, to a file that
 * is replaced, NULL: to the standard output; every `seconds`, NULL: once. */
int hwmc_info_prometheus(const char *pid, const char *file, const char *seconds);

/* Reads an interval, 0.01 s to 11 days. */
bool hwmc_info_seconds(const char *text, double *seconds);

/* The same as the parts --rails and --limits, as JSON. */
int hwmc_info_host_json(bool rails, bool limits);

/* Whether multicast works on a port: HWMC_OK; AGAIN: nothing came back. `what`: which fabric, and
 * why that. */
int hwmc_info_probe(const struct hwmc_rail *rail, char *what, size_t room);

/* A value of the kernel's in net.core; -1: it does not show it here. */
long hwmc_info_setting(const char *name);

/* In a job: who hears what the first process multicasts. Initializes MPI. */
int hwmc_info_net(void);

/* What algorithm selection takes on a network, for each message length; `what` as hwmc_info --help
 * says. */
int hwmc_info_model(const char *what);

/* The same of collectives over hosts other than broadcasts, `ranks` on the hosts of `shape`. False:
 * MPIR_CVAR_HWMC_ALGORITHMS is wrong. */
struct hwmc_network;
struct hwmc_shape;
bool hwmc_info_colls(const struct hwmc_network *net, const struct hwmc_shape *shape,
                     uint32_t ranks);

/* A time in a table, 12 columns; UINT64_MAX: none. */
void hwmc_info_print_time(uint64_t ns);

/* The same as a selection file of MPICH's. */
int hwmc_info_json(const char *what);

/* A text with lines of at most 78 columns, each indented. */
void hwmc_info_print_wrapped(const char *text, int indent);

/* "10.77.0.1/24"; room for HWMC_ADDR_SUBNET_MAX bytes. */
void hwmc_info_format_subnet(const struct hwmc_rail *rail, char *text);

/* Value of a string control variable whose default is empty. */
void hwmc_info_cvar_string(const char *name, char *value, int room);

struct hwmc_info_params {
    uint64_t key;  /* of the job */
    uint16_t port; /* of UDP */
    size_t window; /* bytes */
};

/* A dynamic UDP port. */
uint16_t hwmc_info_port(uint32_t bits);

/* Whether MPIR_CVAR_HWMC_FABRIC is that, or leaves it open. */
bool hwmc_info_fabric_may_be(const char *name);

/* The verbs fabric of a rail, tried: NULL, or why there is none. */
const char *hwmc_info_open_verbs(const struct hwmc_rail *rail,
                                 const struct hwmc_info_params *params, struct hwmc_fabric **f);

int hwmc_info_open_udp(const struct hwmc_rail *rail, const struct hwmc_info_params *params,
                       struct hwmc_fabric **f);

/* The fabric that a job on this host would have on a rail; `what`: its name and why, as
 * "udp: no RDMA port". */
int hwmc_info_open(const struct hwmc_rail *rail, const struct hwmc_info_params *params,
                   struct hwmc_fabric **f, char *what, size_t room);

/* The fabric's own datagrams that it heard and did not hand over. */
int hwmc_info_own(const struct hwmc_fabric *f);

/* Joins, however long that takes up to 5 s. */
int hwmc_info_join(struct hwmc_fabric *f, uint64_t group);

/* Monotonic, ms. */
uint64_t hwmc_info_now_ms(void);

/* Waits up to `ms` for datagrams. */
void hwmc_info_wait(struct hwmc_fabric *f, uint64_t ms);

#endif /* HWMC_NETMOD_TOOLS_INFO_H_INCLUDED */
