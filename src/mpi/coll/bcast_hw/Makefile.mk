## SPDX-License-Identifier: BSD-3-Clause
## Copyright (C) the hwmc contributors

# A file is built because it is named here.

noinst_HEADERS +=                       \
    src/mpi/coll/bcast_hw/bcast_hw.h    \
    src/mpi/coll/bcast_hw/compat.h

mpi_core_sources +=                     \
    src/mpi/coll/bcast_hw/bcast_hw.c
