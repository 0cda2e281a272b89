/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * doctor: the parts of `hwmc_info --doctor`, which says whether hwmc will run on some hosts, and
 * what slows it there: docs/doctor.md.
 *
 * Each process of the job looks at its surroundings (doctor_host.c); the first one of each host,
 * its prober, tries the rails together with the probers of other hosts (doctor_try.c,
 * doctor_talk.c). Processes exchange what they know over PMI, the way by which an MPI job exchanges
 * addresses (doctor_pmi.c): no MPI is initialized, so nothing has to work for that but the process
 * manager. Process 0 judges (doctor_judge*.c) and prints (doctor_print.c).
 */
#ifndef HWMC_NETMOD_TOOLS_DOCTOR_H_INCLUDED
#define HWMC_NETMOD_TOOLS_DOCTOR_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/port/rail.h"

#define HWMC_DOCTOR_CPUS 1024u    /* of a mask; higher ones are not told apart */
#define HWMC_DOCTOR_DATAGRAMS 100 /* short ones that each prober multicasts */
#define HWMC_DOCTOR_SPARE 2       /* of them that may get lost without a finding */
#define HWMC_DOCTOR_UNLIMITED UINT64_MAX

/* A network port of a host that can be a rail: flags, and what a socket got there. */
enum hwmc_doctor_port_flag {
    HWMC_DOCTOR_BURSTS = 1,           /* the kernel takes several datagrams in one piece */
    HWMC_DOCTOR_SEGMENTS = 1 << 1,    /* the device does (tx-udp-segmentation) */
    HWMC_DOCTOR_NO_SEGMENTS = 1 << 2, /* it does not; neither flag: not known */
    HWMC_DOCTOR_RDMA = 1 << 3,        /* there is an RDMA device with this address */
    HWMC_DOCTOR_VERBS = 1 << 4,       /* ... by which this host can multicast */
    HWMC_DOCTOR_SNOOPS = 1 << 5,      /* a bridge of this host, where the port is one or in one */
    HWMC_DOCTOR_ASKS = 1 << 6,        /* that bridge sends queries, of IGMP and MLD */
    HWMC_DOCTOR_QUERIED = 1 << 7,     /* an IGMP query of version 1 or 2 came of late */
};

struct hwmc_doctor_port {
    struct hwmc_rail rail;
    char bridge[HWMC_RAIL_NAME_MAX]; /* see SNOOPS; empty: none */
    int32_t err;                     /* of opening the fabric */
    uint32_t flags;
    uint32_t datagram;       /* bytes of the longest */
    uint32_t buffer;         /* bytes to ask the kernel for */
    uint64_t window, wanted; /* bytes that can wait unread */
    uint16_t tcp, udp;       /* ports that listen there for this trial */
};

/* What a process says of itself and its host. */
struct hwmc_doctor_self {
    char version[24]; /* first, with `bytes`: other versions have them too */
    uint32_t bytes;   /* of all this */
    char host[64];
    uint32_t cpus[HWMC_DOCTOR_CPUS / 32]; /* this process may run on */
    uint32_t online;                      /* processors of the host */
    uint32_t quota;                       /* thousandths of a processor; 0: none */
    uint64_t memlock;                     /* bytes; UNLIMITED */
    uint64_t shm, shm_free;               /* bytes of /dev/shm */
    char others[160]; /* that a launcher started, as process/launcher.h has it; empty: none */
    char governor[24], driver[24]; /* of the processor's clock; empty: not shown */
    uint32_t mhz, mhz_max;         /* that the clock may have, and could; 0: not shown */
    uint32_t free_ports;           /* of the job's UDP ports, a bit each */
    bool locks;                    /* memory beyond memlock (CAP_IPC_LOCK) */
};

/* The ports of a host that can be rails, as its prober finds them. */
struct hwmc_doctor_ports {
    int32_t num;
    char wrong[HWMC_RAIL_NAME_MAX]; /* part of MPIR_CVAR_HWMC_RAILS that names no port; or empty */
    char
        twice[HWMC_RAIL_NAME_MAX]; /* a port with an IPv6 address that another host has; or empty */
    struct hwmc_doctor_port at[HWMC_RAILS_MAX];
};

/* What a prober saw of another one on a rail. */
enum hwmc_doctor_tcp {
    HWMC_DOCTOR_TCP_SILENT,
    HWMC_DOCTOR_TCP_REFUSED,
    HWMC_DOCTOR_TCP_CONNECTED,
};

