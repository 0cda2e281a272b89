/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * tune_fail: the end of a run of hwmc_tune that cannot go on.
 */
#include "tune.h"

#include <stdlib.h>

void tune_fail(const char *what)
{
    fprintf(stderr, "hwmc_tune: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}
