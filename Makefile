# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
#
# Everything is built in $(HWMC_BUILD), by default build/, and nowhere else.

export HWMC_BUILD ?= $(CURDIR)/build

.PHONY: help deps mpich install demo unit sim dist deb check check-sim check-apm check-fuzz check-install check-mpi \
	check-lab check-faults faults check-sanitized check-versions check-guest check-mpich check-abi check-dist check-deb \
	check-style check-graft check-doctor check-metrics check-slurm bench papers clean

help:
	@echo 'make deps          the Debian packages needed (as root: installs them)'
	@echo 'make mpich         MPICH with hwmc in $$HWMC_BUILD/install, for tests and demo'
	@echo 'make install PREFIX=/where [LEAN=1]   MPICH with hwmc for use'
	@echo 'make demo          build, and run a broadcast over loopback multicast'
	@echo 'make dist          hwmc-VERSION.tar.xz in $$HWMC_BUILD, from what is committed'
	@echo 'make deb           Debian packages hwmc, hwmc-dev and hwmc-doc in $$HWMC_BUILD/deb; QUICK=1: maint/deb'
	@echo 'make unit          unit tests and simulations; needs no MPICH'
	@echo 'make sim           hwmc_sim, a simulator for up to a million ranks: docs/simulator.md'
	@echo 'make check         everything that a change must pass'
	@echo 'make check-mpi     MPI programs of ours    make check-mpich  MPICH'"'"'s own suite'
	@echo 'make check-install what make install adds to MPICH: manual pages, hwmc_run, modules'
	@echo 'make check-abi     programs of Debian, linked with its MPICH, on hwmc (root)'
	@echo 'make check-dist    the tarball of make dist; LONG=1: builds it where there is no network (root)'
	@echo 'make check-deb     these packages on a clean Debian, beside its MPICH and Open MPI (root)'
	@echo 'make check-lab     many hosts on one machine (root)'
	@echo 'make check-doctor  hwmc_info --doctor finds faults that are planted (root)'
	@echo 'make check-metrics counters reach Prometheus (root)'
	@echo 'make check-faults  jobs while the network is spoilt (root)    make faults  2000 cases, 40 minutes'
	@echo 'make check-sanitized   MPI jobs under the address, undefined-behaviour and thread sanitizers (root)'
	@echo 'make check-versions VERSIONS="DIR|TARBALL..."   check-mpi and a part of check-lab with other versions of MPICH (root)'
	@echo 'make check-slurm   jobs that Slurm starts on the hosts of a lab (root; installs Slurm)'
	@echo 'make check-guest   RDMA devices, in an emulated machine'
	@echo 'make check-apm     the emulated InfiniBand HCA, and path migration over it (root)'
	@echo 'make check-fuzz    hostile bytes, found by coverage; LONG=1: ten minutes a target'
	@echo 'make check-sim     tests of the simulator'
	@echo 'make check-style   format, headers, layering    make check-graft  the tools in maint/'
	@echo 'make bench         measurements; BENCH=--node, --collectives, --large, ...: test/lab/bench -h'
	@echo 'make papers        the figures of the five papers again: docs/papers.md; ONLY=001,fig4 PAPERS=--quick'
	@echo 'make clean         remove what was built here'
	@echo './autogen.sh --with-mpich=DIR|TARBALL uses another MPICH than 4.0.2; see ./autogen.sh -h'

deps:
	@maint/deps

mpich:
	@maint/build-mpich lean

install:
	@test -n "$(PREFIX)" || { echo 'make install: PREFIX=/where is missing' >&2; exit 1; }
	@DESTDIR="$(DESTDIR)" maint/build-mpich $(if $(LEAN),lean,full) "$(abspath $(PREFIX))"
	@$(MAKE) -C test/sim install PREFIX="$(abspath $(PREFIX))"
	@DESTDIR="$(DESTDIR)" maint/install-tools "$(abspath $(PREFIX))"

demo: deps mpich
	@maint/demo

dist:
	@maint/dist

deb: deps
	@maint/deb $(if $(QUICK),--quick)

unit:
	@$(MAKE) -C test/unit

sim:
	@$(MAKE) -C test/sim

check-sim:
	@$(MAKE) -C test/sim check

check: deps
	@test/check

check-install: mpich
	@test/install_test

check-mpi: mpich
	@test/check-mpi

check-lab: mpich
	@test/lab/lab_test
	@test/check-lab

check-doctor: mpich
	@$(MAKE) -C test/lab/ibemu -s >/dev/null
	@test/check-doctor

check-metrics: mpich
	@test/check-metrics

check-faults: mpich
	@test/check-faults

faults: mpich
	@test/check-faults --long --out "$(HWMC_BUILD)/faults"

check-sanitized: deps
	@test/check-sanitized $(SANITIZERS)

# ONLY=TEXT: lines of check-mpi with TEXT; LAB=TEXT: cases of check-lab with TEXT, none: no case.
check-versions: deps
	@test/check-versions $(if $(ONLY),--only "$(ONLY)") $(if $(LAB),--lab "$(LAB)") $(VERSIONS)

# A command of its own: it installs Slurm where that is missing.
check-slurm: mpich
	@test/check-slurm

check-guest: mpich
	@test/check-guest

check-apm: deps
	@test/check-apm

check-fuzz: deps
	@test/check-fuzz $(if $(LONG),--long)

check-mpich: mpich
	@test/check-mpich

# HWMC_ABI_PREFIX: what is installed there instead.
check-abi: deps
	@[ -n "$$HWMC_ABI_PREFIX" ] || \
		{ maint/build-mpich quick "$(HWMC_BUILD)/abi" && maint/install-tools "$(HWMC_BUILD)/abi"; }
	@test/check-abi $(if $(ONLY),--only "$(ONLY)")

check-dist: deps
	@maint/dist_test $(if $(LONG),--build)

check-deb:
	@test/check-deb

check-style:
	@maint/check-style

check-graft:
	@maint/graft_test
	@maint/floors_test
	@maint/debian_source_test
	@test/versions_test
	@test/lab/bench_test
	@test/lab/resilience_test
	@test/lab/hpcc_test
	@test/papers/papers_test

bench: mpich
	@test/lab/bench $(BENCH)

papers: deps mpich
	@test/papers/run $(if $(ONLY),--only "$(ONLY)") $(PAPERS)

clean:
	rm -rf "$(CURDIR)/build"
	cd "$(HWMC_BUILD)" 2>/dev/null || exit 0; \
	rm -rf address thread versions mpich-src mpich-src.part lean install install-lean install-full install-quick \
		package-install-full package-install-quick peer-shm install_test autogen.log lock deb \
		abi abi-root abi-root.log abi-root.packages check-abi deb-root deb-root.log deb-root.packages check-deb.log
