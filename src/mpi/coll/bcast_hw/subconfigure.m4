[#] start of __file__
dnl SPDX-License-Identifier: BSD-3-Clause
dnl Copyright (C) the hwmc contributors

AC_DEFUN([PAC_SUBCFG_PREREQ_]PAC_SUBCFG_AUTO_SUFFIX,[
])dnl

AC_DEFUN([PAC_SUBCFG_BODY_]PAC_SUBCFG_AUTO_SUFFIX,[
    HWMC_CHECK_HWLOC
    HWMC_CHECK_ISAL
    HWMC_CHECK_XPMEM
    AM_CONDITIONAL([HWMC_XPMEM],[test "$pac_have_xpmem" = "yes"])
    HWMC_CHECK_SODIUM
    AM_CONDITIONAL([HWMC_SODIUM],[test "$hwmc_have_sodium" = "yes"])
])dnl

[#] end of __file__
