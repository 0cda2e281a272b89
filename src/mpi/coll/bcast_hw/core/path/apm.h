/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * apm: the paths of one connection with automatic path migration (InfiniBand Architecture
 * Specification, volume 1, release 1.2.1, 17.2.8; Vishnu et al. 2007, sections 2.2 and 3).
 *
 * A connected queue pair has a primary path, which carries everything, and may have an alternate
 * one:
 *
 *                    load                      hardware, both ends in REARM or ARMED
 *      MIGRATED ------------> REARM (again: load) --------------------> ARMED
 *         ^                                                               |
 *         +---------------------------------------------------------------+
 *              hardware: retries are used up, or the peer migrated; software: migrate
 *
 * By a migration the alternate path becomes the primary one, and there is no alternate path until
 * one is specified and loaded. A reset leads from anywhere to MIGRATED. Hence what software may ask
 * for depends on the path migration state and on the communication state, in which the device is:
 *
 *                RESET  INIT  RTR  RTS  SQD  SQE  ERR
 *      specify     -     x     x    x    x    -    -     with INIT to RTR, later; not ARMED
 *      load        -     -     x    x    x    -    -     with RTR to RTS, later; specified, not
 *                                                        ARMED
 *      migrate     -     -     -    x    -    -    -     ARMED
 *      armed       -     -     -    x    x    x    -     REARM
 *      migrated    -     -     -    x    x    x    -     ARMED
 *
 * The policy keeps an alternate path loaded whenever its port is active. A path that hardware left
 * is not trusted at first: it may be dead although its port is active, and hardware that still
 * counts the retries of before would soon go back. A connection that hardware cannot save must be
 * moved in software: it is given up here, and its messages are sent over another one.
 *
 * Example: paths 0 and 1 by ports 1 and 2. specify, load, armed; port 1 dies: next is MIGRATE;
 * migrated: path 1 is in use, next is LATER; port 1 is active: next is SPECIFY, then LOAD, of path
 * 0.
 *
 * Invariants (hwmc_apm_check): what is REARM or ARMED has been specified, in a communication
 * state that can have it; only what has an alternate path is ever specified; ERR is to be moved;
 * RESET is as after init.
 */
#ifndef HWMC_CORE_PATH_APM_H_INCLUDED
#define HWMC_CORE_PATH_APM_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

enum hwmc_apm_path_state { HWMC_APM_MIGRATED, HWMC_APM_REARM, HWMC_APM_ARMED };

enum hwmc_apm_comm {
    HWMC_APM_RESET,
    HWMC_APM_INIT,
    HWMC_APM_RTR,
    HWMC_APM_RTS,
    HWMC_APM_SQD,
    HWMC_APM_SQE, /* unreliable connections only */
    HWMC_APM_ERR
};

enum hwmc_apm_event {
    HWMC_APM_ON_SPECIFY,    /* software has given the device the alternate path */
    HWMC_APM_ON_LOAD,       /* software has set REARM */
    HWMC_APM_ON_ARMED,      /* the device is seen in ARMED */
    HWMC_APM_ON_MIGRATE,    /* software has set MIGRATED */
    HWMC_APM_ON_MIGRATED,   /* IBV_EVENT_PATH_MIG */
    HWMC_APM_ON_MIG_FAILED, /* IBV_EVENT_PATH_MIG_ERR: the peer migrated and was not accepted */
    HWMC_APM_EVENTS
};

enum hwmc_apm_verdict {
    HWMC_APM_TAKEN,
    HWMC_APM_STALE,  /* told too late: of a connection or migration that is over */
    HWMC_APM_ILLEGAL /* not allowed in this state: the device refuses it; nothing was changed */
};

/* What the driver is to do; a request of software is reported as an event once the device took
 * it. */
enum hwmc_apm_next {
    HWMC_APM_NOTHING,
    HWMC_APM_SPECIFY, /* give the device the path that is not in use as its alternate one */
    HWMC_APM_LOAD,    /* set REARM */
    HWMC_APM_MIGRATE, /* set MIGRATED: the primary path's port is known to be down */
    HWMC_APM_MOVE,    /* give the connection up */
    HWMC_APM_LATER    /* the path not in use is in doubt, or its port is not active */
};

/* What is open of a migration. */
enum hwmc_apm_open {
    HWMC_APM_SETTLED,
    HWMC_APM_ASKED,  /* software has set MIGRATED, and the event is to come: only in ARMED */
    HWMC_APM_DOUBTED /* hardware left the path that is not in use: only in MIGRATED */
};

enum hwmc_apm_by { HWMC_APM_BY_HARDWARE, HWMC_APM_BY_SOFTWARE };

struct hwmc_apm {
    enum hwmc_apm_path_state path;
    enum hwmc_apm_comm comm;
    uint8_t primary; /* the path in use, 0 or 1; the other one is, or will be, the alternate */
    bool active[2];  /* the local port of each path is */
    bool alternate;  /* there is a second path; constant */
    bool specified;  /* the device knows the alternate path */
    bool moving;     /* the connection is lost to hardware */
    enum hwmc_apm_open open;
    enum hwmc_apm_by last_by; /* whose the last migration was */
};

/* In RESET, on path 0, with both ports active. */
void hwmc_apm_init(struct hwmc_apm *m, bool alternate);

/* The queue pair is in another communication state, or in the same again. TAKEN, ILLEGAL. RESET
 * keeps what is known of ports, and begins anew on path 0. */
enum hwmc_apm_verdict hwmc_apm_on_comm(struct hwmc_apm *m, enum hwmc_apm_comm to);

enum hwmc_apm_verdict hwmc_apm_on_event(struct hwmc_apm *m, enum hwmc_apm_event ev);

/* The local port of path 0 or 1 is active, or is not. Where both are on one port, told for both. */
void hwmc_apm_on_port(struct hwmc_apm *m, uint8_t path, bool active);

/* The path that is not in use may be loaded again: for some time nothing was heard of it. */
void hwmc_apm_trust(struct hwmc_apm *m);

enum hwmc_apm_next hwmc_apm_next(const struct hwmc_apm *m);

void hwmc_apm_check(const struct hwmc_apm *m);

#endif /* HWMC_CORE_PATH_APM_H_INCLUDED */
