/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * crc32c: the Castagnoli CRC of a message in parts, by ISA-L: the CPU's instruction where there is
 * one, its table otherwise.
 */
#ifndef HWMC_ENGINE_WIRE_CRC32C_H_INCLUDED
#define HWMC_ENGINE_WIRE_CRC32C_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

/* Of the first part; crc32c("123456789") = 0xe3069283. */
uint32_t hwmc_crc32c(const void *data, size_t len);

/* Of what `crc` was of, followed by `data`. */
uint32_t hwmc_crc32c_more(uint32_t crc, const void *data, size_t len);

/* Of `n` words as they lie in memory. */
uint32_t hwmc_crc32c_words(const uint64_t *words, size_t n);

#endif /* HWMC_ENGINE_WIRE_CRC32C_H_INCLUDED */
