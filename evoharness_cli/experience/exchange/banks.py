"""Banks: named sets of experience, each a store file of its own in the folder `banks` beside the default store.

`NAME.db` is a live bank, a store like any other. `NAME@1.db`, `NAME@2.db` and so on are frozen: written once, and only
read from then on.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...harness import WrongUsage
from ..errors import StoreError
from ..store import Store, default_path, utc_now
from ..vocabulary import EntryStatus
from .export import content_hash
from .origins import keep_origins
from .reducing import reduce

NAME = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9_-]{0,63})(?:@(?P<version>[1-9][0-9]{0,8}))?")
NONE = "none"
"""What stands for no bank, and so names none."""


class BankError(WrongUsage):
    """A bank can't be had, or can't be had so."""


class DamagedBank(StoreError):
    """A frozen bank holds something else than was frozen."""


@dataclass(frozen=True)
class Bank:
    """Where a bank is; a live one has no version."""

    name: str
    version: int | None
    path: Path

    @property
    def label(self) -> str:
        """The bank as it is named: `NAME`, or `NAME@VERSION`."""
        return self.name if self.version is None else f"{self.name}@{self.version}"


@dataclass(frozen=True)
class BankContent:
    """What a bank holds."""

    bank: Bank
    entries: dict[str, int]
    """How many active entries of each kind."""
    places: int
    """For how many types of thing it is known where they were found."""
    hash: str
    """The SHA-256, in hex, of what an export of it holds."""
    frozen: str | None
    """When it was frozen."""
    bytes: int


def banks_folder() -> Path:
    """Return the folder of the banks."""
    return default_path().parent / "banks"


def named(label: str) -> Bank:
    """Return the bank that `NAME` or `NAME@VERSION` means, whether or not it is there. Raises BankError."""
    match = NAME.fullmatch(label)
    if match is None or match["name"] == NONE:
        raise BankError(
            "Expected a bank's name of letters, digits, - and _, and perhaps @ and a version, as in kitchen@2; "
            f"found {label[:80]!r}."
        )
    version = int(match["version"]) if match["version"] else None
    bank = Bank(match["name"], version, Path())
    return Bank(bank.name, version, banks_folder() / f"{bank.label}.db")


def existing(label: str) -> Bank:
    """Return a bank that is there. Raises BankError."""
    bank = named(label)
    if not bank.path.is_file():
        known = ", ".join(each.label for each in banks()) or "none"
        raise BankError(f"There is no bank {bank.label}; there are: {known}.")
    return bank


def banks() -> list[Bank]:
    """Return the banks that are there, by name and version, the live one of a name first."""
    found = []
    for path in banks_folder().glob("*.db"):
        if NAME.fullmatch(path.stem) and path.is_file():
            found.append(named(path.stem))
    return sorted(found, key=lambda bank: (bank.name, bank.version or 0))


def content(bank: Bank) -> BankContent:
    """Read what a bank holds. Raises DamagedBank where a frozen one isn't what was frozen."""
    with closing(Store.open(bank.path)) as store:
        counts = store.rows(
            "SELECT kind, count(*) AS count FROM entries WHERE status = ? GROUP BY kind ORDER BY kind",
            [EntryStatus.ACTIVE],
        )
        frozen = store.row("SELECT at, hash FROM frozen")
        found = content_hash(store)
        if frozen and frozen["hash"] != found:
            raise DamagedBank(
                f"{bank.path} holds something else than was frozen (expected {frozen['hash'][:12]}, found "
                f"{found[:12]}); freeze its store again, or bring back a copy of the file."
            )
        places = store.number("SELECT count(DISTINCT object) FROM place_finds")
    return BankContent(
        bank,
        {row["kind"]: row["count"] for row in counts},
        places,
        found,
        frozen["at"] if frozen else None,
        bank.path.stat().st_size,
    )


def create(label: str) -> Bank:
    """Make an empty live bank. Raises BankError where it is there."""
    bank = _new_live(label)
    Store.open(bank.path).close()
    return bank


def freeze(store: Store, name: str, scope: str | None = None) -> BankContent:
    """Write what is active in a store, of a scope and those below it, as the next version of a bank.

    Raises BankError, or StoreError where it can't be written.
    """
    if named(name).version is not None:
        raise BankError(f"Expected a bank's name to freeze; the version of {name} is given by what is there already.")
    with _reduced(store, scope) as made:
        with closing(Store.open(made)) as copy:
            copy.write("INSERT INTO frozen (at, hash) VALUES (?, ?)", [utc_now(), content_hash(copy)])
        close_log(made)
        made.chmod(0o444)
        with _alone():
            versions = [bank.version or 0 for bank in banks() if bank.name == name]
            bank = named(f"{name}@{max(versions, default=0) + 1}")
            _sync(made)
            made.rename(bank.path)
    return content(bank)


