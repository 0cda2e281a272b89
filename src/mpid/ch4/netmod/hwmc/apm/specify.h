/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * specify: the alternate path specification module (Vishnu et al. 2007, section 3.1.1). Which path
 * is to be the alternate one is the user's choice, as a struct hwmc_apm_path, or chosen here from
 * the ports of both ends. The number of the queue pair stays the same whichever path carries it.
 */
#ifndef HWMC_NETMOD_APM_SPECIFY_H_INCLUDED
#define HWMC_NETMOD_APM_SPECIFY_H_INCLUDED

#include "conn.h"

/* One port of an end of the connection, as that end sees it and tells the other. */
struct hwmc_apm_port {
    uint8_t number; /* of its device, from 1 on */
    uint8_t lmc;    /* the port has the 2^lmc LIDs from lid on, 0..7 */
    uint16_t lid;   /* 0: none, as on RoCE */
    union ibv_gid gid;
    uint8_t gid_index;   /* of gid; means something to its own end only */
    uint16_t pkey_index; /* likewise */
    bool grh;            /* whatever goes out names GIDs */
    uint8_t bits;        /* of its LIDs, which an alternate path has; 0: no preference */
};

enum hwmc_apm_choice {
    HWMC_APM_NO_ALTERNATE,
    HWMC_APM_OTHER_PORT, /* of the device, at one end or both */
    HWMC_APM_OTHER_LID   /* of the same ports: the subnet has LMC > 0 */
};

/* Between port `mine` here and `theirs` there, each by its base LID plus its `bits` cut to what the
 * port has. sl is 0. */
void hwmc_apm_path_between(const struct hwmc_apm_port *mine, uint8_t my_bits,
                           const struct hwmc_apm_port *theirs, uint8_t their_bits, uint8_t timeout,
                           struct hwmc_apm_path *path);

/* Chooses the alternate path of a connection between mine[0] and theirs[0], by base LIDs, from the
 * `num_*` ports that each end can use, 1 or more. Both ends choose the same one from the same
 * ports, each seen from its side: hardware takes a migrated packet on the alternate path only.
 * Other ports of both ends come before another port of one, that before other LIDs, the first but
 * one unless the port says which; the ports of a path are in one subnet. `path` is set unless
 * NO_ALTERNATE. */
enum hwmc_apm_choice hwmc_apm_choose(const struct hwmc_apm_port *mine, int num_mine,
                                     const struct hwmc_apm_port *theirs, int num_theirs,
                                     uint8_t timeout, struct hwmc_apm_path *path);

/* Gives the device the path that is not in use as the alternate one; in RTS or SQD. 0, or errno:
 * EINVAL also when the state does not allow it. */
int hwmc_apm_specify(struct hwmc_apm_conn *c);

/* The same as part of the caller's transition from INIT to RTR or from RTR to RTS: adds it to
 * `attr` and returns the mask to add, 0 when there is no alternate path. Once the device took it:
 * hwmc_apm_specified, then hwmc_apm_conn_comm. */
int hwmc_apm_specify_with(const struct hwmc_apm_conn *c, struct ibv_qp_attr *attr);
void hwmc_apm_specified(struct hwmc_apm_conn *c, int mask);

#endif /* HWMC_NETMOD_APM_SPECIFY_H_INCLUDED */
