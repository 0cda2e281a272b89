# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Environments of jobs, put together of parts that may each set keys of one string."""

TUNE = "MPIR_CVAR_HWMC_TUNE"
DEBUG = "MPIR_CVAR_HWMC_DEBUG"
ALGORITHMS = "MPIR_CVAR_HWMC_ALGORITHMS"


def merged(*parts):
    """One environment of dictionaries, or sequences of NAME=value. What comes later counts; of TUNE, DEBUG and
    ALGORITHMS the keys of all parts do."""
    env = {}
    for part in parts:
        pairs = part.items() if hasattr(part, "items") else (text.split("=", 1) for text in part)
        for name, value in pairs:
            if name in (TUNE, DEBUG, ALGORITHMS) and env.get(name):
                value = env[name] + "," + value if value else env[name]
            env[name] = value
    return env
