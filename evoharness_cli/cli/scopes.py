"""`evoharness scopes`: where in experience things are kept, and bringing them elsewhere."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app
from .options import Db, Json, open_store

if TYPE_CHECKING:
    from ..experience.exchange.scopes import Brought

scopes = typer.Typer(no_args_is_help=True)
app.add_typer(scopes, name="scopes")

Source = Annotated[str, typer.Argument(help='The scope, with those below it; "" is everything.', show_default=False)]
Target = Annotated[str, typer.Argument(help='The path to bring it to; "" is the general scope.', show_default=False)]


@scopes.callback()
def group() -> None:
    """See what each scope of experience holds, and bring it to another one.

    Example: evoharness scopes list
    """


@scopes.command(name="list")
def list_scopes(db: Db = None, as_json: Json = False) -> None:
    """List the scopes of a store.

    Example: evoharness scopes list
    """
    from ..experience.exchange.scopes import scopes as all_scopes
    from .screen import dump, out, row, table

    with closing(open_store(db)) as store:
        found = all_scopes(store)
    listed = table("scope", "entries", "things with places#")
    for each in found:
        if as_json:
            dump({"scope": each.scope, "entries": each.entries, "places": each.places})
        counts = ", ".join(f"{count} {status}" for status, count in each.entries.items())
        row(listed, each.scope or '""', counts, each.places)
    if not as_json:
        out.print(listed if found else "nothing is kept in any scope yet")


@scopes.command()
def move(source: Source, target: Target, db: Db = None, as_json: Json = False) -> None:
    """Move entries and places; what is said there already is made stronger.

    Example: evoharness scopes move alfworld/kitchen alfworld
    """
    from ..experience.exchange import scopes as scoped

    with closing(open_store(db)) as store:
        _say("moved", scoped.move(store, source, target), as_json)


@scopes.command()
def copy(source: Source, target: Target, db: Db = None, as_json: Json = False) -> None:
    """Copy active entries and places; what is said there already is made stronger.

    Example: evoharness scopes copy alfworld/kitchen household
    """
    from ..experience.exchange import scopes as scoped

    with closing(open_store(db)) as store:
        _say("copied", scoped.copy(store, source, target), as_json)


def _say(done: str, brought: Brought, as_json: bool) -> None:
    from .screen import dump, out

    if as_json:
        dump({done: brought.entries, "merged": brought.merged})
    else:
        out.print(f"{done} {brought.entries} entries; {brought.merged} were said there already")
