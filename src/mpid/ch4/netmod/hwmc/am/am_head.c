/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * am_head: see am_head.h.
 */
#include "am_head.h"

#define DATA_MAX (UINT64_C(1) << 62) /* so that sums with it are what they should be */

bool hwmc_am_head_is_sound(const struct am_head *head, size_t len, size_t cma)
{
    const size_t header = hwmc_am_head_header_in(head);

    if (len < header || head->data_sz > DATA_MAX)
        return false;
    len -= header;
    if (head->kind == AM_CMA)
        return head->offset == 0 && len == cma;
    return head->kind == AM_DATA && len <= head->data_sz && head->offset <= head->data_sz - len;
}

bool hwmc_am_head_is_of(const struct am_head *head, size_t len, const struct am_head *first,
                        uint64_t got, bool started)
{
    const bool is_first = head->offset == 0;

    if (head->kind != first->kind || head->hdr_sz != first->hdr_sz ||
        head->data_sz != first->data_sz || head->handler != first->handler || (is_first && started))
        return false;
    return head->kind != AM_DATA || len - hwmc_am_head_header_in(head) <= head->data_sz - got;
}
