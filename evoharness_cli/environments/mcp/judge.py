"""Finds out whether the request was fulfilled, in the way that the task names."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from ...harness import OutsideFault
from .approval import ask
from .connection import Result
from .needs import Success


class CheckFault(OutsideFault):
    """A check that can't be run."""


def judge(
    success: Success,
    answer: str,
    command: Sequence[str],
    folder: str,
    call: Callable[[str, dict[str, Any]], Result],
    timeout: float,
) -> bool:
    """Tell whether the request was fulfilled; `answer` is what the agent submitted.

    `command` is the check's command filled in, run in `folder` for up to `timeout` seconds, and `call` calls a tool.
    Raises CheckFault where it can't be found out.
    """
    if success.person:
        return ask(f"The agent says that it is done: {json.dumps(answer)}. Is it? [y]es, [n]o:", "yn") == "y"
    if success.tool is not None:
        result = call(success.tool, dict(success.arguments))
        if success.matches is not None:
            return not result.failed and re.search(success.matches, result.text) is not None
        return not result.failed and str(success.expect) in result.text
    try:
        done = subprocess.run(
            command, cwd=folder, input=f"{answer}\n".encode(), capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise CheckFault(f"The check `{shlex.join(command)}` didn't end in {timeout:g} seconds.") from None
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise CheckFault(f"The check `{shlex.join(command)}` can't be run in {folder}: {why}.") from error
    return done.returncode == 0
