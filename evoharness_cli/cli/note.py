"""`evoharness note`: a person's own entry."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from ..experience.vocabulary import Kind
from .app import app
from .options import Db, Json, open_store


@app.command()
def note(
    text: Annotated[str, typer.Argument(help="What an agent should know.")],
    scope: Annotated[str, typer.Option(help="Where it holds: a path such as alfworld; everywhere by default.")] = "",
    kind: Annotated[Kind, typer.Option(help="What it is.")] = Kind.NOTE,
    when: Annotated[str | None, typer.Option(help="When it applies.", show_default=False)] = None,
    world: Annotated[
        str | None, typer.Option(help="The one world it is about, as `inspect run` names it.", show_default=False)
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Add an entry of your own to experience.

    One that says the same is strengthened instead.

    Example: evoharness note "mugs are mostly near the coffee machine" --scope alfworld
    """
    from ..experience.noting import add_entry
    from .screen import dump, line, out

    with closing(open_store(db, create=True)) as store:
        entry, recurred = add_entry(store, kind, text, scope, when or None, world=world or None)
    if as_json:
        dump({"entry": entry.id, "recurred": recurred})
    else:
        out.print(line(f"entry {entry.id} {'strengthened' if recurred else 'added'}: {entry.text}"))
