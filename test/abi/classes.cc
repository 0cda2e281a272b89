/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

// MPI's old C++ classes, whose names are compiled into programs. For Debian's mpicxx.mpich.

#include <iostream>
#include <mpi.h>
#include <vector>

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    const int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
    std::vector<int> all(static_cast<size_t>(size)), big(100000, rank == 1 ? 7 : 0);
    int wrong = 0, sum = 0;

    MPI::COMM_WORLD.Allgather(&rank, 1, MPI::INT, all.data(), 1, MPI::INT);
    for (int i = 0; i < size; i++)
        wrong += all[static_cast<size_t>(i)] != i;
    MPI::COMM_WORLD.Bcast(big.data(), static_cast<int>(big.size()), MPI::INT, 1);
    for (int value : big)
        wrong += value != 7;
    MPI::Intracomm half = MPI::COMM_WORLD.Split(rank % 2, rank);
    wrong += half.Get_size() != (size + 1 - rank % 2) / 2;
    half.Free();
    MPI::COMM_WORLD.Allreduce(&wrong, &sum, 1, MPI::INT, MPI::SUM);
    if (rank == 0)
        std::cout << "classes: wrong values: " << sum << std::endl;
    MPI::Finalize();
    return sum != 0;
}
