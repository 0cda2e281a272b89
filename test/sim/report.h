// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// report: what a run came to, in words and as CSV.
#ifndef HWMC_TEST_SIM_REPORT_H_INCLUDED
#define HWMC_TEST_SIM_REPORT_H_INCLUDED

#include "simulator.h"

namespace sim {

std::string text(const Options &o, const Result &r);
std::string csv_head();
std::string csv_line(const Options &o, const Result &r);

} // namespace sim

#endif // HWMC_TEST_SIM_REPORT_H_INCLUDED
