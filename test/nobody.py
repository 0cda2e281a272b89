# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Whether an ordinary user can run what was built; for checks that start programs as one."""

import subprocess

UID = 65534


def kept_out(*paths):
    """Why nobody cannot run these programs and search these folders, "" if that works. Root tries it: modes of folders
    do not say what mounts and access lists do."""
    for path in paths:
        tried = subprocess.run(["test", "-x", str(path)], user=UID, group=UID, extra_groups=[], check=False)
        if tried.returncode != 0:
            return "an ordinary user cannot reach %s" % path
    return ""
