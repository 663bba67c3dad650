"""Where the sample tasks and their games are."""

from __future__ import annotations

from pathlib import Path


def sample_folder() -> Path:
    """Return the folder of the sample tasks: inside an installed package, else beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "sample_tasks"
    return installed if installed.is_dir() else package.parent / "sample_tasks"
