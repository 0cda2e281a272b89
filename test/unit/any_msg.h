// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Messages of a type that is known only when the test runs, out of one set of fields: those of the
// header on the wire (engine/wire/wire.c), and what a payload would say.
#ifndef HWMC_TEST_UNIT_ANY_MSG_H_INCLUDED
#define HWMC_TEST_UNIT_ANY_MSG_H_INCLUDED

#include "core.h"

struct AnyFields {
    uint32_t root = 0, index = 0, frags = 0, bytes = 0;
    uint8_t rails = 0, tree = 0, slot = 0;
    const uint64_t *bits = nullptr;
    const hwmc_parameters *parameters = nullptr;
};

// Gives the message, whose type is set, what that type takes of the fields.
inline void set_fields(hwmc_msg &m, const AnyFields &f)
{
    switch (m.type) {
        case HWMC_MSG_DATA:
            m.data = {f.root, f.frags, f.bytes, f.index, f.rails};
            break;
        case HWMC_MSG_NACK:
        case HWMC_MSG_ROOT_NACK:
        case HWMC_MSG_SEEK:
            m.nack = {f.root, f.frags, f.bytes, f.bits};
            break;
        case HWMC_MSG_OFFER:
        case HWMC_MSG_READY:
            m.offer = {f.root, f.frags, f.bytes};
            break;
        case HWMC_MSG_SYNC_UP:
            m.up = {f.index, f.frags, f.root, f.bytes, f.rails};
            break;
        case HWMC_MSG_SYNC_DOWN:
            m.down = {f.index};
            break;
        case HWMC_MSG_PROBE:
            m.probe = {f.index, f.bytes, f.tree};
            break;
        case HWMC_MSG_GRANT:
            m.grant = {f.root, f.index, f.bytes, f.tree, f.slot, f.rails, (uint8_t) f.frags};
            break;
        case HWMC_MSG_SEGMENT:
            m.segment = {f.root, f.index, f.bytes, 0, f.tree, f.slot, f.rails, 0};
            break;
        case HWMC_MSG_MEASURE:
            m.measure = {f.index, f.bytes};
            break;
        case HWMC_MSG_EPOCH:
            m.epoch = {f.index, f.root, f.rails, f.slot, f.tree};
            break;
        case HWMC_MSG_LOST:
            m.lost = {f.root, f.bytes, f.index, f.rails};
            break;
        case HWMC_MSG_BLOCK:
        case HWMC_MSG_BLOCK_GRANT:
        case HWMC_MSG_BLOCK_CREDIT:
            m.block = {f.index, f.bytes, 0, f.slot, 0};
            break;
        case HWMC_MSG_REPORT:
        case HWMC_MSG_DECIDE:
            m.parameters = f.parameters;
            break;
        default:
            break;
    }
}

#endif // HWMC_TEST_UNIT_ANY_MSG_H_INCLUDED
