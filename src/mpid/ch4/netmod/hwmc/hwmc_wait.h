/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_WAIT_H_INCLUDED
#define HWMC_WAIT_H_INCLUDED

#include <stdint.h>
#include <ucp/api/ucp.h>

/* Polite waiting. MPICH waits by calling progress until something is done, and does not say so. A
 * wait is recognised by that: calls that follow each other within microseconds and find nothing. It
 * first polls, then gives the processor away between polls, then sleeps until one of its descriptors
 * is readable or time is up. A program that tests now and then never sleeps, nor does one with
 * several threads, for progress runs under MPICH's locks. */

struct MPIDI_HWMC_wait {
    unsigned events;   /* that MPICH's worker had in the progress call under way */
    int polls_left;    /* empty polls until the clock is looked at */
    uint64_t since;    /* ns: when this wait began; 0: none was recognised */
    uint64_t left;     /* ns: when the last look ended */
    uint64_t entered;  /* ns: when the poll after that began */
    uint64_t sleep_ns; /* the longest the next sleep may take */
};

extern __thread struct MPIDI_HWMC_wait MPIDI_HWMC_wait __attribute__((tls_model("initial-exec")));

/* Empty polls before the clock is looked at. */
extern int MPIDI_HWMC_wait_spins;

/* Reads the CVARs. */
void MPIDI_HWMC_wait_init(void);

/* A poll found nothing and polls_left is used up. */
void MPIDI_HWMC_wait_step(struct MPIDI_HWMC_wait *w);

/* Before a poll of a wait that was recognised. */
void MPIDI_HWMC_wait_enter(struct MPIDI_HWMC_wait *w);

/* Before and after each poll. */
static inline void MPIDI_HWMC_wait_poll(struct MPIDI_HWMC_wait *w)
{
    w->events = 0;
    if (w->since != 0)
        MPIDI_HWMC_wait_enter(w);
}

static inline void MPIDI_HWMC_wait_polled(struct MPIDI_HWMC_wait *w, unsigned events)
{
    if (events > 0) {
        w->polls_left = MPIDI_HWMC_wait_spins;
        w->since = 0;
    } else if (--w->polls_left < 0) {
        MPIDI_HWMC_wait_step(w);
    }
}

/* Stands in for ucp_worker_progress in the ucx netmod's headers, which drop what it returns. */
static inline unsigned MPIDI_HWMC_worker_progress(ucp_worker_h worker)
{
    unsigned events = ucp_worker_progress(worker);

    MPIDI_HWMC_wait.events += events;
    return events;
}

/* Stands in for ucp_init in the ucx netmod: asks for a context that can be waited for as well. */
ucs_status_t MPIDI_HWMC_ucp_init(const ucp_params_t *params, const ucp_config_t *config,
                                 ucp_context_h *context);

/* Stands in for ucp_disconnect_nb in the ucx netmod: nothing is pending once all is flushed. */
void *MPIDI_HWMC_ucp_disconnect_nb(ucp_ep_h ep);

#endif /* HWMC_WAIT_H_INCLUDED */
