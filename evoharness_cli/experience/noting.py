"""How an entry comes to be: compared with what is there, then added, strengthened or corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..harness.belief import kind_of
from .drafts import Draft, draft_entry, draft_of
from .entries import COLUMNS, Entry, entry, is_private, marks, read_entry, record_event
from .sameness import read_said, say_same
from .slots import agree
from .store import Store, utc_now
from .vocabulary import EntryStatus, Trust
from .word_index import any_of, statistics_of
from .words import NEAR, Wording, indexed, nearly, wording

_CANDIDATES = 200


@dataclass(frozen=True)
class Kept:
    """What became of a draft: the entry that holds it, whether it was there before, what it corrects."""

    entry: Entry
    recurred: bool
    corrects: tuple[Entry, ...] = ()


def add_entry(
    store: Store, kind: str, text: str, scope: str, when: str | None = None, world: str | None = None
) -> tuple[Entry, bool]:
    """Keep a person's entry, active at once; return it and whether it was there before.

    A claim about a place without a world is general: it corrects nothing, and other places may be true as well.
    Raises InvalidEntry.
    """
    draft = draft_entry(kind, text, scope, when, world, Trust.PERSON)
    with store.transaction():
        kept = keep(store, draft)
    return kept.entry, kept.recurred


def keep(store: Store, draft: Draft) -> Kept:
    """Strengthen the entry that says the same, else add this one, pending if an episode made it.

    What a pending entry corrects stands until the episode closes.
    """
    with store.transaction():
        same = find_same(store, draft)
        if same is None and draft.episode is None and (same := find_dormant(store, draft)):
            restore(store, same, "noted again")
        if same:
            strengthen(store, same, draft)
            return Kept(entry(store, same.id), recurred=True)
        number = insert(store, draft)
        conflicts = find_conflicts(store, draft, number)
        if draft.episode is None:
            for old in conflicts:
                supersede(store, old, number, "corrected")
        return Kept(entry(store, number), False, tuple(conflicts))


def find_same(store: Store, draft: Draft, besides: int = 0) -> Entry | None:
    """Return the live entry of the same kind, scope and world that says the same, if one does.

    Claims about places are compared by their slots, other texts by their words; the two never meet. Another
    episode's pending entries don't count, for that episode may yet be dropped. What belongs to a memory policy alone
    is compared with nothing.
    """
    if is_private(draft.scope):
        return None
    if draft.slots:
        return _same_place(store, draft, draft.slots.object, besides)
    said = read_said(draft.words)
    near = [
        each
        for each in _near(store, draft, said.words, besides)
        if each.kind == draft.kind and say_same(said, read_said(draft_of(each).words))
    ]
    return min(near, key=lambda each: (each.status != EntryStatus.ACTIVE, each.id), default=None)


def find_conflicts(store: Store, draft: Draft, besides: int = 0) -> list[Entry]:
    """Return the live entries that claim another place for the same subject in the same world.

    General claims have none: a type of thing may be in many places.
    """
    if draft.slots is None or draft.world is None or is_private(draft.scope):
        return []
    place = draft.slots.object
    return [each for each in _same_subject(store, draft, besides) if not agree(each.object or "", place)]


def find_dormant(store: Store, draft: Draft) -> Entry | None:
    """Return the latest dormant claim that says the same, which comes back rather than being added anew."""
    if draft.slots is None:
        return None
    row = store.row(
        f"SELECT {COLUMNS} FROM entries WHERE subject = ? AND relation = ? AND object = ? AND status = ? "
        "AND kind = ? AND scope = ? AND world IS ? ORDER BY id DESC LIMIT 1",
        [
            draft.slots.subject,
            draft.slots.relation,
            draft.slots.object,
            EntryStatus.DORMANT,
            draft.kind,
            draft.scope,
            draft.world,
        ],
    )
    return read_entry(row) if row else None


def restore(store: Store, old: Entry, why: str, episode: int | None = None, step: int | None = None) -> None:
    """Wake a dormant entry, in the place of what stands against it in its world."""
    store.write("UPDATE entries SET status = ?, confirmed = ? WHERE id = ?", [EntryStatus.ACTIVE, utc_now(), old.id])
    record_event(store, "restored", old.id, episode, step, why=why)
    for rival in find_conflicts(store, replace(draft_of(old), episode=None), besides=old.id):
        supersede(store, rival, old.id, "corrected", episode, step)


def strengthen(store: Store, old: Entry, draft: Draft) -> None:
    """Count one more episode that says the same, each once, and keep the more precise wording of a place."""
    counted = store.row("SELECT 1 FROM sources WHERE entry = ? AND episode = ?", [old.id, draft.episode])
    if not counted:
        store.write("UPDATE entries SET strength = strength + 1 WHERE id = ?", [old.id])
        add_source(store, old.id, draft)
    store.write("UPDATE entries SET confirmed = ? WHERE id = ?", [utc_now(), old.id])
    record_event(store, "recurred", old.id, draft.episode, draft.step, text=draft.text, because=draft.because)
    place = draft.slots.object if draft.slots else None
    if place and old.object != place and kind_of(place) == old.object:
        words = wording(draft.words)
        store.write(
            "UPDATE entries SET text = ?, applies = ?, object = ?, normal = ?, words = ? WHERE id = ?",
            [draft.text, draft.when, place, words.normal, indexed(draft.words), old.id],
        )
        record_event(store, "refined", old.id, draft.episode, draft.step, before=old.text)


def supersede(store: Store, old: Entry, by: int, why: str, episode: int | None = None, step: int | None = None) -> None:
    """Put an entry in the place of another, which is no longer recalled."""
    store.write("UPDATE entries SET status = ?, superseded_by = ? WHERE id = ?", [EntryStatus.SUPERSEDED, by, old.id])
    record_event(store, "superseded", old.id, episode, step, by=by, why=why)
    record_event(store, "supersedes", by, episode, step, entry=old.id, why=why)


def add_source(store: Store, number: int, draft: Draft) -> None:
    """Write down where an entry comes from."""
    store.write(
        "INSERT INTO sources (entry, episode, step, because) VALUES (?, ?, ?, ?)",
        [number, draft.episode, draft.step, draft.because],
    )


def insert(store: Store, draft: Draft) -> int:
    """Add an entry without looking at the others; return its number."""
    now, slots = utc_now(), draft.slots
    status = EntryStatus.ACTIVE if draft.episode is None else EntryStatus.PENDING
    number = store.write(
        "INSERT INTO entries (kind, scope, world, text, applies, subject, relation, object, trust, status, "
        "created, confirmed, episode, step, because, normal, words) "
        f"VALUES ({marks(range(17))})",
        [
            draft.kind,
            draft.scope,
            draft.world,
            draft.text,
            draft.when,
            slots.subject if slots else None,
            slots.relation if slots else None,
            slots.object if slots else None,
            draft.trust,
            status,
            now,
            now,
            draft.episode,
            draft.step,
            draft.because,
            wording(draft.words).normal,
            indexed(draft.words),
        ],
    )
    add_source(store, number, draft)
    record_event(store, "noted", number, draft.episode, draft.step, status=status, because=draft.because)
    return number


_VISIBLE = "(status = 'active' OR (status = 'pending' AND episode IS ?)) AND scope = ? AND world IS ? AND id != ?"


def _visible(draft: Draft, besides: int) -> list[object]:
    # Without an episode nothing pending is seen: a pending entry always has one.
    return [draft.episode, draft.scope, draft.world, besides]


def _same_place(store: Store, draft: Draft, place: str, besides: int) -> Entry | None:
    """Return the latest claim that agrees, unless a later one about the same world corrected it."""
    rivals = _same_subject(store, draft, besides)
    for each in sorted(rivals, key=lambda each: (each.status == EntryStatus.PENDING, each.id), reverse=True):
        if not agree(each.object or "", place):
            if draft.world is not None:
                return None
        elif each.kind == draft.kind:
            return each
    return None


def _same_subject(store: Store, draft: Draft, besides: int) -> list[Entry]:
    assert draft.slots is not None
    rows = store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE subject = ? AND relation = ? AND {_VISIBLE} ORDER BY id",
        [draft.slots.subject, draft.slots.relation, *_visible(draft, besides)],
    )
    return [read_entry(row) for row in rows]


def _near(store: Store, draft: Draft, words: Wording, besides: int) -> list[Entry]:
    """Return the entries that may say the same: of the same normal form, or with a rare word in common.

    Two sets with a Jaccard index of at least t share one of the (1 - t)|x| + 1 rarest words of x (prefix
    filtering, Chaudhuri, Ganti and Kaushik, A primitive operator for similarity joins, ICDE 2006), so only
    those are looked up.
    """
    rows = store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE normal = ? AND subject IS NULL AND {_VISIBLE}",
        [words.normal, *_visible(draft, besides)],
    )
    known = statistics_of(store, sorted(words.content), draft.scope, draft.world)
    rare = sorted(words.content, key=lambda word: (known.count(word), word))
    prefix = rare[: len(rare) - math.ceil(NEAR * len(rare) - 1e-9) + 1]
    if any(map(known.count, prefix)):
        held = store.rows(
            # Left to itself, the planner walks through every active entry before it asks the index.
            f"SELECT {COLUMNS}, entries.words AS held FROM entries_fts CROSS JOIN entries ON id = entries_fts.rowid "
            f"WHERE entries_fts MATCH ? AND subject IS NULL AND {_VISIBLE} LIMIT ?",
            [any_of(prefix, known), *_visible(draft, besides), _CANDIDATES],
        )
        # What the index holds of an entry tells at once which share too little to be taken apart.
        rows += [row for row in held if nearly(words.content, row["held"])]
    return [read_entry(row) for row in rows]
