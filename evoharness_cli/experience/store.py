"""The SQLite file that outlives a process: opening it, transactions, and what can go wrong."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from .errors import FrozenBank, NotAStore, NotFound, StoreError

if TYPE_CHECKING:
    from sqlite_utils import Database

BUSY_SECONDS = 60
"""How long a writer waits for another process to finish its transaction."""

LARGEST = 2**63 - 1
"""The largest number that a row can have."""

Parameters = Sequence[object] | Mapping[str, object]


def default_path() -> Path:
    """Return `$EVOHARNESS_DB`, else `experience.db` in the user's data folder."""
    if chosen := os.environ.get("EVOHARNESS_DB"):
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("evoharness") / "experience.db"


def utc_now() -> str:
    """Return the time as ISO-8601 text in UTC with milliseconds; such texts sort by time."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def storable(text: str) -> str:
    """Return the text as SQLite can hold it: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Store:
    """One connection to an experience file. Each process and thread has its own."""

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self.database = database
        self._connection: sqlite3.Connection = database.conn
        self.frozen = False
        """Whether it is a frozen bank, which can only be read."""

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open the file, creating it and its folders and bringing its tables up to date where needed.

        A frozen bank is opened to be read; its file isn't changed, and whoever writes to it gets FrozenBank.

        Raises StoreError when the path cannot be written, NotAStore when it holds something else,
        SchemaTooNew when a newer version wrote it.
        """
        from sqlite_utils import Database

        from .schema import is_frozen

        path = Path(path)
        if path.is_dir():
            raise NotAStore(f"{path} is a folder. Name a file in it, such as {path / 'experience.db'}.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _sentences(path):
                connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
                try:
                    store = cls(path, Database(connection, execute_plugins=False))
                    if is_frozen(store.database, path):
                        connection = store._open_frozen(connection)
                    else:
                        store._prepare()
                    connection.execute("PRAGMA synchronous = NORMAL")
                    connection.execute("PRAGMA foreign_keys = ON")
                    connection.row_factory = sqlite3.Row
                except BaseException:
                    connection.close()
                    raise
        except OSError as error:
            raise StoreError(
                f"The experience store {path} cannot be opened: {error.strerror or error}. "
                "Choose a file in a folder that can be written, with --db or EVOHARNESS_DB."
            ) from error
        return store

    def _prepare(self) -> None:
        """Create or migrate the tables, one process at a time."""
        from .schema import is_current, migrate

        if is_current(self.database, self.path):
            return
        from filelock import FileLock, Timeout

        # Two processes that switch one new file to WAL at once collide in a way that the busy timeout doesn't
        # cover.
        lock = Path(f"{self.path.resolve()}.lock")
        try:
            with FileLock(lock, timeout=BUSY_SECONDS):
                if not is_current(self.database, self.path):
                    self.database.enable_wal()
                    with self.transaction():
                        migrate(self.database)
                # Who still gets hold of the removed file finds nothing left to do.
                with suppress(PermissionError):  # Windows removes no file that is open
                    lock.unlink(missing_ok=True)
        except Timeout:
            raise StoreError(
                f"Another process has been preparing {self.path} for over {BUSY_SECONDS} s. Wait for it and try again."
            ) from None

    def _open_frozen(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Make ready to read a frozen bank; one of an older schema is brought up to date in memory."""
        from sqlite_utils import Database

        from .schema import is_outdated, migrate

        if is_outdated(self.database):
            memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            connection.backup(memory)
            connection.close()
            self.database, self._connection = Database(memory, execute_plugins=False), memory
            with self.transaction():
                migrate(self.database)
        self._connection.execute("PRAGMA query_only = ON")
        self.frozen = True
        return self._connection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of a block or nothing of it; a block inside another joins it.

        The write lock is taken at once: a transaction that reads first and writes later could find that
        another process wrote in between, which SQLite refuses without waiting.
        """
        if self.frozen:
            raise FrozenBank(
                f"{self.path} is a frozen bank, which is never changed. "
                f"Make a live one of it: evoharness banks copy {self.path.stem} NAME."
            )
        if self._connection.in_transaction:
            yield
            return
        with _sentences(self.path):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, parameters: Parameters = ()) -> list[sqlite3.Row]:
        """Return every row of a query."""
        with _sentences(self.path):
            return self._execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Parameters = ()) -> sqlite3.Row | None:
        """Return the first row of a query, or None."""
        with _sentences(self.path):
            found: sqlite3.Row | None = self._execute(sql, parameters).fetchone()
            return found

    def number(self, sql: str, parameters: Parameters = ()) -> int:
        """Return the one number that a query asks for; nothing counts as 0."""
        found = self.row(sql, parameters)
        return int(found[0] or 0) if found else 0

    def write(self, sql: str, parameters: Parameters = ()) -> int:
        """Execute one statement, in a transaction of its own unless in one; return the inserted row's id."""
        with self.transaction():
            return self._execute(sql, parameters).lastrowid or 0

    def write_many(self, sql: str, parameters: Sequence[Parameters]) -> None:
        """Execute one statement for each set of parameters, all or none."""
        with self.transaction():
            self._connection.executemany(sql, parameters)

    def _execute(self, sql: str, parameters: Parameters) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, parameters)
        except OverflowError:
            raise NotFound(f"The numbers in {self.path} go up to {LARGEST}; a larger one was asked for.") from None

    def copy_to(self, path: Path) -> None:
        """Write a copy of the whole store, as it is at this moment, to a new file, which can be written.

        Raises StoreError.
        """
        try:
            self._connection.execute("PRAGMA query_only = OFF")
            self._connection.execute("VACUUM INTO ?", [str(path)])
            if self.frozen:
                with closing(sqlite3.connect(path)) as copy, copy:
                    copy.execute("DELETE FROM frozen")
        except sqlite3.Error as error:
            raise StoreError(f"The store {self.path} can't be copied to {path}: {error}.") from error
        finally:
            self._connection.execute(f"PRAGMA query_only = {int(self.frozen)}")

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into sentences; what breaks a constraint is left to who knows its meaning."""
    try:
        yield
    except sqlite3.IntegrityError:  # a programming error, not the file's
        raise
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            raise NotAStore(
                f"{path} is not an SQLite database. Name an experience store, or a new file to create one."
            ) from error
        raise StoreError(_MEANINGS.get(code, _UNKNOWN).format(path=path, error=error)) from error


_UNKNOWN = "The experience store {path} failed: {error}."
_MEANINGS = {
    sqlite3.SQLITE_FULL: ("The disk that holds {path} is full; nothing of the last change was kept. Free some space."),
    sqlite3.SQLITE_BUSY: (
        f"Another process has been writing to {{path}} for over {BUSY_SECONDS} s. Wait for it and try again."
    ),
    sqlite3.SQLITE_READONLY: "{path} cannot be written ({error}). Allow writing to it and its folder.",
    sqlite3.SQLITE_CANTOPEN: "{path} cannot be opened ({error}). Allow writing to it and its folder.",
    sqlite3.SQLITE_IOERR: "The disk that holds {path} failed: {error}.",
    sqlite3.SQLITE_CORRUPT: (
        "{path} is damaged ({error}). Restore a copy, or rescue what can be read: `sqlite3 {path} .recover`."
    ),
}
