/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * load: the path loading request module (Vishnu et al. 2007, section 3.1.2). A request sets REARM;
 * hardware goes to ARMED once both ends asked for it and a packet has come.
 *
 * The paper learned of that by an event of its verbs (VAPI). libibverbs has no such event, so
 * completion is seen by querying: which costs a system call a connection, and is worth it only
 * where somebody waits for it, or when a path dies that is not known to be armed. A migration
 * proves that the path had been armed.
 */
#ifndef HWMC_NETMOD_APM_LOAD_H_INCLUDED
#define HWMC_NETMOD_APM_LOAD_H_INCLUDED

#include "conn.h"

/* Requests loading for each of the `n` connections whose alternate path is specified and that are
 * not ARMED; in RTS. Returns how many the device took; of the others `error` says why: EINVAL also
 * when the state does not allow it. */
int hwmc_apm_load(struct hwmc_apm_conn *const *conns, int n);

/* The same as part of the caller's transition from RTR to RTS: adds it to `attr` and returns the
 * mask to add, 0 when nothing is specified. Once the device took it: hwmc_apm_loaded, then
 * hwmc_apm_conn_comm. */
int hwmc_apm_load_with(const struct hwmc_apm_conn *c, struct ibv_qp_attr *attr);
void hwmc_apm_loaded(struct hwmc_apm_conn *c, int mask);

/* Queries those that are loading. Returns how many still are. */
int hwmc_apm_load_poll(struct hwmc_apm_conn *const *conns, int n);

#endif /* HWMC_NETMOD_APM_LOAD_H_INCLUDED */
