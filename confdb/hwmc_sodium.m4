dnl SPDX-License-Identifier: BSD-3-Clause
dnl Copyright (C) the hwmc contributors

dnl HWMC_CHECK_SODIUM
dnl libsodium, for messages that are authenticated; without it the build does without.
dnl Sets hwmc_have_sodium to yes or no.
AC_DEFUN([HWMC_CHECK_SODIUM],[
    hwmc_have_sodium=no
    AC_CHECK_HEADER([sodium.h],
        [AC_CHECK_LIB([sodium],[crypto_onetimeauth_init],[hwmc_have_sodium=yes])])
    if test "$hwmc_have_sodium" = "yes" ; then
        PAC_LIBS_ADD([-lsodium])
    else
        AC_MSG_NOTICE([hwmc without authenticated messages; with libsodium-dev it has them])
    fi
])
