## SPDX-License-Identifier: BSD-3-Clause
## Copyright (C) the hwmc contributors

if BUILD_CH4_NETMOD_HWMC

noinst_HEADERS +=                                    \
    src/mpid/ch4/netmod/hwmc/am/am.h                 \
    src/mpid/ch4/netmod/hwmc/am/am_head.h            \
    src/mpid/ch4/netmod/hwmc/am/am_impl.h            \
    src/mpid/ch4/netmod/hwmc/am/am_override.h        \
    src/mpid/ch4/netmod/hwmc/am/cma.h                \
    src/mpid/ch4/netmod/hwmc/apm/conn.h              \
    src/mpid/ch4/netmod/hwmc/apm/load.h              \
    src/mpid/ch4/netmod/hwmc/apm/migrate.h           \
    src/mpid/ch4/netmod/hwmc/apm/path.h              \
    src/mpid/ch4/netmod/hwmc/apm/preference.h        \
    src/mpid/ch4/netmod/hwmc/apm/selftest.h          \
    src/mpid/ch4/netmod/hwmc/apm/specify.h           \
    src/mpid/ch4/netmod/hwmc/base/counters.h         \
    src/mpid/ch4/netmod/hwmc/base/global.h           \
    src/mpid/ch4/netmod/hwmc/base/hex.h              \
    src/mpid/ch4/netmod/hwmc/base/addr.h             \
    src/mpid/ch4/netmod/hwmc/base/random.h           \
    src/mpid/ch4/netmod/hwmc/base/versions.h         \
    src/mpid/ch4/netmod/hwmc/fabric/fault.h          \
    src/mpid/ch4/netmod/hwmc/fabric/segments.h       \
    src/mpid/ch4/netmod/hwmc/fabric/udp.h            \
    src/mpid/ch4/netmod/hwmc/fabric/udp_impl.h       \
    src/mpid/ch4/netmod/hwmc/hwmc_pre.h              \
    src/mpid/ch4/netmod/hwmc/init/alike.h            \
    src/mpid/ch4/netmod/hwmc/init/exit_barrier.h     \
    src/mpid/ch4/netmod/hwmc/init/exit_pmi.h         \
    src/mpid/ch4/netmod/hwmc/init/record.h           \
    src/mpid/ch4/netmod/hwmc/lane/auth_lane.h        \
    src/mpid/ch4/netmod/hwmc/lane/rc/rc.h            \
    src/mpid/ch4/netmod/hwmc/lane/rc/rc_impl.h       \
    src/mpid/ch4/netmod/hwmc/lane/rc/rc_wire.h       \
    src/mpid/ch4/netmod/hwmc/lane/ucx.h              \
    src/mpid/ch4/netmod/hwmc/lane/ucx_log.h          \
    src/mpid/ch4/netmod/hwmc/lane/ucx_state.h        \
    src/mpid/ch4/netmod/hwmc/netmod_inline.h         \
    src/mpid/ch4/netmod/hwmc/probe/probe.h           \
    src/mpid/ch4/netmod/hwmc/rail/match.h            \
    src/mpid/ch4/netmod/hwmc/rail/rail.h             \
    src/mpid/ch4/netmod/hwmc/session/frame.h         \
    src/mpid/ch4/netmod/hwmc/session/session_wire.h  \
    src/mpid/ch4/netmod/hwmc/session/sessions.h      \
    src/mpid/ch4/netmod/hwmc/session/sessions_impl.h \
    src/mpid/ch4/netmod/hwmc/session/virtual_lane.h  \
    src/mpid/ch4/netmod/hwmc/tools/doctor.h          \
    src/mpid/ch4/netmod/hwmc/tools/doctor_pmi.h      \
    src/mpid/ch4/netmod/hwmc/tools/doctor_tap.h      \
    src/mpid/ch4/netmod/hwmc/tools/doctor_try.h      \
    src/mpid/ch4/netmod/hwmc/tools/doctor_try_impl.h \
    src/mpid/ch4/netmod/hwmc/tools/info.h            \
    src/mpid/ch4/netmod/hwmc/tools/info_page.h       \
    src/mpid/ch4/netmod/hwmc/tools/tune.h            \
    src/mpid/ch4/netmod/hwmc/tools/tune_spans.h      \
    src/mpid/ch4/netmod/hwmc/tools/version.h         \
    src/mpid/ch4/netmod/hwmc/wait/helper.h           \
    src/mpid/ch4/netmod/hwmc/wait/sleep.h            \
    src/mpid/ch4/netmod/hwmc/wires/addresses.h       \
    src/mpid/ch4/netmod/hwmc/wires/auth.h            \
    src/mpid/ch4/netmod/hwmc/wires/eager.h           \
    src/mpid/ch4/netmod/hwmc/wires/fabrics.h         \
    src/mpid/ch4/netmod/hwmc/wires/lanes.h           \
    src/mpid/ch4/netmod/hwmc/wires/peer_info.h       \
    src/mpid/ch4/netmod/hwmc/wires/peers.h           \
    src/mpid/ch4/netmod/hwmc/wires/probe.h           \
    src/mpid/ch4/netmod/hwmc/wires/rails.h           \
    src/mpid/ch4/netmod/hwmc/wires/rc.h              \
    src/mpid/ch4/netmod/hwmc/wires/sessions.h        \
    src/mpid/ch4/netmod/hwmc/wires/ucx_memory.h      \
    src/mpid/ch4/netmod/hwmc/lane/ucx_option.h

