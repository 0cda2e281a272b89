// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The C core, for C++.
#ifndef HWMC_TEST_UNIT_CORE_H_INCLUDED
#define HWMC_TEST_UNIT_CORE_H_INCLUDED

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "agree.h"
#include "apm.h"
#include "bitmap.h"
#include "channel.h"
#include "counts.h"
#include "deal.h"
#include "delay.h"
#include "lag.h"
#include "measure.h"
#include "model.h"
#include "msg.h"
#include "prng.h"
#include "rtt.h"
#include "stream.h"
#include "topo.h"
#include "two_stage.h"
}

#endif // HWMC_TEST_UNIT_CORE_H_INCLUDED
