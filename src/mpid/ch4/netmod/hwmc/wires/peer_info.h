/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * peer_info: encodes bytes as text for a process manager, which holds little of it and passes all
 * of it to every host. The addresses of a process's lanes have much in common, so repetitions are
 * references. Then six bits make a character of A-Z, a-z, 0-9, "-" and "_", none of which a process
 * manager interprets.
 *
 * Before the six bits are cut: 3 bytes, the length of what is written, lowest first; then in turns
 *   0 .. 127   that many and one bytes follow
 *   128 .. 255 4 to 131 bytes as before, from 2 bytes, highest first, and one bytes back; they may
 *              reach into themselves
 */
#ifndef HWMC_NETMOD_WIRES_PEER_INFO_H_INCLUDED
#define HWMC_NETMOD_WIRES_PEER_INFO_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#define HWMC_PEER_INFO_MAX ((size_t) 1 << 20) /* bytes that can be written */

/* Characters, with the NUL, that `len` bytes need at most. */
size_t hwmc_peer_info_room(size_t len);

/* Writes `len` bytes, at most HWMC_PEER_INFO_MAX, to `text`; how many characters, without the NUL.
 * Takes time in proportion to the square of `len`, up to 64 KiB. */
size_t hwmc_peer_info_write(const uint8_t *bytes, size_t len, char *text);

/* The bytes, to be freed below, and how many; NULL when `text` is none that write makes, or without
 * memory. */
uint8_t *hwmc_peer_info_read(const char *text, size_t *len);
void hwmc_peer_info_free(uint8_t *bytes);

#endif /* HWMC_NETMOD_WIRES_PEER_INFO_H_INCLUDED */
