## SPDX-License-Identifier: BSD-3-Clause
## Copyright (C) the hwmc contributors

if BUILD_CH4_NETMOD_HWMC

noinst_HEADERS +=                               \
    src/mpid/ch4/netmod/hwmc/hwmc_alike.h       \
    src/mpid/ch4/netmod/hwmc/hwmc_am.h          \
    src/mpid/ch4/netmod/hwmc/hwmc_am_impl.h     \
    src/mpid/ch4/netmod/hwmc/hwmc_barrier.h     \
    src/mpid/ch4/netmod/hwmc/hwmc_carry.h       \
    src/mpid/ch4/netmod/hwmc/hwmc_compat.h      \
    src/mpid/ch4/netmod/hwmc/hwmc_counters.h    \
    src/mpid/ch4/netmod/hwmc/hwmc_fabrics.h     \
    src/mpid/ch4/netmod/hwmc/hwmc_helper.h      \
    src/mpid/ch4/netmod/hwmc/hwmc_hex.h         \
    src/mpid/ch4/netmod/hwmc/hwmc_impl.h        \
    src/mpid/ch4/netmod/hwmc/hwmc_knock.h       \
    src/mpid/ch4/netmod/hwmc/hwmc_lanes.h       \
    src/mpid/ch4/netmod/hwmc/hwmc_links.h       \
    src/mpid/ch4/netmod/hwmc/hwmc_meeting.h     \
    src/mpid/ch4/netmod/hwmc/hwmc_memory.h      \
    src/mpid/ch4/netmod/hwmc/hwmc_peers.h       \
    src/mpid/ch4/netmod/hwmc/hwmc_pre.h         \
    src/mpid/ch4/netmod/hwmc/hwmc_rails.h       \
    src/mpid/ch4/netmod/hwmc/hwmc_rc.h          \
    src/mpid/ch4/netmod/hwmc/hwmc_secret.h      \
    src/mpid/ch4/netmod/hwmc/hwmc_sleep.h       \
    src/mpid/ch4/netmod/hwmc/netmod_inline.h    \
    src/mpid/ch4/netmod/hwmc/fabric/draw.h      \
    src/mpid/ch4/netmod/hwmc/fabric/fault.h     \
    src/mpid/ch4/netmod/hwmc/fabric/segments.h  \
    src/mpid/ch4/netmod/hwmc/fabric/udp.h       \
    src/mpid/ch4/netmod/hwmc/fabric/udp_impl.h  \
    src/mpid/ch4/netmod/hwmc/apm/conn.h         \
    src/mpid/ch4/netmod/hwmc/apm/load.h         \
    src/mpid/ch4/netmod/hwmc/apm/migrate.h      \
    src/mpid/ch4/netmod/hwmc/apm/selftest.h     \
    src/mpid/ch4/netmod/hwmc/apm/specify.h      \
    src/mpid/ch4/netmod/hwmc/apm/wish.h         \
    src/mpid/ch4/netmod/hwmc/lane/am_head.h     \
    src/mpid/ch4/netmod/hwmc/lane/eager.h       \
    src/mpid/ch4/netmod/hwmc/lane/frame.h       \
    src/mpid/ch4/netmod/hwmc/lane/link_wire.h   \
    src/mpid/ch4/netmod/hwmc/lane/links.h       \
    src/mpid/ch4/netmod/hwmc/lane/links_impl.h  \
    src/mpid/ch4/netmod/hwmc/lane/rc.h          \
    src/mpid/ch4/netmod/hwmc/lane/reach.h       \
    src/mpid/ch4/netmod/hwmc/lane/record.h      \
    src/mpid/ch4/netmod/hwmc/lane/rc_impl.h     \
    src/mpid/ch4/netmod/hwmc/lane/rc_wire.h     \
    src/mpid/ch4/netmod/hwmc/lane/refusals.h    \
    src/mpid/ch4/netmod/hwmc/lane/sealed.h      \
    src/mpid/ch4/netmod/hwmc/lane/stream_lane.h \
    src/mpid/ch4/netmod/hwmc/lane/ucx.h         \
    src/mpid/ch4/netmod/hwmc/lane/ucx_option.h  \
    src/mpid/ch4/netmod/hwmc/lane/ucx_state.h   \
    src/mpid/ch4/netmod/hwmc/rail/knock.h       \
    src/mpid/ch4/netmod/hwmc/rail/match.h       \
    src/mpid/ch4/netmod/hwmc/rail/rail.h        \
    src/mpid/ch4/netmod/hwmc/tools/info.h       \
    src/mpid/ch4/netmod/hwmc/tools/tune.h       \
    src/mpid/ch4/netmod/hwmc/tools/version.h

