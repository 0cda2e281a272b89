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
#include "core/negotiation/negotiation.h"
#include "core/path/apm.h"
#include "core/base/bitmap.h"
#include "core/exchange/combine.h"
#include "core/exchange/exchange.h"
#include "core/flow/channel.h"
#include "core/base/counts.h"
#include "core/path/wrr.h"
#include "core/flow/delay.h"
#include "core/path/rail_weight.h"
#include "core/model/collective.h"
#include "core/model/measure.h"
#include "core/model/model.h"
#include "core/base/msg.h"
#include "core/base/prng.h"
#include "core/flow/rtt.h"
#include "core/bcast/stream.h"
#include "core/place/kary.h"
#include "core/place/ranges.h"
#include "core/bcast/two_stage.h"
}

#endif // HWMC_TEST_UNIT_CORE_H_INCLUDED
