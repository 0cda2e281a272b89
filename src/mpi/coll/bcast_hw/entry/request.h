/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * request: nonblocking and persistent collectives: operations (op/queue.h) that MPICH's requests
 * stand for.
 *
 *   nonblocking   made and started by the call; its request is complete when it is over; then it is
 *                 freed
 *   persistent    made by the call; each MPI_Start starts it again, with a request of its own
 *                 behind the program's; freed with the program's request
 *
 * A request holds a reference to its communicator, so this stays until all its operations are over.
 * Requests are of kind COLL, as those of MPICH's own nonblocking collectives, and of pool 0: the
 * engine lives with VCI 0, and a wait polls the VCI of its request.
 */

#ifndef HWMC_ENTRY_REQUEST_H_INCLUDED
#define HWMC_ENTRY_REQUEST_H_INCLUDED

#include "mpiimpl.h"
#include "../comm/comm.h"
#include "../op/queue.h"
#include "../settings/settings.h"
#include "hooks.h"

struct hwmc_request;

struct hwmc_request_ops {
    /* It is started: whatever the program's buffer has now counts. */
    void (*start)(struct hwmc_request *r);
    /* As op/queue.h. True: it is over, and r->mpi_errno tells how. */
    bool (*step)(struct hwmc_request *r, enum hwmc_stepper by);
    bool (*in_memory)(const struct hwmc_request *r);
    /* It is over, and no lock is held. */
    void (*end)(struct hwmc_request *r);
    /* Frees it, all but what it carries. */
    void (*destroy)(struct hwmc_request *r);
};

struct hwmc_request {
    struct hwmc_op op;
    const struct hwmc_request_ops *ops;
    MPIR_Comm *comm;
    struct hwmc_comm *carried; /* by it; PERSISTENT: its own (comm/twin.h), freed with it */
    MPIR_Request *request;     /* under way; NULL: it is not */
    int tag; /* of MPICH's messages, since it was started; PERSISTENT: since it was made */
    int mpi_errno;
    bool persistent;
};

/* Whether collectives of this form are hwmc's: nonblocking ones, in the queue of the communicator;
 * persistent ones, each in a queue of its own, unless the user leaves them to MPICH. */
static inline bool hwmc_form_goes(enum hwmc_form form)
{
    return form != HWMC_PERSISTENT || hwmc_settings.tune.persistent;
}

/* Ends what hwmc_requests_open (netmod.h) began. */
void hwmc_requests_close(void);

/* Makes the program's request of `r`, whose fields from `request` on are set here: NONBLOCKING, and
 * starts it; or PERSISTENT. MPI error code; then `r` is still the caller's. All ranks make what
 * they make on a communicator in the same order, and start persistent ones in any. */
int hwmc_request_make(struct hwmc_request *r, enum hwmc_form form, MPIR_Request **request);

/* Frees `r`, of which no request was made, or that is over. */
void hwmc_request_destroy(struct hwmc_request *r);

#endif /* HWMC_ENTRY_REQUEST_H_INCLUDED */
