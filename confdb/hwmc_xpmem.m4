dnl SPDX-License-Identifier: BSD-3-Clause
dnl Copyright (C) the hwmc contributors

dnl HWMC_CHECK_XPMEM
dnl libxpmem, by which ranks of a host map each other's memory; without it the build does without. --with-xpmem
dnl means what it means to MPICH's own use of the library, by whose macro it is found.
dnl Sets pac_have_xpmem to yes or no.
AC_DEFUN([HWMC_CHECK_XPMEM],[
    PAC_CHECK_HEADER_LIB_OPTIONAL([xpmem],[xpmem.h],[xpmem],[xpmem_make])
])
