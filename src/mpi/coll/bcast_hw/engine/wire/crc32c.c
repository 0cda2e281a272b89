/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * crc32c: see crc32c.h. Bytes that are many go to ISA-L, which takes several streams of them at
 * once. A header is over before that has begun: it goes by the processor's instruction.
 */
#include "crc32c.h"

#include <isa-l/crc.h>

#ifdef __x86_64__
__attribute__((target("avx"))) static void zero_upper_halves(void)
{
    __builtin_ia32_vzeroupper();
}
#endif

/* ISA-L leaves the upper halves of vector registers in use. While they are, some processors take 60
 * ns to go on with instructions that know only the lower halves, and 60 to come back to others. */
static void clear_upper_halves(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx"))
        zero_upper_halves();
#endif
}

uint32_t hwmc_crc32c_more(uint32_t crc, const void *data, size_t len)
{
    crc = ~crc32_iscsi((unsigned char *) (uintptr_t) data, (int) len, ~crc);
    clear_upper_halves();
    return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t crc_of_words(const uint64_t *words, size_t n)
{
    uint64_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++)
        crc = __builtin_ia32_crc32di(crc, words[i]);
    return ~(uint32_t) crc;
}

uint32_t hwmc_crc32c_words(const uint64_t *words, size_t n)
{
    return __builtin_cpu_supports("sse4.2") ? crc_of_words(words, n)
                                            : hwmc_crc32c_more(0, words, n * sizeof(*words));
}
#else
uint32_t hwmc_crc32c_words(const uint64_t *words, size_t n)
{
    return hwmc_crc32c_more(0, words, n * sizeof(*words));
}
#endif

uint32_t hwmc_crc32c(const void *data, size_t len)
{
    return hwmc_crc32c_more(0, data, len);
}
