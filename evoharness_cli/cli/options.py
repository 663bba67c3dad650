"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..experience.store import Store

Db = Annotated[
    Path | None,
    typer.Option(
        "--db",
        envvar="EVOHARNESS_DB",
        help="The store of runs and experience; a file in the user's data folder by default.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines for programs.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="The most rows to show.")]
Kind = Annotated[str | None, typer.Option("--kind", help="Only this kind: skill, mistake or note.")]
Scope = Annotated[str | None, typer.Option("--scope", help="Where in experience: a path such as alfworld/kitchen.")]


def open_store(path: Path | None) -> Store:
    """Open the store that an option or the default names."""
    from ..experience.store import Store, default_path

    return Store.open(path or default_path())
