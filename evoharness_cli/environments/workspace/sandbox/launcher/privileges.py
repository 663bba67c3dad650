"""What the command's process gives up before the command starts."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress

from .kernel import PR_SET_NO_NEW_PRIVS, bound_capabilities, drop_capabilities, prctl
from .plan import Plan

_OPEN_FILES = 256


def give_up(plan: Plan) -> None:
    """Become another user where the plan says so, give up every capability for good, and take on the limits.

    Where there is no Linux, only the limits are taken on.
    """
    if sys.platform == "linux":
        bound_capabilities()
        if plan.user is not None:
            os.setgroups([])
            os.setgid(plan.user)
            os.setuid(plan.user)
        drop_capabilities()
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        # Elsewhere all the processes that the user has would count.
        _limit(resource.RLIMIT_NPROC, plan.limits["processes"])
        # When the machine runs out of memory, this is what goes first.
        with suppress(OSError), open("/proc/self/oom_score_adj", "wb") as file:  # noqa: PTH123
            file.write(b"1000")
    _limit(resource.RLIMIT_CPU, plan.limits["seconds"])
    _limit(resource.RLIMIT_DATA, plan.limits["memory"])
    _limit(resource.RLIMIT_FSIZE, plan.limits["file"])
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)
    os.umask(0o022)


def _limit(which: int, most: int) -> None:
    hard = resource.getrlimit(which)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))
