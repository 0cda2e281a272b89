// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include "failing_memory.h"

#include <cstddef>

namespace failing_memory {

static int64_t made, first_to_fail = INT64_MAX, last_to_fail;

Range::Range(int64_t first, int64_t last)
{
    made = 0;
    first_to_fail = first;
    last_to_fail = last;
}

Range::~Range()
{
    first_to_fail = INT64_MAX;
}

int64_t Range::allocations()
{
    return made;
}

static bool fails()
{
    const int64_t number = made++;

    return number >= first_to_fail && number <= last_to_fail;
}

} // namespace failing_memory

extern "C" {

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
    return failing_memory::fails() ? nullptr : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return failing_memory::fails() ? nullptr : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return failing_memory::fails() ? nullptr : __real_realloc(p, size);
}
}
