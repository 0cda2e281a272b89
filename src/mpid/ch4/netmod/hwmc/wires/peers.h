/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The addresses of the lanes of all processes, exchanged through the process manager: one record
 * for each process, of addresses by name.
 */

#ifndef HWMC_NETMOD_WIRES_PEERS_H_INCLUDED
#define HWMC_NETMOD_WIRES_PEERS_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* Appends an address of `len` bytes to a record; NULL: writes nothing. The bytes that it takes. */
size_t hwmc_peers_note(unsigned char *record, const char *name, const void *addr, size_t len);

/* Tells this process's record of `len` bytes; once. An MPICH error code. */
int hwmc_peers_put(const unsigned char *record, size_t len);

/* Copies the address of that name of another process; its length. 0: it has none, cannot be asked
 * now, or has no room in `room` bytes. */
size_t hwmc_peers_address(uint32_t peer, const char *name, void *addr, size_t room);

#endif /* HWMC_NETMOD_WIRES_PEERS_H_INCLUDED */