mpi_core_sources +=                                  \
    src/mpid/ch4/netmod/hwmc/am/am.c                 \
    src/mpid/ch4/netmod/hwmc/am/am_head.c            \
    src/mpid/ch4/netmod/hwmc/am/cma.c                \
    src/mpid/ch4/netmod/hwmc/am/recv.c               \
    src/mpid/ch4/netmod/hwmc/am/send.c               \
    src/mpid/ch4/netmod/hwmc/init/counters.c         \
    src/mpid/ch4/netmod/hwmc/base/addr.c             \
    src/mpid/ch4/netmod/hwmc/base/random.c           \
    src/mpid/ch4/netmod/hwmc/fabric/fault.c          \
    src/mpid/ch4/netmod/hwmc/fabric/segments.c       \
    src/mpid/ch4/netmod/hwmc/fabric/udp.c            \
    src/mpid/ch4/netmod/hwmc/fabric/udp_members.c    \
    src/mpid/ch4/netmod/hwmc/fabric/udp_open.c       \
    src/mpid/ch4/netmod/hwmc/fabric/udp_recv.c       \
    src/mpid/ch4/netmod/hwmc/fabric/udp_socket.c     \
    src/mpid/ch4/netmod/hwmc/func_table.c            \
    src/mpid/ch4/netmod/hwmc/init/alike.c            \
    src/mpid/ch4/netmod/hwmc/init/context.c          \
    src/mpid/ch4/netmod/hwmc/init/exit_barrier.c     \
    src/mpid/ch4/netmod/hwmc/init/exit_pmi.c         \
    src/mpid/ch4/netmod/hwmc/init/finalize.c         \
    src/mpid/ch4/netmod/hwmc/init/init.c             \
    src/mpid/ch4/netmod/hwmc/init/record.c           \
    src/mpid/ch4/netmod/hwmc/init/setup.c            \
    src/mpid/ch4/netmod/hwmc/lane/auth_lane.c        \
    src/mpid/ch4/netmod/hwmc/lane/ucx.c              \
    src/mpid/ch4/netmod/hwmc/lane/ucx_log.c          \
    src/mpid/ch4/netmod/hwmc/lane/ucx_open.c         \
    src/mpid/ch4/netmod/hwmc/lane/ucx_peer.c         \
    src/mpid/ch4/netmod/hwmc/lane/ucx_send.c         \
    src/mpid/ch4/netmod/hwmc/probe/probe.c           \
    src/mpid/ch4/netmod/hwmc/rail/locate.c           \
    src/mpid/ch4/netmod/hwmc/rail/match.c            \
    src/mpid/ch4/netmod/hwmc/rail/rail.c             \
    src/mpid/ch4/netmod/hwmc/session/frame.c         \
    src/mpid/ch4/netmod/hwmc/session/sessions.c      \
    src/mpid/ch4/netmod/hwmc/session/sessions_open.c \
    src/mpid/ch4/netmod/hwmc/session/sessions_peer.c \
    src/mpid/ch4/netmod/hwmc/session/sessions_send.c \
    src/mpid/ch4/netmod/hwmc/session/virtual_lane.c  \
    src/mpid/ch4/netmod/hwmc/wait/helper.c           \
    src/mpid/ch4/netmod/hwmc/wait/sleep.c            \
    src/mpid/ch4/netmod/hwmc/wait/wait.c             \
    src/mpid/ch4/netmod/hwmc/wires/addresses.c       \
    src/mpid/ch4/netmod/hwmc/wires/auth.c            \
    src/mpid/ch4/netmod/hwmc/wires/eager.c           \
    src/mpid/ch4/netmod/hwmc/wires/fabrics.c         \
    src/mpid/ch4/netmod/hwmc/wires/lanes.c           \
    src/mpid/ch4/netmod/hwmc/wires/path_key.c        \
    src/mpid/ch4/netmod/hwmc/wires/peer_info.c       \
    src/mpid/ch4/netmod/hwmc/wires/peers.c           \
    src/mpid/ch4/netmod/hwmc/wires/probe.c           \
    src/mpid/ch4/netmod/hwmc/wires/rails.c           \
    src/mpid/ch4/netmod/hwmc/wires/rc.c              \
    src/mpid/ch4/netmod/hwmc/wires/sessions.c        \
    src/mpid/ch4/netmod/hwmc/wires/ucx_memory.c      \
    src/mpid/ch4/netmod/hwmc/lane/ucx_option.c

