## SPDX-License-Identifier: BSD-3-Clause
## Copyright (C) the hwmc contributors

# A file is built because it is named here; add one, and `make mpich` does the rest.

noinst_HEADERS +=                                     \
    src/mpi/coll/bcast_hw/core/exchange/combine.h     \
    src/mpi/coll/bcast_hw/core/exchange/exchange.h    \
    src/mpi/coll/bcast_hw/core/exchange/exchange_impl.h\
    src/mpi/coll/bcast_hw/core/exchange/parts.h       \
    src/mpi/coll/bcast_hw/core/place/ranges.h         \
    src/mpi/coll/bcast_hw/core/model/collective.h     \
    src/mpi/coll/bcast_hw/core/model/reduce_way.h     \
    src/mpi/coll/bcast_hw/engine/group/blocks.h       \
    src/mpi/coll/bcast_hw/op/stage.h                  \
    src/mpi/coll/bcast_hw/op/chain.h                  \
    src/mpi/coll/bcast_hw/op/blocks_stage.h           \
    src/mpi/coll/bcast_hw/op/net_reduce.h             \
    src/mpi/coll/bcast_hw/op/shm_stage.h              \
    src/mpi/coll/bcast_hw/entry/combination.h         \
    src/mpi/coll/bcast_hw/entry/spread.h              \
    src/mpi/coll/bcast_hw/entry/spread_moves.h        \
    src/mpi/coll/bcast_hw/op/moves.h                  \
    src/mpi/coll/bcast_hw/entry/spread_reduce.h       \
    src/mpi/coll/bcast_hw/entry/spread_select.h       \
    src/mpi/coll/bcast_hw/comm/await.h                \
    src/mpi/coll/bcast_hw/comm/ask.h                  \
    src/mpi/coll/bcast_hw/comm/comm.h                 \
    src/mpi/coll/bcast_hw/comm/hierarchy.h            \
    src/mpi/coll/bcast_hw/comm/messages.h             \
    src/mpi/coll/bcast_hw/comm/leader_group.h         \
    src/mpi/coll/bcast_hw/comm/shm.h                  \
    src/mpi/coll/bcast_hw/comm/shm_setup.h            \
    src/mpi/coll/bcast_hw/comm/twin.h                 \
    src/mpi/coll/bcast_hw/entry/barrier.h             \
    src/mpi/coll/bcast_hw/entry/bcast.h               \
    src/mpi/coll/bcast_hw/entry/call.h                \
    src/mpi/coll/bcast_hw/entry/gather.h              \
    src/mpi/coll/bcast_hw/entry/hooks.h               \
    src/mpi/coll/bcast_hw/entry/host_bcast.h          \
    src/mpi/coll/bcast_hw/entry/host_request.h        \
    src/mpi/coll/bcast_hw/entry/netmod.h              \
    src/mpi/coll/bcast_hw/entry/reduce.h              \
    src/mpi/coll/bcast_hw/entry/reduce_scatter.h      \
    src/mpi/coll/bcast_hw/entry/request.h             \
    src/mpi/coll/bcast_hw/entry/scan.h                \
    src/mpi/coll/bcast_hw/entry/scatter.h             \
    src/mpi/coll/bcast_hw/entry/settings.h            \
    src/mpi/coll/bcast_hw/entry/types.h               \
    src/mpi/coll/bcast_hw/entry/vbuf.h                \
    src/mpi/coll/bcast_hw/op/bcast.h                  \
    src/mpi/coll/bcast_hw/op/buffer.h                 \
    src/mpi/coll/bcast_hw/op/contiguous.h             \
    src/mpi/coll/bcast_hw/op/host_stage.h             \
    src/mpi/coll/bcast_hw/op/net_stage.h              \
    src/mpi/coll/bcast_hw/op/queue.h                  \
    src/mpi/coll/bcast_hw/op/wait.h                   \
    src/mpi/coll/bcast_hw/op/wait_stage.h             \
    src/mpi/coll/bcast_hw/op/wait_failure.h           \
    src/mpi/coll/bcast_hw/process/errors.h            \
    src/mpi/coll/bcast_hw/process/hosts.h             \
    src/mpi/coll/bcast_hw/process/mpich.h             \
    src/mpi/coll/bcast_hw/process/process.h           \
    src/mpi/coll/bcast_hw/process/processors.h        \
    src/mpi/coll/bcast_hw/process/sites.h             \
    src/mpi/coll/bcast_hw/process/trace.h             \
    src/mpi/coll/bcast_hw/select/choose.h             \
    src/mpi/coll/bcast_hw/select/json_keys.h          \
    src/mpi/coll/bcast_hw/select/network.h            \
    src/mpi/coll/bcast_hw/select/network_text.h       \
    src/mpi/coll/bcast_hw/select/shm_choose.h         \
    src/mpi/coll/bcast_hw/select/shm_csel.h           \
    src/mpi/coll/bcast_hw/select/shm_entry.h          \
    src/mpi/coll/bcast_hw/select/shm_selection_json.h \
    src/mpi/coll/bcast_hw/select/spread_choose.h      \
    src/mpi/coll/bcast_hw/select/spread_rules.h       \
    src/mpi/coll/bcast_hw/settings/keys.h             \
    src/mpi/coll/bcast_hw/settings/old_names.h        \
    src/mpi/coll/bcast_hw/settings/settings.h         \
    src/mpi/coll/bcast_hw/stats/counters.h            \
    src/mpi/coll/bcast_hw/stats/epoch.h               \
    src/mpi/coll/bcast_hw/stats/export.h              \
    src/mpi/coll/bcast_hw/stats/number.h

