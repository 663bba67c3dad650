"""Takes in what another store taught: what is new is added, what is known is united, all in one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...harness import WrongUsage
from ...harness.belief import kind_of
from ..drafts import Draft, draft_entry
from ..entries import entry, record_event, scopes_above
from ..noting import find_conflicts, find_same, supersede
from ..slots import Slots
from ..store import Store, storable, utc_now
from ..vocabulary import EntryStatus, Trust
from .lines import CountLine, EntryLine, Line, PlaceLine, PriorLine, SightingLine
from .uniting import Content, find_exact, insert, unite


class CannotImport(WrongUsage):
    """What was to be imported can't be taken in; nothing of it was."""


@dataclass
class Imported:
    """What became of what was imported."""

    added: int = 0
    """Entries that are new here."""
    united: int = 0
    """Entries that were here and have gained something."""
    known: int = 0
    """Entries that were here with all that is said of them."""
    outdated: int = 0
    """Entries that are new here but were corrected at once by what was confirmed later."""
    corrected: int = 0
    """Entries that were here and are corrected by what was confirmed later."""
    places: int = 0
    """Counts, priors and sightings of things that are new here or gained something."""

    @property
    def changed(self) -> bool:
        """Whether anything is other than before."""
        return bool(self.added or self.united or self.outdated or self.corrected or self.places)


class _DryRun(Exception):
    """Takes the transaction back."""


def take_in(store: Store, lines: Iterable[Line], scope: str | None = None, dry_run: bool = False) -> Imported:
    """Import lines, below a scope if one is given; what lies in it already stays where it is.

    - Whoever said it where it comes from, an entry that is new here has the trust `imported`.
    - Entries of the same words, scope and world are one. What is nearly the same as an entry that was here before is
      united with it, as noting would; entries that come together stay apart.
    - Of claims that can't both be so the one stands that was confirmed last.
    - What was pruned or superseded here stays so.

    Importing the same again changes nothing. A dry run tells what would happen. Raises CannotImport.
    """
    taking = _Taking(store, scopes_above(scope)[-1] if scope else "", store.number("SELECT max(id) FROM entries"))
    try:
        with store.transaction():
            for line in lines:
                if isinstance(line, EntryLine):
                    taking.entry(line)
                else:
                    taking.place(line)
            taking.check_counts()
            if dry_run:
                raise _DryRun
    except _DryRun:
        pass
    return taking.done