noinst_HEADERS +=                                   \
    src/mpid/ch4/netmod/hwmc/fabric/verbs.h         \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_address.h \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_direct.h  \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_impl.h    \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_loans.h   \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_members.h \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_recv.h    \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_registrations.h \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_send.h    \
    src/mpid/ch4/netmod/hwmc/verbs/events.h         \
    src/mpid/ch4/netmod/hwmc/verbs/pages.h          \
    src/mpid/ch4/netmod/hwmc/verbs/port.h

hwmc_apm_sources =                            \
    src/mpid/ch4/netmod/hwmc/apm/conn.c       \
    src/mpid/ch4/netmod/hwmc/apm/load.c       \
    src/mpid/ch4/netmod/hwmc/apm/migrate.c    \
    src/mpid/ch4/netmod/hwmc/apm/path.c       \
    src/mpid/ch4/netmod/hwmc/apm/selftest.c   \
    src/mpid/ch4/netmod/hwmc/apm/specify.c    \
    src/mpid/ch4/netmod/hwmc/apm/preference.c

hwmc_rc_sources =                               \
    src/mpid/ch4/netmod/hwmc/lane/rc/rc.c       \
    src/mpid/ch4/netmod/hwmc/lane/rc/buffers.c  \
    src/mpid/ch4/netmod/hwmc/lane/rc/conn.c     \
    src/mpid/ch4/netmod/hwmc/lane/rc/conns.c    \
    src/mpid/ch4/netmod/hwmc/lane/rc/exchange.c \
    src/mpid/ch4/netmod/hwmc/lane/rc/memory.c   \
    src/mpid/ch4/netmod/hwmc/lane/rc/paths.c    \
    src/mpid/ch4/netmod/hwmc/lane/rc/peer.c     \
    src/mpid/ch4/netmod/hwmc/lane/rc/recv.c     \
    src/mpid/ch4/netmod/hwmc/lane/rc/send.c     \
    src/mpid/ch4/netmod/hwmc/lane/rc/rc_wire.c  \
    src/mpid/ch4/netmod/hwmc/lane/rc/wish.c

hwmc_verbs_sources =                                \
    src/mpid/ch4/netmod/hwmc/fabric/verbs.c         \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_direct.c  \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_loans.c   \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_members.c \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_probe.c   \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_recv.c    \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_registrations.c \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_send.c    \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_twins.c   \
    src/mpid/ch4/netmod/hwmc/verbs/events.c         \
    src/mpid/ch4/netmod/hwmc/verbs/port.c

if HWMC_VERBS
mpi_core_sources += $(hwmc_verbs_sources) $(hwmc_apm_sources) $(hwmc_rc_sources)
endif

bin_PROGRAMS += src/mpid/ch4/netmod/hwmc/tools/hwmc_info

