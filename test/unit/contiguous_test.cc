// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Messages that need no packing, with stand-ins for MPICH (fake_mpich) and for memory of a device.
#include <gtest/gtest.h>

extern "C" {
#include "op/contiguous.h"
}

namespace {

constexpr MPI_Datatype TYPE = 3;
MPIR_Datatype datatype;
char host[64], device[64];

char *contiguous(void *buffer, bool is_contig, MPI_Aint true_lb)
{
    datatype = {is_contig, true_lb};
    return hwmc_contiguous(buffer, TYPE);
}

MPI_Aint address(const char *p)
{
    return (MPI_Aint) (intptr_t) p;
}

} // namespace

MPIR_Datatype *fake_datatype(MPI_Datatype)
{
    return &datatype;
}

bool MPIR_GPU_query_pointer_is_dev(const void *buffer)
{
    return buffer >= device && buffer < device + sizeof(device);
}

TEST(Contiguous, IsWhatLiesInOnePieceInTheHostsMemory)
{
    EXPECT_EQ(host, hwmc_contiguous(host, MPI_BYTE));
    EXPECT_EQ(nullptr, hwmc_contiguous(device, MPI_BYTE));
    EXPECT_EQ(host + 8, contiguous(host, true, 8));
    EXPECT_EQ(host, contiguous(host + 8, true, -8));
    EXPECT_EQ(nullptr, contiguous(host, false, 8));
    EXPECT_EQ(nullptr, contiguous(device, false, 8));
}

// What counts is where the data lie: with MPI_BOTTOM only the datatype says that.
TEST(Contiguous, IsAskedOfTheFirstByteNotOfTheBuffer)
{
    EXPECT_EQ(host, contiguous(MPI_BOTTOM, true, address(host)));
    EXPECT_EQ(nullptr, contiguous(MPI_BOTTOM, true, address(device)));
    EXPECT_EQ(nullptr, contiguous(host, true, address(device) - address(host)));
    EXPECT_EQ(host, contiguous(device, true, address(host) - address(device)));
}
