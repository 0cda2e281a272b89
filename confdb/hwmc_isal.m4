dnl SPDX-License-Identifier: BSD-3-Clause
dnl Copyright (C) the hwmc contributors

dnl HWMC_CHECK_ISAL
dnl ISA-L computes the CRC-32C of every fragment; there is no build without it.
AC_DEFUN([HWMC_CHECK_ISAL],[
    hwmc_have_isal=no
    AC_CHECK_HEADER([isa-l/crc.h],
        [AC_CHECK_LIB([isal],[crc32_iscsi],[hwmc_have_isal=yes])])
    if test "$hwmc_have_isal" = "no" ; then
        AC_MSG_ERROR([ISA-L not found; install libisal-dev])
    fi
    PAC_LIBS_ADD([-lisal])
])
