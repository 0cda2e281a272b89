/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The rails of this process: chosen here, numbered by the job, agreed on by all.
 */

#ifndef HWMC_RAILS_H_INCLUDED
#define HWMC_RAILS_H_INCLUDED

#include "rail/match.h"
#include "../../../../mpi/coll/bcast_hw/engine/engine.h"

struct MPIDI_HWMC_rails {
    struct bcast_hw_rail mine[BCAST_HW_RAILS_MAX]; /* in this host's order */
    int num;
    int at[BCAST_HW_RAILS_MAX]; /* by the job's number: index in `mine`, or -1 */
    int num_job;
    uint32_t
        same; /* of the job's rails, a bit each: left out, as all hosts have one address there */
};

/* The least and the greatest of something that each process has, both to be combined by minimum. */
struct MPIDI_HWMC_rails_ends {
    int least_addr, most_addr;
    int least_host, most_host;
};

/* The rails that the user names or that serve. None is no error, a wrong name is one. */
int MPIDI_HWMC_rails_choose(struct MPIDI_HWMC_rails *rails);

/* `text` has HWMC_MATCH_TEXT_MAX bytes. */
void MPIDI_HWMC_rails_write(const struct MPIDI_HWMC_rails *rails, char *text);

/* Finds this host's port for each rail of the job, named by `text`. mbit[i]: its speed, 0 when
 * unknown, INT_MAX when there is none: to be combined by minimum over all processes. */
void MPIDI_HWMC_rails_match(struct MPIDI_HWMC_rails *rails, const char *text, int *mbit);

/* Addresses on the job's rails, and whose they are; of BCAST_HW_RAIL_BITS rails. */
void MPIDI_HWMC_rails_show_ends(const struct MPIDI_HWMC_rails *rails,
                                struct MPIDI_HWMC_rails_ends *ends);

/* A network in which all hosts have the same address joins none of them: no rail, on any
 * process. */
void MPIDI_HWMC_rails_leave_same(struct MPIDI_HWMC_rails *rails,
                                 const struct MPIDI_HWMC_rails_ends *ends);

/* Ranks on the same host will ask how near each is to the rails, which are matched. */
void MPIDI_HWMC_rails_tell(const struct MPIDI_HWMC_rails *rails);

#endif /* HWMC_RAILS_H_INCLUDED */
