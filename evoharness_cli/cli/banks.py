"""`evoharness banks`: named sets of experience, live or frozen."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from ..harness import WrongUsage
from .app import app
from .options import Db, Json, Scope, open_store

if TYPE_CHECKING:
    from ..experience.exchange.banks import BankContent

banks = typer.Typer(no_args_is_help=True)
app.add_typer(banks, name="banks")

Name = Annotated[str, typer.Argument(help="The bank: NAME, or NAME@VERSION for a frozen one.", show_default=False)]
NewName = Annotated[str, typer.Argument(help="The name of the bank.", show_default=False)]


@banks.callback()
def group() -> None:
    """Keep named sets of experience: live ones, which change, and frozen versions, which don't.

    Example: evoharness banks freeze kitchen
    """


@banks.command(name="list")
def list_banks(as_json: Json = False) -> None:
    """List the banks, with what they hold.

    Example: evoharness banks list
    """
    from ..experience.exchange.banks import banks as all_banks
    from ..experience.exchange.banks import banks_folder, content
    from .screen import dump, line, out, row, table

    listed = table("bank", "entries", "places#", "content", "frozen")
    found = [content(bank) for bank in all_banks()]
    for each in found:
        if as_json:
            dump(_object(each))
        frozen = each.frozen[:19] if each.frozen else ""
        row(listed, each.bank.label, _entries(each), each.places, each.hash[:12], frozen)
    if as_json:
        return
    out.print(listed if found else "no banks yet; make one with: evoharness banks freeze NAME")
    if found:
        out.print(line(f"each is a file of its name in {banks_folder()}"))


@banks.command()
def freeze(
    name: NewName,
    scope: Scope = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Write what is active in a store as the next version of a bank, never to be changed.

    Of the episodes only the lines on where each entry comes from are kept.

    Example: evoharness banks freeze kitchen --scope alfworld/kitchen
    """
    from ..experience.exchange.banks import freeze as freeze_bank
    from .screen import dump, err, line, out

    with closing(open_store(db)) as store, err.status("freezing"):
        made = freeze_bank(store, name, scope)
    if as_json:
        dump(_object(made))
    else:
        out.print(
            line(f"{made.bank.label}: {_entries(made)}, places of {made.places} things, content {made.hash[:12]}")
        )


@banks.command()
def create(name: NewName) -> None:
    """Make an empty live bank.

    Example: evoharness banks create kitchen
    """
    from ..experience.exchange.banks import create as create_bank
    from .screen import line, out

    made = create_bank(name)
    out.print(line(f"{made.label} is in {made.path}"))


@banks.command()
def copy(
    source: Name, target: Annotated[str, typer.Argument(help="The name of the live copy.", show_default=False)]
) -> None:
    """Copy a bank; the copy is live, and can be played with by `--db`.

    Example: evoharness banks copy kitchen@1 trial
    """
    from ..experience.exchange.banks import copy as copy_bank
    from .screen import line, out

    made = copy_bank(source, target)
    out.print(line(f"{made.label} is in {made.path}"))


@banks.command()
def move(source: NewName, target: Annotated[str, typer.Argument(help="Its new name.", show_default=False)]) -> None:
    """Give a bank with all its versions another name.

    Example: evoharness banks move trial kitchen2
    """
    from ..experience.exchange.banks import move as move_bank
    from .screen import line, out

    for made in move_bank(source, target):
        out.print(line(f"{made.label} is in {made.path}"))


@banks.command()
def remove(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Remove a live bank, or one frozen version, for good.

    Example: evoharness banks remove trial
    """
    from ..experience.exchange.banks import existing
    from ..experience.exchange.banks import remove as remove_bank
    from .screen import line, out

    bank = existing(name)
    if not yes and not _agreed(bank.label):
        out.print("nothing was removed")
        return
    remove_bank(name)
    out.print(line(f"removed {bank.label}"))


def _agreed(label: str) -> bool:
    try:
        return typer.confirm(f"remove {label} for good?", err=True)
    except typer.Abort:
        raise WrongUsage("There was no answer; add --yes to remove it without being asked.") from None


def _entries(content: BankContent) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in content.entries.items()) or "no entries"


def _object(content: BankContent) -> dict[str, object]:
    return {
        "bank": content.bank.label,
        "name": content.bank.name,
        "version": content.bank.version,
        "entries": content.entries,
        "places": content.places,
        "hash": content.hash,
        "frozen": content.frozen,
        "bytes": content.bytes,
        "file": str(content.bank.path),
    }
