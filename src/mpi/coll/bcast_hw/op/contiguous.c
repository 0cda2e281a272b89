/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * contiguous: see contiguous.h.
 */

#include "contiguous.h"

char *hwmc_contiguous(void *buffer, MPI_Datatype datatype)
{
    MPIR_Datatype *type = NULL;
    uintptr_t first = (uintptr_t) buffer;

    if (!HANDLE_IS_BUILTIN(datatype)) {
        MPIR_Datatype_get_ptr(datatype, type);
        if (!type->is_contig)
            return NULL;
        first += (uintptr_t) type->true_lb;
    }
    return MPIR_GPU_query_pointer_is_dev((void *) first) ? NULL : (char *) first;
}
