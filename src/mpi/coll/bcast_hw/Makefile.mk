## SPDX-License-Identifier: BSD-3-Clause
## Copyright (C) the hwmc contributors

# A file is built because it is named here; add one, and `make mpich` does the rest.

noinst_HEADERS +=                           \
    src/mpi/coll/bcast_hw/attach.h          \
    src/mpi/coll/bcast_hw/bcast_hw.h        \
    src/mpi/coll/bcast_hw/compat.h          \
    src/mpi/coll/bcast_hw/contiguous.h      \
    src/mpi/coll/bcast_hw/glue.h            \
    src/mpi/coll/bcast_hw/live.h            \
    src/mpi/coll/bcast_hw/message.h         \
    src/mpi/coll/bcast_hw/number.h          \
    src/mpi/coll/bcast_hw/network_text.h    \
    src/mpi/coll/bcast_hw/node_csel.h       \
    src/mpi/coll/bcast_hw/node_entry.h      \
    src/mpi/coll/bcast_hw/node_glue.h       \
    src/mpi/coll/bcast_hw/node_reduce.h     \
    src/mpi/coll/bcast_hw/node_selection_json.h \
    src/mpi/coll/bcast_hw/node_side.h       \
    src/mpi/coll/bcast_hw/node_types.h      \
    src/mpi/coll/bcast_hw/patience.h        \
    src/mpi/coll/bcast_hw/relay.h           \
    src/mpi/coll/bcast_hw/side.h

