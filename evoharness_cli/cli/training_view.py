"""What the commands that train show while they do."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from ..training.machine import Machine


class TrainingView:
    """Bars on a terminal and a line for what is worth one, or JSON lines. Bars have `columns` before the time left."""

    def __init__(self, as_json: bool, *columns: ProgressColumn) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        from .screen import err

        self._json = as_json
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            *columns,
            TimeRemainingColumn(),
            console=err,
            transient=True,
            disable=as_json,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def _say(self, event: Mapping[str, object], words: str = "") -> None:
        from .screen import dump, line, out

        if self._json:
            dump(event)
        elif words:
            out.print(line(words))


def named(machine: Machine) -> str:
    """Return a machine in words."""
    threads = f", {machine.threads} threads" if machine.device == "cpu" else ""
    processes = f" in each of {machine.processes} processes" if machine.processes > 1 else ""
    return f"{machine.device} in {machine.dtype}{threads}{processes}"