struct hwmc_doctor_seen {
    uint16_t longest; /* bytes of the longest multicast datagram that came */
    uint8_t heard;    /* short multicast datagrams, of DATAGRAMS */
    uint8_t unicast;  /* UDP datagrams sent to this host alone came */
    uint8_t tcp;      /* enum hwmc_doctor_tcp */
    uint8_t frames;   /* with its multicast datagrams, as the port got them, up to 255 */
};

/* What it saw on a rail as a whole. Frames are what the port got, whatever the kernel did with them
 * afterwards. */
struct hwmc_doctor_look {
    uint8_t open;    /* it took part on this rail */
    uint8_t taps;    /* it may look at frames */
    uint8_t queries; /* queries of IGMP, or MLD by IPv6, among them, up to 255 */
    uint8_t floods;  /* frames to a group that this host has not joined, up to 255 */
    uint8_t sent;    /* short multicast datagrams, of DATAGRAMS, that the fabric took */
    int32_t err;     /* of opening the fabric and joining, where it has a port and is not open */
};

/* All that is known, at process 0. */
struct hwmc_doctor_case {
    int num;                             /* processes */
    const struct hwmc_doctor_self *self; /* by process */
    int num_hosts;
    const int *prober;                     /* by host: the process */
    const struct hwmc_doctor_ports *ports; /* by host */
    int num_rails;                         /* of the job: the ports of the first host */
    const int (*at)[HWMC_RAILS_MAX];       /* by host and rail: its port, -1: none */
    int num_job_ports;                     /* UDP ports that were drawn for the job */
    const struct hwmc_doctor_seen *seen;   /* see hwmc_doctor_seen_at */
    const struct hwmc_doctor_look *look;   /* by host and rail */
};

/* What host `to` saw of host `from` on a rail. */
static inline size_t hwmc_doctor_seen_at(int num_hosts, int num_rails, int to, int rail, int from)
{
    return ((size_t) to * (size_t) num_rails + (size_t) rail) * (size_t) num_hosts + (size_t) from;
}

static inline const struct hwmc_doctor_port *hwmc_doctor_port_of(const struct hwmc_doctor_case *c,
                                                                 int host, int rail)
{
    const int at = c->at[host][rail];

    return at < 0 ? NULL : &c->ports[host].at[at];
}

/* The rail multicasts by IPv6. */
static inline bool hwmc_doctor_is_ipv6(const struct hwmc_doctor_case *c, int rail)
{
    for (int host = 0; host < c->num_hosts; host++)
        if (hwmc_doctor_port_of(c, host, rail))
            return hwmc_doctor_port_of(c, host, rail)->rail.addr.family == HWMC_IPV6;
    return false;
}

static inline const char *hwmc_doctor_name_of(const struct hwmc_doctor_case *c, int host)
{
    return c->self[c->prober[host]].host;
}

static inline const struct hwmc_doctor_seen *hwmc_doctor_seen_of(const struct hwmc_doctor_case *c,
                                                                 int rail, int to, int from)
{
    return &c->seen[hwmc_doctor_seen_at(c->num_hosts, c->num_rails, to, rail, from)];
}

static inline const struct hwmc_doctor_look *hwmc_doctor_look_of(const struct hwmc_doctor_case *c,
                                                                 int rail, int host)
{
    return &c->look[host * c->num_rails + rail];
}

/* Of the UDP ports that were drawn for the job, a bit each, those that all processes could have.
 * Where there is none, nothing was multicast. */
static inline uint32_t hwmc_doctor_job_ports(const struct hwmc_doctor_self *self, int num,
                                             int num_job_ports)
{
    uint32_t all = num_job_ports > 0 ? (1u << num_job_ports) - 1 : 0;

    for (int i = 0; i < num; i++)
        all &= self[i].free_ports;
    return all;
}

static inline bool hwmc_doctor_has_job_port(const struct hwmc_doctor_case *c)
{
    return hwmc_doctor_job_ports(c->self, c->num, c->num_job_ports) != 0;
}

