/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * number: what a number is that a process tells of itself, and thereby the class of its PVAR. Only
 * counters are added up over ranks.
 */
#ifndef BCAST_HW_NUMBER_H_INCLUDED
#define BCAST_HW_NUMBER_H_INCLUDED

enum MPIR_Bcast_hw_number {
    MPIR_BCAST_HW_COUNTER, /* it rises only */
    MPIR_BCAST_HW_LEVEL,   /* it falls as well */
    MPIR_BCAST_HW_GENERIC, /* it is no quantity: a mask, the name of something */
    MPIR_BCAST_HW_STATE    /* one of some that have names */
};

#endif /* BCAST_HW_NUMBER_H_INCLUDED */