class _Taking:
    """An import that is under way."""

    def __init__(self, store: Store, root: str, newest: int) -> None:
        self.done = Imported()
        self._store, self._root, self._newest = store, root, newest
        row = store.row("SELECT id FROM identity")
        self._self, self._now = str(row["id"]) if row else "", utc_now()

    def entry(self, line: EntryLine) -> None:
        """Take in an entry."""
        store, draft, content = self._store, self._draft(line), self._content(line)
        old = find_exact(store, draft, content)
        if old is None and content.item is None:
            near = find_same(store, draft)
            old = near if near and near.id <= self._newest else None
        if old:
            stands = old.status in (EntryStatus.ACTIVE, EntryStatus.DORMANT)
            if line.confirmed is None or line.confirmed > self._now:
                content = replace(content, created=old.created, confirmed=old.confirmed)
            gained = stands and unite(store, old, content)
            self.done.united += gained
            self.done.known += not gained
            return
        rivals = find_conflicts(store, draft)
        number = insert(store, draft, content)
        record_event(store, "imported", number, said_by=content.said_by, strength=content.strength)
        later = [each for each in rivals if each.confirmed >= content.confirmed]
        if later:
            supersede(store, entry(store, number), later[-1].id, "another place was confirmed later")
            self.done.outdated += 1
            return
        for rival in rivals:
            supersede(store, rival, number, "another place was confirmed later")
        self.done.added += 1
        self.done.corrected += len(rivals)

    def place(self, line: PlaceLine) -> None:
        """Take in where a thing is."""
        if isinstance(line, CountLine):
            self.done.places += self._count(line)
        elif isinstance(line, PriorLine):
            self.done.places += self._prior(line)
        else:
            self.done.places += self._sighting(line)

    def check_counts(self) -> None:
        """Refuse counts of a store that found more than it searched. Raises CannotImport."""
        wrong = self._store.row(
            "SELECT object, place, count FROM place_origins AS finds WHERE object != '' AND count > coalesce((SELECT "
            "count FROM place_origins WHERE (origin, scope, object, place) = (finds.origin, finds.scope, '', "
            "finds.place)), 0)"
        )
        if wrong:
            raise CannotImport(
                f"A {wrong['object']} can't be found {wrong['count']} times in a {wrong['place']} that was searched "
                "less often."
            )

    def _draft(self, line: EntryLine) -> Draft:
        world = _line_of(line.world or "") or None
        draft = draft_entry(line.kind, line.text, self._scope(line.scope), line.when, world, Trust.IMPORTED)
        slots = Slots(*line.slots) if line.slots else None
        return replace(draft, slots=slots, because=storable(line.because))

    def _content(self, line: EntryLine) -> Content:
        return Content(
            Trust(line.trust),
            line.strength,
            line.recalled,
            line.helped,
            line.hurt,
            line.created or self._now,
            min(line.confirmed or self._now, self._now),
            line.last_recalled,
            tuple(origin.model_dump(exclude_none=True) for origin in line.origins),
            line.item.model_dump() if line.item else None,
        )

    def _scope(self, scope: str) -> str:
        path = scopes_above(_line_of(scope))
        return path[-1] if self._root in path else scopes_above(f"{self._root}/{path[-1]}")[-1]

    def _count(self, line: CountLine) -> bool:
        """Count what another store found or searched beyond what was known of it."""
        if line.origin == self._self:
            return False
        scope, thing, place = self._scope(line.scope), _line_of(line.object), _line_of(line.place)
        known = self._store.number(
            "SELECT count FROM place_origins WHERE (origin, scope, object, place) = (?, ?, ?, ?)",
            [line.origin, scope, thing, place],
        )
        more = line.count - known
        if more <= 0:
            return False
        self._store.write(
            "INSERT INTO place_origins (origin, scope, object, place, count) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET count = excluded.count",
            [line.origin, scope, thing, place, line.count],
        )
        if thing:
            self._store.write(
                "INSERT INTO place_finds (object, scope, place, found) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET found = found + excluded.found",
                [thing, scope, place, more],
            )
        else:
            self._store.write(
                "INSERT INTO place_searches (place, scope, searched) VALUES (?, ?, ?) "
                "ON CONFLICT DO UPDATE SET searched = searched + excluded.searched",
                [place, scope, more],
            )
        return True

    def _prior(self, line: PriorLine) -> bool:
        key = [_line_of(line.object), self._scope(line.scope), _line_of(line.place)]
        known = self._store.number("SELECT rank FROM place_priors WHERE (object, scope, place) = (?, ?, ?)", key)
        if known and known <= line.rank:
            return False
        self._store.write("INSERT OR REPLACE INTO place_priors VALUES (?, ?, ?, ?)", [*key, line.rank])
        return True

    def _sighting(self, line: SightingLine) -> bool:
        thing, at = _line_of(line.object), min(line.at, self._now)
        key = [_line_of(line.world), kind_of(thing).lower(), self._scope(line.scope), thing]
        known = self._store.row(
            "SELECT at FROM sightings WHERE (world, kind, scope, object) = (?, ?, ?, ?) AND at >= ?", [*key, at]
        )
        if known:
            return False
        self._store.write(
            "INSERT OR REPLACE INTO sightings (world, kind, scope, object, place, at) VALUES (?, ?, ?, ?, ?, ?)",
            [*key, _line_of(line.place), at],
        )
        return True


def _line_of(text: str) -> str:
    """Return a name on one line, without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in storable(text)).split())
