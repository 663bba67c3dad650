"""Removes folders in which commands of an agent have worked."""

from __future__ import annotations

import subprocess
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder, whatever was done to its permissions and however deep it is; what can't be is left there."""
    # The two programs follow no links below the folder, and stop at no depth, as Python's own functions do.
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        subprocess.run([*command, "--", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
