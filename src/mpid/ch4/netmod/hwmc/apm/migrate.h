/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * migrate: the path migration module (Vishnu et al. 2007, section 3.1.3): makes the alternate path
 * the primary one without a fault, to balance load or to leave a port that is about to go. The
 * alternate path is loaded already. Completion is told by IBV_EVENT_PATH_MIG, as is a migration
 * that hardware does by itself.
 */
#ifndef HWMC_NETMOD_APM_MIGRATE_H_INCLUDED
#define HWMC_NETMOD_APM_MIGRATE_H_INCLUDED

#include "conn.h"

/* Requests migration of those of the `n` connections that are ARMED, asking the device where that
 * is not known; in RTS. Returns how many the device took; of the others `error` says why: EAGAIN:
 * still loading; EALREADY: hardware was first, and the event is on its way; EINVAL: the state does
 * not allow it, as when it has been asked for before. */
int hwmc_apm_migrate(struct hwmc_apm_conn *const *conns, int n);

#endif /* HWMC_NETMOD_APM_MIGRATE_H_INCLUDED */
