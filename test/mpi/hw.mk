# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Compiles the hwmc_* programs, for MPICH's runtests in a directory of their own. Wants MPICC,
# PROGRAMS (where they are), MTEST_SOURCE and MTEST_BUILD (MPICH's test/mpi, and where configured).

CFLAGS = -O2 -std=gnu11
CPPFLAGS = -I$(MTEST_SOURCE)/include -I$(MTEST_BUILD)/include
MTEST = mtest.o mtest_common.o mtest_single.o
NAMES = $(patsubst $(PROGRAMS)/%.c,%,$(wildcard $(PROGRAMS)/hwmc_*.c))

all: $(NAMES)

%.o: $(MTEST_SOURCE)/util/%.c
	$(MPICC) $(CFLAGS) -w $(CPPFLAGS) -I$(MTEST_SOURCE)/dtpools/include -c -o $@ $<

hwmc_%: $(PROGRAMS)/hwmc_%.c $(wildcard $(PROGRAMS)/*.h) $(MTEST)
	$(MPICC) $(CFLAGS) $(CPPFLAGS) -o $@ $< $(MTEST) -lpthread

.PHONY: all
.SECONDARY: $(MTEST)
