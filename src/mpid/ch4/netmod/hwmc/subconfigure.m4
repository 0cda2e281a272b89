[#] start of __file__
dnl SPDX-License-Identifier: BSD-3-Clause
dnl Copyright (C) the hwmc contributors
dnl
dnl MPICH_SUBCFG_AFTER=src/mpid/ch4
dnl MPICH_SUBCFG_BEFORE=src/mpid/ch4/netmod/ucx

dnl hwmc is built on MPICH's ucx netmod. MPICH keeps one netmod's state per object; hwmc has the
dnl ucx netmod built as well, gives it that state, and puts its own beside it in the communicator.
AC_DEFUN([PAC_SUBCFG_PREREQ_]PAC_SUBCFG_AUTO_SUFFIX,[
    AM_COND_IF([BUILD_CH4],[
        if test "$ch4_netmods" = "hwmc" ; then
            build_ch4_netmod_hwmc=yes
            build_ch4_netmod_ucx=yes
            AC_DEFINE(HAVE_CH4_NETMOD_HWMC, 1, [HWMC netmod is built])
            AC_DEFINE(HAVE_CH4_NETMOD_UCX, 1, [UCX netmod is built])
            AC_DEFINE(ENABLE_PVAR_HWMC, 1, [HWMC performance variables])
            if test "$build_ch4_locality_info" != "yes" ; then
                AC_DEFINE(MPIDI_BUILD_CH4_LOCALITY_INFO, 1, [CH4 should build locality info])
                build_ch4_locality_info="yes"
            fi

            ch4_netmod_amrequest_decl="MPIDI_UCX_am_request_t ucx;"
            ch4_netmod_request_decl="MPIDI_UCX_request_t ucx;"
            ch4_netmod_dt_decl="MPIDI_UCX_dt_t ucx;"
            ch4_netmod_op_decl="MPIDI_UCX_op_t ucx;"
            ch4_netmod_win_decl="MPIDI_UCX_win_t ucx;"
            ch4_netmod_addr_decl="MPIDI_UCX_addr_t ucx;"
            ch4_netmod_part_decl="MPIDI_UCX_part_t ucx;"
            ch4_netmod_comm_decl="struct { MPIDI_UCX_comm_t ucx; MPIDI_HWMC_comm_t hwmc; };"

            dnl As MPICH does for ucx, which cannot share receives from any source with a shmmod.
            dnl MPICH 5 needs nolocal with it; MPICH 4 ignores it.
            if test "$with_ch4_shmmods" = "auto" ; then
                with_ch4_shmmods=none
                enable_nolocal=yes
                AC_DEFINE(MPIDI_CH4_DIRECT_NETMOD, 1, [CH4 Directly transfers data through the chosen netmode])
            fi
        fi
    ])
    AM_CONDITIONAL([BUILD_CH4_NETMOD_HWMC],[test "X$build_ch4_netmod_hwmc" = "Xyes"])
])dnl

AC_DEFUN([PAC_SUBCFG_BODY_]PAC_SUBCFG_AUTO_SUFFIX,[
    AM_COND_IF([BUILD_CH4_NETMOD_HWMC],[
        AC_MSG_NOTICE([RUNNING CONFIGURE FOR ch4:hwmc])
        if test "$pac_have_hwloc" != "yes" ; then
            AC_MSG_ERROR([ch4:hwmc needs hwloc; configure without --without-hwloc])
        fi
        HWMC_CHECK_VERBS
    ])
    AM_CONDITIONAL([HWMC_VERBS],[test "$hwmc_have_verbs" = "yes"])
])dnl

[#] end of __file__
