"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..experience.vocabulary import Kind
from ..harness import WrongUsage

if TYPE_CHECKING:
    from ..experience.store import Store

Db = Annotated[
    Path | None,
    typer.Option(
        "--db",
        envvar="EVOHARNESS_DB",
        help="The store of runs and experience; a file in the user's data folder by default.",
        readable=False,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines for programs.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="The most rows to show.")]
EntryKind = Annotated[Kind | None, typer.Option("--kind", help="Only entries of this kind.")]
Scope = Annotated[str | None, typer.Option("--scope", help="Where in experience: a path such as alfworld/kitchen.")]


def given_options(ctx: typer.Context) -> set[str]:
    """Return the options that the command line gave, by their long names."""
    return {
        next(name for name in parameter.opts if name.startswith("--"))
        for parameter in ctx.command.params
        if parameter.name
        and any(name.startswith("--") for name in parameter.opts)
        and str(ctx.get_parameter_source(parameter.name)).endswith("COMMANDLINE")
    }


def open_store(path: Path | None, create: bool = False) -> Store:
    """Open the store that an option or the default names. Raises WrongUsage where there is none to read."""
    from ..experience.store import Store, default_path

    path = path or default_path()
    if path.name == ":memory:":
        raise WrongUsage("Expected --db to name a file; `:memory:` keeps nothing.")
    if not create and not path.exists():
        raise WrongUsage(f"There is no store at {path} yet; `evoharness run heat-apple` makes one.")
    return Store.open(path)