def copy(source: str, target: str) -> Bank:
    """Copy a bank, of which a frozen one becomes live again. Raises BankError."""
    bank, made = existing(source), _new_live(target)
    with closing(Store.open(bank.path)) as store, _aside() as folder:
        store.copy_to(folder / "copy.db")
        with closing(Store.open(folder / "copy.db")) as copied:
            part_ways(copied)
        close_log(folder / "copy.db")
        with _alone():
            _new_live(target)
            (folder / "copy.db").rename(made.path)
    return made


def move(source: str, target: str) -> list[Bank]:
    """Give a bank with all its versions another name. Raises BankError."""
    if named(source).version is not None or named(target).version is not None:
        raise BankError("A bank moves with all its versions; leave out the version.")
    with _alone():
        moved = [bank for bank in banks() if bank.name == source]
        if not moved:
            existing(source)
        if taken := [bank.label for bank in banks() if bank.name == target]:
            raise BankError(f"There is a bank {taken[0]} already; choose another name.")
        for bank in moved:
            if bank.version is None:
                close_log(bank.path)
            bank.path.rename(named(bank.label.replace(source, target, 1)).path)
    return [bank for bank in banks() if bank.name == target]


def remove(label: str) -> Bank:
    """Remove one bank: a live one, or a version. Raises BankError."""
    with _alone():
        bank = existing(label)
        if bank.version is None:
            close_log(bank.path)
        bank.path.unlink()
    return bank


def replace_content(bank: Bank, store: Store) -> None:
    """Give a live bank what is active in a store, all at once: who reads it meanwhile sees the old or the new.

    Raises StoreError.
    """
    with _reduced(store, None) as made, closing(sqlite3.connect(made)) as new:
        with closing(Store.open(bank.path)):
            pass
        try:
            with closing(sqlite3.connect(bank.path, timeout=60)) as old:
                new.backup(old)
        except sqlite3.Error as error:
            raise StoreError(f"The bank {bank.label} can't be written: {error}.") from error


def part_ways(store: Store) -> None:
    """Tell a copy from what it was copied of: what each counts from now on adds up."""
    with store.transaction():
        keep_origins(store)
        store.write(
            """
            INSERT INTO place_origins (origin, scope, object, place, count)
            WITH totals AS (
                SELECT scope, object, place, found AS count FROM place_finds
                UNION ALL SELECT scope, '', place, searched FROM place_searches
            )
            SELECT (SELECT id FROM identity), scope, object, place, count - coalesce((
                SELECT sum(origins.count) FROM place_origins AS origins
                WHERE (origins.scope, origins.object, origins.place) = (totals.scope, totals.object, totals.place)
            ), 0) AS own FROM totals WHERE own > 0
            """
        )
        store.write("UPDATE identity SET id = lower(hex(randomblob(8)))")


def _new_live(label: str) -> Bank:
    bank = named(label)
    if bank.version is not None:
        raise BankError(f"A frozen bank is written by `evoharness banks freeze {bank.name}` alone.")
    if bank.path.exists():
        raise BankError(f"There is a bank {bank.label} already; choose another name or remove it.")
    return bank


@contextmanager
def _reduced(store: Store, scope: str | None) -> Iterator[Path]:
    """Yield a file, in the folder of the banks, that holds what is active in a store."""
    with _aside() as folder:
        made = folder / "bank.db"
        store.copy_to(made)
        with closing(Store.open(made)) as copied:
            reduce(copied, scope)
        close_log(made, compact=True)
        yield made


@contextmanager
def _aside() -> Iterator[Path]:
    """Yield a folder on the disk of the banks, gone when the block ends."""
    folder = banks_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
    except OSError as error:
        raise StoreError(f"Banks can't be written to {folder}: {error.strerror or error}.") from error
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Be the one that names banks while the block lasts."""
    from filelock import FileLock

    banks_folder().mkdir(parents=True, exist_ok=True)
    with FileLock(banks_folder() / ".lock"):
        yield


def close_log(path: Path, compact: bool = False) -> None:
    """Bring all of a store into its one file. Raises StoreError while another process has it open."""
    try:
        with closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as connection:
            if compact:
                connection.execute("VACUUM")
            connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise StoreError(f"{path} is in use by another process ({error}). Try again when that has ended.") from error


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