/* Checks, in the order in which they are printed. */
#define HWMC_DOCTOR_CHECKS(X)                                                                      \
    X(START, "start")                                                                              \
    X(RAILS, "rails")                                                                              \
    X(REACH, "reach")                                                                              \
    X(UDP, "udp")                                                                                  \
    X(MULTICAST, "multicast")                                                                      \
    X(LOSS, "loss")                                                                                \
    X(LENGTH, "length")                                                                            \
    X(SNOOPING, "snooping")                                                                        \
    X(PORTS, "ports")                                                                              \
    X(BUFFERS, "buffers")                                                                          \
    X(OFFLOADS, "offloads")                                                                        \
    X(PROCESSORS, "processors")                                                                    \
    X(CLOCK, "clock")                                                                              \
    X(MEMLOCK, "memlock")                                                                          \
    X(SHM, "shm")

enum hwmc_doctor_check {
#define X(name, text) HWMC_DOCTOR_##name,
    HWMC_DOCTOR_CHECKS(X)
#undef X
        HWMC_DOCTOR_NUM_CHECKS
};

/* What a check says; the greatest of all is the exit status, where UNKNOWN counts as 0. */
enum hwmc_doctor_level {
    HWMC_DOCTOR_OK,
    HWMC_DOCTOR_SLOW,
    HWMC_DOCTOR_BROKEN,
    HWMC_DOCTOR_UNKNOWN,
};

/* Something wrong: what, where, what that costs, and the command that mends it. */
struct hwmc_doctor_finding {
    enum hwmc_doctor_check check;
    enum hwmc_doctor_level level;
    int rail; /* of the job; -1: none in particular */
    char hosts[200];
    char what[400], cost[300], mend[400];
};

#define HWMC_DOCTOR_FINDINGS_MAX 64

struct hwmc_doctor_report {
    int num;
    struct hwmc_doctor_finding finding[HWMC_DOCTOR_FINDINGS_MAX]; /* further ones are dropped */
    enum hwmc_doctor_level level[HWMC_DOCTOR_NUM_CHECKS];
    char said[HWMC_DOCTOR_NUM_CHECKS][160]; /* a line of each check */
};

/* Judges. No I/O, no allocation. */
void hwmc_doctor_judge(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r);
void hwmc_doctor_judge_rails(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r);
void hwmc_doctor_judge_net(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r);
/* Which of the net's checks, where nothing is bad, were not tried between some hosts. */
void hwmc_doctor_judge_untried(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r);
void hwmc_doctor_judge_snooping(const struct hwmc_doctor_case *c, struct hwmc_doctor_report *r);

/* Whether a line of /proc/net/igmp is that of the port, and says that the kernel has heard a query
 * of version 1 or 2 there. */
bool hwmc_doctor_igmp_line(const char *line, const char *port);

/* 0: nothing is wrong, 1: something slows hwmc, 2: something does not work. */
int hwmc_doctor_status(const struct hwmc_doctor_report *r);

/* For judges, doctor_report.c: a finding to be filled, with its level noted for its check. */
struct hwmc_doctor_finding *hwmc_doctor_find(struct hwmc_doctor_report *r,
                                             enum hwmc_doctor_check check,
                                             enum hwmc_doctor_level level, int rail);

/* Makes the last finding one with an earlier one that says the same of other hosts. */
void hwmc_doctor_merge(struct hwmc_doctor_report *r);

/* Adds a word to a list between commas; beyond `room` "..." instead. */
void hwmc_doctor_list(char *list, size_t room, const char *word);

/* Adds a host to those of the finding. */
void hwmc_doctor_blame(struct hwmc_doctor_finding *f, const struct hwmc_doctor_case *c, int host);

/* The two ways to print: a table, and JSON. */
void hwmc_doctor_print(const struct hwmc_doctor_case *c, const struct hwmc_doctor_report *r);
void hwmc_doctor_print_json(const struct hwmc_doctor_case *c, const struct hwmc_doctor_report *r);

/* This process and its host; `ports`: the job's UDP ports. */
void hwmc_doctor_look_at_host(struct hwmc_doctor_self *self, const uint16_t *ports, int num);

/* Whether a line of /proc/net/if_inet6 is that of an address which failed duplicate address
 * detection (RFC 4862): then `port`, of HWMC_RAIL_NAME_MAX bytes, gets the name of its port. */
bool hwmc_doctor_inet6_line(const char *line, char *port);

/* A port of this host with such an address; empty: none. */
void hwmc_doctor_look_for_twice(char *port);

/* Flags of a network port, as its driver and the system tell them, and its bridge. */
void hwmc_doctor_look_at_port(struct hwmc_doctor_port *port);

#endif /* HWMC_NETMOD_TOOLS_DOCTOR_H_INCLUDED */
