"""`evoharness export` and `evoharness import`: experience as a file of JSON lines."""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from ..harness import OutsideFault, WrongUsage
from .app import app
from .options import Db, Json, Scope, given_options, open_store

if TYPE_CHECKING:
    from ..experience.store import Store

Bank = Annotated[
    str | None, typer.Option("--bank", help="This bank instead of a store: NAME or NAME@VERSION.", show_default=False)
]


@app.command(name="export")
def export_experience(
    ctx: typer.Context,
    scope: Scope = None,
    bank: Bank = None,
    without_worlds: Annotated[
        bool, typer.Option("--without-worlds", help="Leave out what is about one world, such as a house.")
    ] = False,
    db: Db = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write. [default: print it]", show_default=False)
    ] = None,
) -> None:
    """Write what is active in experience as lines of JSON, which `import` reads elsewhere.

    Example: evoharness export --scope alfworld -o alfworld.jsonl
    """
    from ..experience.exchange.export import export
    from .screen import err, line

    with closing(_store(ctx, bank, db)) as store:
        if output is None:
            export(store, sys.stdout.buffer, scope, not without_worlds)
            sys.stdout.buffer.flush()
            return
        if output.is_dir():
            raise WrongUsage(f"{output} is a folder. Name a file in it, such as {output / 'experience.jsonl'}.")
        try:
            entries, places = _write(store, output, scope, not without_worlds)
        except OSError as error:
            raise OutsideFault(f"{output} can't be written: {error.strerror or error}.") from error
    err.print(line(f"{entries} entries and {places} places are in {output}"))


@app.command(name="import")
def import_experience(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="What `export` wrote, or a published bank.", show_default=False)],
    scope: Annotated[
        str | None, typer.Option("--scope", help="Keep it below this path; what lies in it already stays.")
    ] = None,
    bank: Bank = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Take in what was learnt elsewhere, all of it or nothing; doing so again changes nothing.

    Example: evoharness import alfworld.jsonl --dry-run
    """
    from ..experience.exchange.files import ExchangeFile
    from .screen import dump, err, line, out

    with err.status(line(f"reading {file}")):
        checked = ExchangeFile(file)
    with closing(_store(ctx, bank, db, create=True)) as store, err.status("importing"):
        done = checked.take_into(store, scope, dry_run)
    if as_json:
        counts = {name: getattr(done, name) for name in ("added", "united", "known", "outdated", "corrected", "places")}
        dump({**counts, "dry_run": dry_run})
        return
    would = "would be " if dry_run else ""
    out.print(
        line(
            f"{done.added} entries {would}added, {done.united} made stronger, {done.known} known already; "
            f"{done.places} places {would}new or counted on"
        )
    )
    if done.outdated or done.corrected:
        out.print(
            line(f"of claims that contradict each other {done.outdated} came too late and {done.corrected} here did")
        )


def _store(ctx: typer.Context, bank: str | None, db: Path | None, create: bool = False) -> Store:
    """Open the bank or the store that is meant."""
    if bank and "--db" in given_options(ctx):
        raise WrongUsage("A bank is a store of its own; leave out --bank or --db.")
    if bank is None:
        return open_store(db, create=create)
    from ..experience.exchange.banks import existing
    from ..experience.store import Store

    return Store.open(existing(bank).path)


def _write(store: Store, output: Path, scope: str | None, worlds: bool) -> tuple[int, int]:
    """Write a file in one go: whoever reads it sees the old or the new one."""
    from ..experience.exchange.export import export

    file: IO[bytes]
    with tempfile.NamedTemporaryFile("wb", dir=output.parent, suffix=".tmp", delete=False) as file:
        written = Path(file.name)
        try:
            counts = export(store, file, scope, worlds)
            file.close()
            written.replace(output)
        finally:
            written.unlink(missing_ok=True)
    return counts
