/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * network_text: figures of a network as text, in the format of MPIR_CVAR_HWMC_NETWORK.
 */
#ifndef HWMC_SELECT_NETWORK_TEXT_H_INCLUDED
#define HWMC_SELECT_NETWORK_TEXT_H_INCLUDED

#include "../core/model/model.h"

/* "name=number" at *text, ended by a comma or the end, the number from `least` to `most`, as
 * 12, 12.5 or 1e3 in every locale: moves *text behind it. False: *text is something else, and
 * stays. */
bool hwmc_network_take(const char **text, const char *name, double least, double most,
                       double *value);

/* Changes `net` as `text` says: any of latency_us=L, mbit=B (of a rail; there stay as many rails),
 * site_latency_us=L, loss_ppm=P, datagram_ns=T, message_ns=T, loaded_us=L, loaded_mbit=B,
 * burst=BYTES (struct hwmc_network). False where it is not understood: then `net` may be changed
 * in part. */
bool hwmc_network_parse(const char *text, struct hwmc_network *net);

#endif /* HWMC_SELECT_NETWORK_TEXT_H_INCLUDED */
