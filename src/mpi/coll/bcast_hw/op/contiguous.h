/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * contiguous: whether a message can be sent from, and placed into, the memory that the program
 * describes, without packing.
 */

#ifndef HWMC_OP_CONTIGUOUS_H_INCLUDED
#define HWMC_OP_CONTIGUOUS_H_INCLUDED

#include "mpiimpl.h"

/* Address of the first byte of a message if its elements lie in one piece, in memory that the
 * processor can read and write; else NULL, as for memory of a device. It is `buffer` plus the
 * datatype's true lower bound: with MPI_BOTTOM the datatype alone says where the message lies. */
char *hwmc_contiguous(void *buffer, MPI_Datatype datatype);

#endif /* HWMC_OP_CONTIGUOUS_H_INCLUDED */