# The library does not export what the netmod is made of: the program has its own.
src_mpid_ch4_netmod_hwmc_tools_hwmc_info_SOURCES = \
    src/mpid/ch4/netmod/hwmc/tools/hwmc_info.c     \
    src/mpid/ch4/netmod/hwmc/tools/doctor_host.c   \
    src/mpid/ch4/netmod/hwmc/tools/doctor_judge.c  \
    src/mpid/ch4/netmod/hwmc/tools/doctor_judge_net.c \
    src/mpid/ch4/netmod/hwmc/tools/doctor_judge_rails.c \
    src/mpid/ch4/netmod/hwmc/tools/doctor_judge_snooping.c \
    src/mpid/ch4/netmod/hwmc/tools/doctor_pmi.c    \
    src/mpid/ch4/netmod/hwmc/tools/doctor_print.c  \
    src/mpid/ch4/netmod/hwmc/tools/doctor_report.c \
    src/mpid/ch4/netmod/hwmc/tools/doctor_talk.c   \
    src/mpid/ch4/netmod/hwmc/tools/doctor_tap.c    \
    src/mpid/ch4/netmod/hwmc/tools/doctor_try.c    \
    src/mpid/ch4/netmod/hwmc/tools/info_colls.c    \
    src/mpid/ch4/netmod/hwmc/tools/info_doctor.c   \
    src/mpid/ch4/netmod/hwmc/tools/info_fabric.c   \
    src/mpid/ch4/netmod/hwmc/tools/info_host_json.c \
    src/mpid/ch4/netmod/hwmc/tools/info_limits.c   \
    src/mpid/ch4/netmod/hwmc/tools/info_live.c     \
    src/mpid/ch4/netmod/hwmc/tools/info_live_json.c \
    src/mpid/ch4/netmod/hwmc/tools/info_model.c    \
    src/mpid/ch4/netmod/hwmc/tools/info_net.c      \
    src/mpid/ch4/netmod/hwmc/tools/info_paths.c    \
    src/mpid/ch4/netmod/hwmc/tools/info_page.c     \
    src/mpid/ch4/netmod/hwmc/tools/info_print.c    \
    src/mpid/ch4/netmod/hwmc/tools/info_prometheus.c \
    src/mpid/ch4/netmod/hwmc/tools/info_rails.c    \
    src/mpid/ch4/netmod/hwmc/tools/info_vars.c     \
    src/mpid/ch4/netmod/hwmc/base/addr.c           \
    src/mpid/ch4/netmod/hwmc/base/random.c         \
    src/mpid/ch4/netmod/hwmc/fabric/segments.c     \
    src/mpid/ch4/netmod/hwmc/fabric/udp.c          \
    src/mpid/ch4/netmod/hwmc/fabric/udp_members.c  \
    src/mpid/ch4/netmod/hwmc/fabric/udp_open.c     \
    src/mpid/ch4/netmod/hwmc/fabric/udp_recv.c     \
    src/mpid/ch4/netmod/hwmc/fabric/udp_socket.c   \
    src/mpid/ch4/netmod/hwmc/rail/locate.c         \
    src/mpid/ch4/netmod/hwmc/rail/match.c          \
    src/mpid/ch4/netmod/hwmc/rail/rail.c           \
    src/mpi/coll/bcast_hw/process/launcher.c       \
    src/mpi/coll/bcast_hw/shm/topo/quota.c         \
    src/mpi/coll/bcast_hw/core/path/apm.c          \
    src/mpi/coll/bcast_hw/core/base/reason.c       \
    src/mpi/coll/bcast_hw/core/model/collective.c  \
    src/mpi/coll/bcast_hw/core/model/collective_mpich.c  \
    src/mpi/coll/bcast_hw/core/model/model.c       \
    src/mpi/coll/bcast_hw/core/model/pace.c        \
    src/mpi/coll/bcast_hw/core/model/reduce_way.c  \
    src/mpi/coll/bcast_hw/core/model/scan_way.c    \
    src/mpi/coll/bcast_hw/core/model/turns_way.c   \
    src/mpi/coll/bcast_hw/select/network_text.c    \
    src/mpi/coll/bcast_hw/settings/key_table.c     \
    src/mpi/coll/bcast_hw/settings/keys.c          \
    src/mpi/coll/src/csel_json_autogen.c
if HWMC_VERBS
src_mpid_ch4_netmod_hwmc_tools_hwmc_info_SOURCES += $(hwmc_verbs_sources) $(hwmc_apm_sources)
endif
src_mpid_ch4_netmod_hwmc_tools_hwmc_info_CPPFLAGS = $(AM_CPPFLAGS)
src_mpid_ch4_netmod_hwmc_tools_hwmc_info_LDADD = lib/lib@MPILIBNAME@.la $(hwloclib) $(jsonlib) $(external_libs)

bin_PROGRAMS += src/mpid/ch4/netmod/hwmc/tools/hwmc_tune

src_mpid_ch4_netmod_hwmc_tools_hwmc_tune_SOURCES = \
    src/mpid/ch4/netmod/hwmc/tools/hwmc_tune.c     \
    src/mpid/ch4/netmod/hwmc/tools/tune_fail.c     \
    src/mpid/ch4/netmod/hwmc/tools/tune_hosts.c    \
    src/mpid/ch4/netmod/hwmc/tools/tune_measure.c  \
    src/mpid/ch4/netmod/hwmc/tools/tune_spans.c    \
    src/mpid/ch4/netmod/hwmc/tools/tune_try.c      \
    src/mpid/ch4/netmod/hwmc/tools/tune_write.c    \
    src/mpi/coll/bcast_hw/shm/segment/params.c     \
    src/mpi/coll/bcast_hw/select/shm_entry.c       \
    src/mpi/coll/bcast_hw/select/spread_rules.c    \
    src/mpi/coll/bcast_hw/settings/key_table.c     \
    src/mpi/coll/bcast_hw/settings/keys.c
src_mpid_ch4_netmod_hwmc_tools_hwmc_tune_CPPFLAGS = $(AM_CPPFLAGS)
src_mpid_ch4_netmod_hwmc_tools_hwmc_tune_LDADD = lib/lib@MPILIBNAME@.la $(jsonlib) -lm

errnames_txt_files += src/mpid/ch4/netmod/hwmc/errnames.txt

endif
