/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Who waits for long calls the roll (core/roll): hosts that are not there any more end the wait.
 */

#ifndef BCAST_HW_PATIENCE_H_INCLUDED
#define BCAST_HW_PATIENCE_H_INCLUDED

#include "glue.h"

/* One wait of one thread. Zero to begin with. */
struct MPIR_Bcast_hw_patience {
    uint64_t wake; /* ns: when there is something to do; 0 at first */
    bool calls;    /* the process's roll call is this one's */
};

/* Under the lock, when wake has come: waits for `g`. It is BROKEN if a member is gone. */
void MPIR_Bcast_hw_patience_step(struct MPIR_Bcast_hw_patience *p, struct bcast_hw_group *g);

/* The wait is over. Under the lock. */
void MPIR_Bcast_hw_patience_end(struct MPIR_Bcast_hw_patience *p);

/* No wait follows, and that for all processes is over. Under the lock. */
void MPIR_Bcast_hw_patience_close(void);

/* ns: how long a host must have been silent to be taken for gone; 0: none is. */
uint64_t MPIR_Bcast_hw_gone_ns(void);

/* ns: when the thread that waits has to look again; NEVER. */
uint64_t MPIR_Bcast_hw_patience_deadline(void);

/* The MPI error of a group that is BROKEN. */
int MPIR_Bcast_hw_lost(const struct bcast_hw_group *g);

#endif /* BCAST_HW_PATIENCE_H_INCLUDED */
