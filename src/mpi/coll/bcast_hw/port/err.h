/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * err: what a fabric, lane or rail can answer, by the largest thing that is damaged. Would-block is
 * a result, not an error.
 */
#ifndef HWMC_PORT_ERR_H_INCLUDED
#define HWMC_PORT_ERR_H_INCLUDED

#define HWMC_ERRS(X)                                                                               \
    X(OK, 0, "success")                                                                            \
    X(AGAIN, 1, "would block")                                                                     \
    X(ERR_INVAL, -1, "invalid argument")                                                           \
    X(ERR_NOMEM, -2, "out of memory")                                                              \
    X(ERR_LIMIT, -3, "a limit of the system is reached")                                           \
    X(ERR_GROUP, -4, "the multicast group cannot be used")                                         \
    X(ERR_PEER, -5, "a peer cannot be reached")                                                    \
    X(ERR_DEVICE, -6, "the network device cannot be used")

enum hwmc_err {
#define X(name, value, text) HWMC_##name = value,
    HWMC_ERRS(X)
#undef X
};

static inline const char *hwmc_err_text(int err)
{
    switch (err) {
#define X(name, value, text)                                                                       \
    case value:                                                                                    \
        return text;
        HWMC_ERRS(X)
#undef X
    }
    return "unknown error";
}

#endif /* HWMC_PORT_ERR_H_INCLUDED */