mpi_core_sources +=                         \
    src/mpi/coll/bcast_hw/core/adapt.c      \
    src/mpi/coll/bcast_hw/core/agree.c      \
    src/mpi/coll/bcast_hw/core/apm.c        \
    src/mpi/coll/bcast_hw/core/cause.c      \
    src/mpi/coll/bcast_hw/core/channel.c    \
    src/mpi/coll/bcast_hw/core/deal.c       \
    src/mpi/coll/bcast_hw/core/epoch.c      \
    src/mpi/coll/bcast_hw/core/feeds.c      \
    src/mpi/coll/bcast_hw/core/lag.c        \
    src/mpi/coll/bcast_hw/core/link.c       \
    src/mpi/coll/bcast_hw/core/link_lanes.c \
    src/mpi/coll/bcast_hw/core/measure.c    \
    src/mpi/coll/bcast_hw/core/model.c      \
    src/mpi/coll/bcast_hw/core/multilane.c  \
    src/mpi/coll/bcast_hw/core/roll.c       \
    src/mpi/coll/bcast_hw/core/seek.c       \
    src/mpi/coll/bcast_hw/core/sides.c      \
    src/mpi/coll/bcast_hw/core/sites.c      \
    src/mpi/coll/bcast_hw/core/spare.c      \
    src/mpi/coll/bcast_hw/core/stand.c      \
    src/mpi/coll/bcast_hw/core/stream.c     \
    src/mpi/coll/bcast_hw/core/stream_recv.c \
    src/mpi/coll/bcast_hw/core/trees.c      \
    src/mpi/coll/bcast_hw/core/two_stage.c  \
    src/mpi/coll/bcast_hw/core/two_stage_member.c \
    src/mpi/coll/bcast_hw/core/two_stage_root.c \
    src/mpi/coll/bcast_hw/core/two_stage_seek.c \
    src/mpi/coll/bcast_hw/core/two_stage_send.c \
    src/mpi/coll/bcast_hw/core/two_stage_server.c \
    src/mpi/coll/bcast_hw/core/wait_policy.c \
    src/mpi/coll/bcast_hw/core/watch.c      \
    src/mpi/coll/bcast_hw/engine/agenda.c   \
    src/mpi/coll/bcast_hw/engine/crc32c.c   \
    src/mpi/coll/bcast_hw/engine/decline.c  \
    src/mpi/coll/bcast_hw/engine/engine.c   \
    src/mpi/coll/bcast_hw/engine/group.c    \
    src/mpi/coll/bcast_hw/engine/group_data.c \
    src/mpi/coll/bcast_hw/engine/group_setup.c \
    src/mpi/coll/bcast_hw/engine/group_trees.c \
    src/mpi/coll/bcast_hw/engine/homes.c    \
    src/mpi/coll/bcast_hw/engine/loss.c     \
    src/mpi/coll/bcast_hw/engine/names.c    \
    src/mpi/coll/bcast_hw/engine/rails.c    \
    src/mpi/coll/bcast_hw/engine/seen.c     \
    src/mpi/coll/bcast_hw/engine/wire.c     \
    src/mpi/coll/bcast_hw/node/allreduce.c \
    src/mpi/coll/bcast_hw/node/barrier.c \
    src/mpi/coll/bcast_hw/node/barrier_exchange.c \
    src/mpi/coll/bcast_hw/node/barrier_gather.c \
    src/mpi/coll/bcast_hw/node/bell.c \
    src/mpi/coll/bcast_hw/node/bcast.c \
    src/mpi/coll/bcast_hw/node/bcast_ag.c \
    src/mpi/coll/bcast_hw/node/bcast_chunks.c \
    src/mpi/coll/bcast_hw/node/bcast_direct.c \
    src/mpi/coll/bcast_hw/node/bcast_g.c \
    src/mpi/coll/bcast_hw/node/bcast_inline.c \
    src/mpi/coll/bcast_hw/node/copy.c \
    src/mpi/coll/bcast_hw/node/gather.c \
    src/mpi/coll/bcast_hw/node/gather_give.c \
    src/mpi/coll/bcast_hw/node/group.c \
    src/mpi/coll/bcast_hw/node/levels.c \
    src/mpi/coll/bcast_hw/node/op.c \
    src/mpi/coll/bcast_hw/node/params.c \
    src/mpi/coll/bcast_hw/node/place.c \
    src/mpi/coll/bcast_hw/node/quota.c \
    src/mpi/coll/bcast_hw/node/reduce_op.c \
    src/mpi/coll/bcast_hw/node/reduce_scatter.c \
    src/mpi/coll/bcast_hw/node/reduction.c \
    src/mpi/coll/bcast_hw/node/reduction_chunks.c \
    src/mpi/coll/bcast_hw/node/reduction_direct.c \
    src/mpi/coll/bcast_hw/node/reduction_each.c \
    src/mpi/coll/bcast_hw/node/reduction_inline.c \
    src/mpi/coll/bcast_hw/node/scan.c \
    src/mpi/coll/bcast_hw/node/scatter.c \
    src/mpi/coll/bcast_hw/node/scatter_give.c \
    src/mpi/coll/bcast_hw/node/scatter_read.c \
    src/mpi/coll/bcast_hw/node/segment.c \
    src/mpi/coll/bcast_hw/node/shape.c \
    src/mpi/coll/bcast_hw/node/stuck.c \
    src/mpi/coll/bcast_hw/node/topo.c \
    src/mpi/coll/bcast_hw/bcast_hw.c        \
    src/mpi/coll/bcast_hw/choice.c          \
    src/mpi/coll/bcast_hw/contiguous.c      \
    src/mpi/coll/bcast_hw/epochs.c          \
    src/mpi/coll/bcast_hw/feeds.c           \
    src/mpi/coll/bcast_hw/hosts.c           \
    src/mpi/coll/bcast_hw/live.c            \
    src/mpi/coll/bcast_hw/message.c         \
    src/mpi/coll/bcast_hw/network.c         \
    src/mpi/coll/bcast_hw/network_text.c    \
    src/mpi/coll/bcast_hw/node_colls.c      \
    src/mpi/coll/bcast_hw/node_comm.c       \
    src/mpi/coll/bcast_hw/node_csel.c       \
    src/mpi/coll/bcast_hw/node_entry.c      \
    src/mpi/coll/bcast_hw/node_gather.c     \
    src/mpi/coll/bcast_hw/node_reduce.c     \
    src/mpi/coll/bcast_hw/node_reduce_scatter.c \
    src/mpi/coll/bcast_hw/node_scan.c       \
    src/mpi/coll/bcast_hw/node_scatter.c    \
    src/mpi/coll/bcast_hw/node_select.c     \
    src/mpi/coll/bcast_hw/node_setup.c      \
    src/mpi/coll/bcast_hw/node_side.c       \
    src/mpi/coll/bcast_hw/node_types.c      \
    src/mpi/coll/bcast_hw/node_wait.c       \
    src/mpi/coll/bcast_hw/nodes.c           \
    src/mpi/coll/bcast_hw/patience.c        \
    src/mpi/coll/bcast_hw/process.c         \
    src/mpi/coll/bcast_hw/pvars.c           \
    src/mpi/coll/bcast_hw/relay.c           \
    src/mpi/coll/bcast_hw/select.c          \
    src/mpi/coll/bcast_hw/side.c            \
    src/mpi/coll/bcast_hw/summary.c         \
    src/mpi/coll/bcast_hw/waits.c           \
    src/mpi/coll/bcast_hw/world_sites.c

if HWMC_XPMEM
mpi_core_sources += src/mpi/coll/bcast_hw/node/mapping_xpmem.c
else
mpi_core_sources += src/mpi/coll/bcast_hw/node/mapping_none.c
endif

if HWMC_SODIUM
mpi_core_sources += src/mpi/coll/bcast_hw/engine/seal.c
else
mpi_core_sources += src/mpi/coll/bcast_hw/engine/seal_none.c
endif

errnames_txt_files += src/mpi/coll/bcast_hw/errnames.txt

# What is compiled in, as a file to begin from. MPIR_CVAR_BCAST_HW_NODE_SELECTION names one's own.
hwmcdir = $(datadir)/hwmc
dist_hwmc_DATA = src/mpi/coll/bcast_hw/node_selection.json