mpi_core_sources +=                             \
    src/mpid/ch4/netmod/hwmc/func_table.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_alike.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_am.c          \
    src/mpid/ch4/netmod/hwmc/hwmc_am_in.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_am_out.c      \
    src/mpid/ch4/netmod/hwmc/hwmc_barrier.c     \
    src/mpid/ch4/netmod/hwmc/hwmc_context.c      \
    src/mpid/ch4/netmod/hwmc/hwmc_counters.c    \
    src/mpid/ch4/netmod/hwmc/hwmc_fabrics.c     \
    src/mpid/ch4/netmod/hwmc/hwmc_finalize.c    \
    src/mpid/ch4/netmod/hwmc/hwmc_helper.c      \
    src/mpid/ch4/netmod/hwmc/hwmc_init.c        \
    src/mpid/ch4/netmod/hwmc/hwmc_knock.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_lanes.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_links.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_meeting.c     \
    src/mpid/ch4/netmod/hwmc/hwmc_memory.c      \
    src/mpid/ch4/netmod/hwmc/hwmc_peers.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_rails.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_rc.c          \
    src/mpid/ch4/netmod/hwmc/hwmc_secret.c      \
    src/mpid/ch4/netmod/hwmc/hwmc_setup.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_sleep.c       \
    src/mpid/ch4/netmod/hwmc/hwmc_wait.c        \
    src/mpid/ch4/netmod/hwmc/fabric/draw.c      \
    src/mpid/ch4/netmod/hwmc/fabric/fault.c     \
    src/mpid/ch4/netmod/hwmc/fabric/segments.c  \
    src/mpid/ch4/netmod/hwmc/fabric/udp.c       \
    src/mpid/ch4/netmod/hwmc/fabric/udp_members.c \
    src/mpid/ch4/netmod/hwmc/fabric/udp_open.c  \
    src/mpid/ch4/netmod/hwmc/fabric/udp_socket.c \
    src/mpid/ch4/netmod/hwmc/lane/am_head.c     \
    src/mpid/ch4/netmod/hwmc/lane/eager.c       \
    src/mpid/ch4/netmod/hwmc/lane/frame.c       \
    src/mpid/ch4/netmod/hwmc/lane/links.c       \
    src/mpid/ch4/netmod/hwmc/lane/links_open.c  \
    src/mpid/ch4/netmod/hwmc/lane/links_peer.c  \
    src/mpid/ch4/netmod/hwmc/lane/links_send.c  \
    src/mpid/ch4/netmod/hwmc/lane/reach.c       \
    src/mpid/ch4/netmod/hwmc/lane/record.c      \
    src/mpid/ch4/netmod/hwmc/lane/refusals.c    \
    src/mpid/ch4/netmod/hwmc/lane/sealed.c      \
    src/mpid/ch4/netmod/hwmc/lane/stream_lane.c \
    src/mpid/ch4/netmod/hwmc/lane/ucx.c         \
    src/mpid/ch4/netmod/hwmc/lane/ucx_open.c    \
    src/mpid/ch4/netmod/hwmc/lane/ucx_option.c  \
    src/mpid/ch4/netmod/hwmc/lane/ucx_peer.c    \
    src/mpid/ch4/netmod/hwmc/lane/ucx_send.c    \
    src/mpid/ch4/netmod/hwmc/rail/knock.c       \
    src/mpid/ch4/netmod/hwmc/rail/locate.c      \
    src/mpid/ch4/netmod/hwmc/rail/match.c       \
    src/mpid/ch4/netmod/hwmc/rail/rail.c

noinst_HEADERS +=                                   \
    src/mpid/ch4/netmod/hwmc/fabric/verbs.h         \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_address.h \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_impl.h    \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_members.h \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_recv.h    \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_send.h    \
    src/mpid/ch4/netmod/hwmc/verbs/events.h         \
    src/mpid/ch4/netmod/hwmc/verbs/pages.h          \
    src/mpid/ch4/netmod/hwmc/verbs/port.h

hwmc_apm_sources =                                  \
    src/mpid/ch4/netmod/hwmc/apm/conn.c             \
    src/mpid/ch4/netmod/hwmc/apm/load.c             \
    src/mpid/ch4/netmod/hwmc/apm/migrate.c          \
    src/mpid/ch4/netmod/hwmc/apm/selftest.c         \
    src/mpid/ch4/netmod/hwmc/apm/specify.c          \
    src/mpid/ch4/netmod/hwmc/apm/wish.c