mpi_core_sources +=                                      \
    src/mpi/coll/bcast_hw/core/exchange/exchange.c      \
    src/mpi/coll/bcast_hw/core/exchange/exchange_send.c \
    src/mpi/coll/bcast_hw/core/model/collective.c       \
    src/mpi/coll/bcast_hw/core/model/reduce_way.c       \
    src/mpi/coll/bcast_hw/engine/group/blocks.c         \
    src/mpi/coll/bcast_hw/engine/group/pinned.c         \
    src/mpi/coll/bcast_hw/op/chain.c                    \
    src/mpi/coll/bcast_hw/op/blocks_stage.c             \
    src/mpi/coll/bcast_hw/op/net_reduce.c               \
    src/mpi/coll/bcast_hw/op/shm_stage.c                \
    src/mpi/coll/bcast_hw/entry/combination.c           \
    src/mpi/coll/bcast_hw/entry/spread.c                \
    src/mpi/coll/bcast_hw/entry/spread_moves.c          \
    src/mpi/coll/bcast_hw/entry/spread_scatter.c        \
    src/mpi/coll/bcast_hw/op/moves.c                    \
    src/mpi/coll/bcast_hw/entry/spread_reduce.c         \
    src/mpi/coll/bcast_hw/entry/spread_select.c         \
    src/mpi/coll/bcast_hw/comm/await.c                   \
    src/mpi/coll/bcast_hw/comm/ask.c                     \
    src/mpi/coll/bcast_hw/comm/comm.c                    \
    src/mpi/coll/bcast_hw/comm/group_config.c            \
    src/mpi/coll/bcast_hw/comm/hierarchy.c               \
    src/mpi/coll/bcast_hw/comm/leader_group.c            \
    src/mpi/coll/bcast_hw/comm/messages.c                \
    src/mpi/coll/bcast_hw/comm/shm.c                     \
    src/mpi/coll/bcast_hw/comm/shm_setup.c               \
    src/mpi/coll/bcast_hw/comm/show.c                    \
    src/mpi/coll/bcast_hw/comm/state.c                   \
    src/mpi/coll/bcast_hw/comm/twin.c                    \
    src/mpi/coll/bcast_hw/core/base/reason.c             \
    src/mpi/coll/bcast_hw/core/base/trace.c              \
    src/mpi/coll/bcast_hw/core/bcast/multilane.c         \
    src/mpi/coll/bcast_hw/core/bcast/seek.c              \
    src/mpi/coll/bcast_hw/core/bcast/stream.c            \
    src/mpi/coll/bcast_hw/core/bcast/stream_recv.c       \
    src/mpi/coll/bcast_hw/core/bcast/two_stage.c         \
    src/mpi/coll/bcast_hw/core/bcast/two_stage_member.c  \
    src/mpi/coll/bcast_hw/core/bcast/two_stage_msg.c     \
    src/mpi/coll/bcast_hw/core/bcast/two_stage_phase.c   \
    src/mpi/coll/bcast_hw/core/bcast/two_stage_root.c    \
    src/mpi/coll/bcast_hw/core/bcast/two_stage_seek.c    \
    src/mpi/coll/bcast_hw/core/bcast/two_stage_send.c    \
    src/mpi/coll/bcast_hw/core/bcast/two_stage_server.c  \
    src/mpi/coll/bcast_hw/core/failure/detector.c        \
    src/mpi/coll/bcast_hw/core/failure/notice.c          \
    src/mpi/coll/bcast_hw/core/flow/adapt.c              \
    src/mpi/coll/bcast_hw/core/flow/channel.c            \
    src/mpi/coll/bcast_hw/core/flow/epoch.c              \
    src/mpi/coll/bcast_hw/core/flow/loss_estimate.c      \
    src/mpi/coll/bcast_hw/core/model/measure.c           \
    src/mpi/coll/bcast_hw/core/model/model.c             \
    src/mpi/coll/bcast_hw/core/negotiation/negotiation.c \
    src/mpi/coll/bcast_hw/core/negotiation/spare.c       \
    src/mpi/coll/bcast_hw/core/path/apm.c                \
    src/mpi/coll/bcast_hw/core/path/lane_state.c         \
    src/mpi/coll/bcast_hw/core/path/rail_weight.c        \
    src/mpi/coll/bcast_hw/core/path/session.c            \
    src/mpi/coll/bcast_hw/core/path/session_lanes.c      \
    src/mpi/coll/bcast_hw/core/path/wrr.c                \
    src/mpi/coll/bcast_hw/core/place/leaders.c           \
    src/mpi/coll/bcast_hw/core/place/sites.c             \
    src/mpi/coll/bcast_hw/core/place/trees.c             \
    src/mpi/coll/bcast_hw/core/wait/wait_policy.c        \
    src/mpi/coll/bcast_hw/engine/engine.c                \
    src/mpi/coll/bcast_hw/engine/group/agenda.c          \
    src/mpi/coll/bcast_hw/engine/group/data.c            \
    src/mpi/coll/bcast_hw/engine/group/decline.c         \
    src/mpi/coll/bcast_hw/engine/group/failure.c         \
    src/mpi/coll/bcast_hw/engine/group/group.c           \
    src/mpi/coll/bcast_hw/engine/group/names.c           \
    src/mpi/coll/bcast_hw/engine/group/placement.c       \
    src/mpi/coll/bcast_hw/engine/group/setup.c           \
    src/mpi/coll/bcast_hw/engine/group/state.c           \
    src/mpi/coll/bcast_hw/engine/group/trees.c           \
    src/mpi/coll/bcast_hw/engine/seen.c                  \
    src/mpi/coll/bcast_hw/engine/wire/crc32c.c           \
    src/mpi/coll/bcast_hw/engine/wire/rails.c            \
    src/mpi/coll/bcast_hw/engine/wire/wire.c       \
    src/mpi/coll/bcast_hw/engine/wire/wires.c             \
    src/mpi/coll/bcast_hw/entry/barrier.c                \
    src/mpi/coll/bcast_hw/entry/bcast.c                  \
    src/mpi/coll/bcast_hw/entry/cvars.c                  \
    src/mpi/coll/bcast_hw/entry/gather.c                 \
    src/mpi/coll/bcast_hw/entry/host_bcast.c             \
    src/mpi/coll/bcast_hw/entry/host_icoll.c             \
    src/mpi/coll/bcast_hw/entry/host_request.c           \
    src/mpi/coll/bcast_hw/entry/ibcast.c                 \
    src/mpi/coll/bcast_hw/entry/job.c                    \
    src/mpi/coll/bcast_hw/entry/job_network.c            \
    src/mpi/coll/bcast_hw/entry/reduce.c                 \
    src/mpi/coll/bcast_hw/entry/reduce_scatter.c         \
    src/mpi/coll/bcast_hw/entry/request.c                \
    src/mpi/coll/bcast_hw/entry/scan.c                   \
    src/mpi/coll/bcast_hw/entry/scatter.c                \
    src/mpi/coll/bcast_hw/entry/settings.c               \
    src/mpi/coll/bcast_hw/entry/summary.c                \
    src/mpi/coll/bcast_hw/entry/types.c                  \
    src/mpi/coll/bcast_hw/entry/vbuf.c                   \
    src/mpi/coll/bcast_hw/op/bcast.c                     \
    src/mpi/coll/bcast_hw/op/contiguous.c                \
    src/mpi/coll/bcast_hw/op/host_stage.c                \
    src/mpi/coll/bcast_hw/op/net_stage.c                 \
    src/mpi/coll/bcast_hw/op/queue.c                     \
    src/mpi/coll/bcast_hw/op/wait.c                      \
    src/mpi/coll/bcast_hw/op/wait_stage.c                \
    src/mpi/coll/bcast_hw/op/wait_failure.c              \
    src/mpi/coll/bcast_hw/op/wait_group.c                \
    src/mpi/coll/bcast_hw/process/errors.c               \
    src/mpi/coll/bcast_hw/process/hosts.c                \
    src/mpi/coll/bcast_hw/process/process.c              \
    src/mpi/coll/bcast_hw/process/processors.c           \
    src/mpi/coll/bcast_hw/process/sites.c                \
    src/mpi/coll/bcast_hw/process/trace.c                \
    src/mpi/coll/bcast_hw/select/choose.c                \
    src/mpi/coll/bcast_hw/select/network.c               \
    src/mpi/coll/bcast_hw/select/network_text.c          \
    src/mpi/coll/bcast_hw/select/shm_choose.c            \
    src/mpi/coll/bcast_hw/select/shm_csel.c              \
    src/mpi/coll/bcast_hw/select/shm_entry.c             \
    src/mpi/coll/bcast_hw/select/spread_choose.c         \
    src/mpi/coll/bcast_hw/select/spread_rules.c          \
    src/mpi/coll/bcast_hw/settings/key_table.c           \
    src/mpi/coll/bcast_hw/settings/keys.c                \
    src/mpi/coll/bcast_hw/settings/old_names.c           \
    src/mpi/coll/bcast_hw/shm/coll/allreduce.c           \
    src/mpi/coll/bcast_hw/shm/coll/barrier.c             \
    src/mpi/coll/bcast_hw/shm/coll/barrier_exchange.c    \
    src/mpi/coll/bcast_hw/shm/coll/barrier_gather.c      \
    src/mpi/coll/bcast_hw/shm/coll/bcast.c               \
    src/mpi/coll/bcast_hw/shm/coll/bcast_ag.c            \
    src/mpi/coll/bcast_hw/shm/coll/bcast_chunks.c        \
    src/mpi/coll/bcast_hw/shm/coll/bcast_direct.c        \
    src/mpi/coll/bcast_hw/shm/coll/bcast_g.c             \
    src/mpi/coll/bcast_hw/shm/coll/bcast_inline.c        \
    src/mpi/coll/bcast_hw/shm/coll/bcast_line.c          \
    src/mpi/coll/bcast_hw/shm/coll/gather.c              \
    src/mpi/coll/bcast_hw/shm/coll/gather_give.c         \
    src/mpi/coll/bcast_hw/shm/coll/reduce_op.c           \
    src/mpi/coll/bcast_hw/shm/coll/reduce_scatter.c      \
    src/mpi/coll/bcast_hw/shm/coll/reduction.c           \
    src/mpi/coll/bcast_hw/shm/coll/reduction_chunks.c    \
    src/mpi/coll/bcast_hw/shm/coll/reduction_direct.c    \
    src/mpi/coll/bcast_hw/shm/coll/reduction_each.c      \
    src/mpi/coll/bcast_hw/shm/coll/reduction_inline.c    \
    src/mpi/coll/bcast_hw/shm/coll/scan.c                \
    src/mpi/coll/bcast_hw/shm/coll/scatter.c             \
    src/mpi/coll/bcast_hw/shm/coll/scatter_give.c        \
    src/mpi/coll/bcast_hw/shm/coll/scatter_read.c        \
    src/mpi/coll/bcast_hw/shm/copy/copy.c                \
    src/mpi/coll/bcast_hw/shm/segment/group.c            \
    src/mpi/coll/bcast_hw/shm/segment/mismatch.c         \
    src/mpi/coll/bcast_hw/shm/segment/op.c               \
    src/mpi/coll/bcast_hw/shm/segment/params.c           \
    src/mpi/coll/bcast_hw/shm/segment/segment.c          \
    src/mpi/coll/bcast_hw/shm/segment/wakeup.c           \
    src/mpi/coll/bcast_hw/shm/topo/affinity.c            \
    src/mpi/coll/bcast_hw/shm/topo/levels.c              \
    src/mpi/coll/bcast_hw/shm/topo/quota.c               \
    src/mpi/coll/bcast_hw/shm/topo/shape.c               \
    src/mpi/coll/bcast_hw/shm/topo/topo.c                \
    src/mpi/coll/bcast_hw/stats/counters.c               \
    src/mpi/coll/bcast_hw/stats/epoch.c                  \
    src/mpi/coll/bcast_hw/stats/export.c

if HWMC_XPMEM
mpi_core_sources += src/mpi/coll/bcast_hw/shm/copy/mapping_xpmem.c
else
mpi_core_sources += src/mpi/coll/bcast_hw/shm/copy/mapping_none.c
endif

if HWMC_SODIUM
mpi_core_sources += src/mpi/coll/bcast_hw/engine/wire/auth.c
else
mpi_core_sources += src/mpi/coll/bcast_hw/engine/wire/auth_none.c
endif

errnames_txt_files += src/mpi/coll/bcast_hw/errnames.txt

# What is compiled in, as a file to begin from. MPIR_CVAR_HWMC_SELECTION names one's own.
hwmcdir = $(datadir)/hwmc
dist_hwmc_DATA = src/mpi/coll/bcast_hw/select/shm_selection.json
