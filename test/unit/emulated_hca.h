// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// A process on the emulated HCA (test/lab/ibemu), with two ports, "d0" and "d1", in a network
// namespace of its own.
#ifndef HWMC_TEST_UNIT_EMULATED_HCA_H_INCLUDED
#define HWMC_TEST_UNIT_EMULATED_HCA_H_INCLUDED

#include <string>

// Why there is no emulated HCA, or an empty string.
extern std::string no_hca;

// Puts it in the place of the system's libraries, for which the program is started once more, and
// makes the network. The first thing in main; false, with no_hca, where that cannot be.
bool emulate_hca(char **argv);

// Cuts a cable, which the port notices: rail 0 or 1.
void set_port(int rail, bool up);

// The same between switches, which it does not.
void set_path(int rail, bool up);

#endif // HWMC_TEST_UNIT_EMULATED_HCA_H_INCLUDED
