## SPDX-License-Identifier: BSD-3-Clause
## Copyright (C) the hwmc contributors

if BUILD_CH4_NETMOD_HWMC

noinst_HEADERS +=                               \
    src/mpid/ch4/netmod/hwmc/hwmc_impl.h        \
    src/mpid/ch4/netmod/hwmc/hwmc_pre.h         \
    src/mpid/ch4/netmod/hwmc/hwmc_progress.h    \
    src/mpid/ch4/netmod/hwmc/netmod_inline.h

mpi_core_sources +=                             \
    src/mpid/ch4/netmod/hwmc/func_table.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_init.c

errnames_txt_files += src/mpid/ch4/netmod/hwmc/errnames.txt

endif