hwmc_rc_sources =                                   \
    src/mpid/ch4/netmod/hwmc/lane/rc.c              \
    src/mpid/ch4/netmod/hwmc/lane/rc_buffers.c      \
    src/mpid/ch4/netmod/hwmc/lane/rc_conn.c         \
    src/mpid/ch4/netmod/hwmc/lane/rc_exchange.c     \
    src/mpid/ch4/netmod/hwmc/lane/rc_memory.c       \
    src/mpid/ch4/netmod/hwmc/lane/rc_paths.c        \
    src/mpid/ch4/netmod/hwmc/lane/rc_recv.c         \
    src/mpid/ch4/netmod/hwmc/lane/rc_send.c         \
    src/mpid/ch4/netmod/hwmc/lane/rc_wire.c

hwmc_verbs_sources =                                \
    src/mpid/ch4/netmod/hwmc/fabric/verbs.c         \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_members.c \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_probe.c   \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_recv.c    \
    src/mpid/ch4/netmod/hwmc/fabric/verbs_send.c    \
    src/mpid/ch4/netmod/hwmc/verbs/events.c         \
    src/mpid/ch4/netmod/hwmc/verbs/port.c

if HWMC_VERBS
mpi_core_sources += $(hwmc_verbs_sources) $(hwmc_apm_sources) $(hwmc_rc_sources)
endif

bin_PROGRAMS += src/mpid/ch4/netmod/hwmc/tools/hwmc_info

# The library does not export what the netmod is made of: the program has its own.
src_mpid_ch4_netmod_hwmc_tools_hwmc_info_SOURCES =  \
    src/mpid/ch4/netmod/hwmc/tools/hwmc_info.c      \
    src/mpid/ch4/netmod/hwmc/tools/info_fabric.c    \
    src/mpid/ch4/netmod/hwmc/tools/info_live.c      \
    src/mpid/ch4/netmod/hwmc/tools/info_model.c     \
    src/mpid/ch4/netmod/hwmc/tools/info_net.c       \
    src/mpid/ch4/netmod/hwmc/tools/info_paths.c     \
    src/mpid/ch4/netmod/hwmc/tools/info_rails.c     \
    src/mpid/ch4/netmod/hwmc/tools/info_vars.c      \
    src/mpid/ch4/netmod/hwmc/fabric/draw.c          \
    src/mpid/ch4/netmod/hwmc/fabric/segments.c      \
    src/mpid/ch4/netmod/hwmc/fabric/udp.c           \
    src/mpid/ch4/netmod/hwmc/fabric/udp_members.c   \
    src/mpid/ch4/netmod/hwmc/fabric/udp_open.c      \
    src/mpid/ch4/netmod/hwmc/fabric/udp_socket.c    \
    src/mpid/ch4/netmod/hwmc/rail/locate.c          \
    src/mpid/ch4/netmod/hwmc/rail/rail.c            \
    src/mpi/coll/bcast_hw/core/apm.c                \
    src/mpi/coll/bcast_hw/core/cause.c              \
    src/mpi/coll/bcast_hw/core/model.c              \
    src/mpi/coll/bcast_hw/network_text.c            \
    src/mpi/coll/src/csel_json_autogen.c
if HWMC_VERBS
src_mpid_ch4_netmod_hwmc_tools_hwmc_info_SOURCES += $(hwmc_verbs_sources) $(hwmc_apm_sources)
endif
src_mpid_ch4_netmod_hwmc_tools_hwmc_info_CPPFLAGS = $(AM_CPPFLAGS)
src_mpid_ch4_netmod_hwmc_tools_hwmc_info_LDADD = lib/lib@MPILIBNAME@.la $(hwloclib) $(external_libs)

bin_PROGRAMS += src/mpid/ch4/netmod/hwmc/tools/hwmc_tune

src_mpid_ch4_netmod_hwmc_tools_hwmc_tune_SOURCES =  \
    src/mpid/ch4/netmod/hwmc/tools/hwmc_tune.c      \
    src/mpid/ch4/netmod/hwmc/tools/tune_measure.c   \
    src/mpid/ch4/netmod/hwmc/tools/tune_try.c       \
    src/mpid/ch4/netmod/hwmc/tools/tune_write.c     \
    src/mpi/coll/bcast_hw/node/params.c             \
    src/mpi/coll/bcast_hw/node_entry.c
src_mpid_ch4_netmod_hwmc_tools_hwmc_tune_CPPFLAGS = $(AM_CPPFLAGS)
src_mpid_ch4_netmod_hwmc_tools_hwmc_tune_LDADD = lib/lib@MPILIBNAME@.la $(jsonlib) -lm

errnames_txt_files += src/mpid/ch4/netmod/hwmc/errnames.txt

endif
