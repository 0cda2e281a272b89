/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * In place of what MPICH's ucx netmod adds to MPICH's types: nothing.
 */
