"""Reads files that were written elsewhere, as strictly as is needed to trust nothing in them but their data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..drafts import InvalidEntry
from ..store import Store
from .importing import CannotImport, Imported, take_in
from .lines import FORMAT, LINE, VERSION, EntryLine, Header, Line
from .published import lines_of

LONGEST_LINE = 8 * 2**20
"""Bytes of one line of an export."""
LARGEST_OBJECT = 64 * 2**20
"""Bytes of a published bank, which is one JSON object."""
MOST_LINES = 5_000_000
_SHOWN = 80


class ExchangeFile:
    """An export or a published bank, checked from beginning to end. Raises CannotImport, whatever is in the file."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise CannotImport(f"There is no {path} to import.")
        if not path.is_file():
            raise CannotImport(f"Expected a file to import; {path} is a {'folder' if path.is_dir() else 'device'}.")
        self._path = path
        self.place = str(path)
        """Where in the file the reading is."""
        self._published = self._object()
        for _ in self._lines():
            pass

    def take_into(self, store: Store, scope: str | None = None, dry_run: bool = False) -> Imported:
        """Import it as `take_in` does, all of it or nothing. Raises CannotImport."""
        try:
            return take_in(store, self._lines(), scope, dry_run)
        except InvalidEntry as error:
            raise CannotImport(f"{self.place}: {error}") from None

    def _lines(self) -> Iterator[Line]:
        """Yield every line, checked."""
        if self._published is None:
            yield from self._exported()
            return
        try:
            yield from lines_of(self._published)
        except InvalidEntry as error:
            raise CannotImport(f"{self._path}: {error}") from None

    def _object(self) -> dict[str, Any] | None:
        """Return the object that a published bank is, None where the file begins as an export does."""
        try:
            with self._path.open("rb") as file:
                first = file.readline(LONGEST_LINE + 1)
                if len(first) <= LONGEST_LINE and f'"{FORMAT}"'.encode() in first:
                    return None
                rest = file.read(LARGEST_OBJECT + 1 - len(first))
        except OSError as error:
            raise CannotImport(f"{self._path} can't be read: {error.strerror or error}.") from None
        if len(first) + len(rest) > LARGEST_OBJECT:
            raise CannotImport(
                f"{self._path} is neither an export, which begins with its format, nor a published bank, which has at "
                f"most {LARGEST_OBJECT >> 20} MiB."
            )
        return self._parsed(first + rest)

    def _exported(self) -> Iterator[Line]:
        header, entries, places = None, 0, 0
        for number, text in self._numbered():
            self.place = f"{self._path}, line {number}"
            found = self._parsed(text)
            if header is None:
                if found.get("version") != VERSION:
                    raise CannotImport(
                        f"{self.place}: expected format version {VERSION}; found {_shown(found.get('version'))}. "
                        "Upgrade evoharness-cli where it is newer."
                    )
                header = self._checked(Header.model_validate, found)
                continue
            line = self._checked(LINE.validate_python, found)
            entries += isinstance(line, EntryLine)
            places += not isinstance(line, EntryLine)
            yield line
        if header and (header.entries, header.places) != (entries, places):
            raise CannotImport(
                f"{self._path} is not whole: expected {header.entries} entries and {header.places} places; "
                f"found {entries} and {places}."
            )

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        try:
            with self._path.open("rb") as file:
                for number in range(1, MOST_LINES + 2):
                    line = file.readline(LONGEST_LINE + 1)
                    if not line:
                        return
                    if len(line) > LONGEST_LINE or number > MOST_LINES:
                        raise CannotImport(
                            f"{self._path}, line {number}: expected at most {MOST_LINES:,} lines of at most "
                            f"{LONGEST_LINE >> 20} MiB; found more."
                        )
                    if line.strip():
                        yield number, line
        except OSError as error:
            raise CannotImport(f"{self._path} can't be read: {error.strerror or error}.") from None

    def _parsed(self, text: bytes) -> dict[str, Any]:
        try:
            found = json.loads(
                text.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_number, parse_float=_finite
            )
        except UnicodeDecodeError:
            raise CannotImport(f"{self.place}: expected UTF-8 text.") from None
        except RecursionError:
            raise CannotImport(f"{self.place}: expected few levels; found an object nested too deeply.") from None
        except ValueError as error:
            raise CannotImport(f"{self.place}: expected a JSON object; {str(error)[:_SHOWN]}.") from None
        if not isinstance(found, dict):
            raise CannotImport(f"{self.place}: expected a JSON object; found {_shown(found)}.")
        return found

    def _checked(self, validate: Any, found: dict[str, Any]) -> Any:
        try:
            return validate(found)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"] if part not in ("entry", "count", "prior", "sighting"))
            where = f"{self.place}, {key[:_SHOWN]}" if key else self.place
            raise CannotImport(f"{where}: {first['msg'][:200]}; found {_shown(first['input'])}.") from None


class _Malformed(ValueError):
    """What JSON allows and nothing that is meant well holds."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise _Malformed(f"found the key {_shown(twice)} twice")
    return made


def _no_number(text: str) -> float:
    raise _Malformed(f"found {text}, which is no number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _Malformed(f"found the number {text[:20]}, which is too large")
    return number


def _shown(value: object) -> str:
    text = ascii(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
