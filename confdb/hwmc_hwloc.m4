dnl SPDX-License-Identifier: BSD-3-Clause
dnl Copyright (C) the hwmc contributors

dnl HWMC_CHECK_HWLOC
dnl hwloc tells which ranks of a host are near to each other. MPICH has looked for it, and brings one along.
AC_DEFUN([HWMC_CHECK_HWLOC],[
    if test "$pac_have_hwloc" != "yes" ; then
        AC_MSG_ERROR([hwloc not found; install libhwloc-dev or configure --with-hwloc=embedded])
    fi
])
