/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The control file: what IBEMU_CONTROL names is read when it is written, and says the faults from
 * then on.
 */
#ifndef HWMC_TEST_LAB_IBEMU_CONTROL_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_CONTROL_H_INCLUDED

#include "hca.h"

/* Watches the file, which need not exist; *fd is readable when it was written. Returns 0 or an
 * errno. */
int em_control_open(const char *path, int *fd);

/* Forgets that the descriptor was readable, and does what the file says; a line that is not
 * understood is left out. */
void em_control_apply(struct em_hca *hca, const char *path, int fd);

#endif /* HWMC_TEST_LAB_IBEMU_CONTROL_H_INCLUDED */
