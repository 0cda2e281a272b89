dnl SPDX-License-Identifier: BSD-3-Clause
dnl Copyright (C) the hwmc contributors

dnl HWMC_CHECK_VERBS
dnl libibverbs and librdmacm, for multicast of InfiniBand and RoCE; without them the build does without.
dnl Sets hwmc_have_verbs to yes or no.
AC_DEFUN([HWMC_CHECK_VERBS],[
    hwmc_have_verbs=no
    AC_CHECK_HEADER([infiniband/verbs.h],
        [AC_CHECK_HEADER([rdma/rdma_cma.h],
            [AC_CHECK_LIB([ibverbs],[ibv_get_pkey_index],
                [AC_CHECK_LIB([rdmacm],[rdma_join_multicast],[hwmc_have_verbs=yes],[],[-libverbs])])])])
    if test "$hwmc_have_verbs" = "yes" ; then
        AC_DEFINE(HAVE_HWMC_VERBS, 1, [Define to have hwmc use libibverbs and librdmacm])
        PAC_LIBS_ADD([-lrdmacm])
        PAC_LIBS_ADD([-libverbs])
    else
        AC_MSG_NOTICE([ch4:hwmc without verbs; with libibverbs-dev and librdmacm-dev it has them])
    fi
])
