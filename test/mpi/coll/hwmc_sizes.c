/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Every size around the places where an implementation may change its mind: nothing at all, a
 * word, what one datagram carries on an Ethernet and on InfiniBand, the limit of a UDP datagram,
 * powers of two up to a mebibyte. The root rotates.
 *
 * -max=BYTES leaves out what is larger. */

#define AROUND 9

static const size_t centres[] = {AROUND,   1416,      1440,  1472,  2 * 1416, 2 * 1472,
                                 3 * 1416, 3 * 1472,  2048,  4096,  8192,     16384,
                                 32768,    45 * 1416, 65507, 65536, 131072,   1 << 20};

static int rounds; /* so far, on every rank alike */

static int one(void *buf, size_t bytes)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds++;
    return hwtest_bcast(buf, bytes, rounds % size, MPI_COMM_WORLD, rounds, "sizes");
}

int main(int argc, char **argv)
{
    int errs = 0;
    size_t max;
    void *buf;

    MTest_Init(&argc, &argv);
    max = (size_t) hwtest_option(argc, argv, "-max", (1 << 20) + 4097);
    buf = hwtest_alloc(max);

    for (size_t c = 0; c < sizeof(centres) / sizeof(centres[0]); c++) {
        /* Large ones are slow and change little from byte to byte. */
        size_t step = centres[c] > 65536 + AROUND ? AROUND : 1;
        for (size_t bytes = centres[c] - AROUND; bytes <= centres[c] + AROUND; bytes += step) {
            if (bytes <= max)
                errs += one(buf, bytes);
        }
    }
    if (max > 1 << 20)
        errs += one(buf, max);
    /* A size per fragment count, none a multiple of anything. */
    for (size_t bytes = 1; bytes < max && bytes < 300000; bytes += bytes / 3 + 1)
        errs += one(buf, bytes);

    free(buf);
    return hwtest_finish(errs);
}
