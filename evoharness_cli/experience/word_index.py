"""The index of words: which live entries of a scope and world hold a word, and how many do.

Entries of one scope about one world (or about none) make a partition. The index holds each word together with its
partition (`kettle~3`), so that what it returns for a question belongs to the scopes that were asked, and the counts
of words are theirs, whatever else the store holds. Triggers keep all of it in step with the entries.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlite_utils import Database

from .script import run_script
from .store import Store
from .words import indexed

BACKGROUND = 100
"""How many entries without the word are added to those there are, when the rarity of a word is told."""
RARE = 300
"""Entries that the rarest words of a question may bring to be scored, together."""
_RUNG = 40
"""Entries that each combination of frequent words may bring, the newest first."""
_LISTED = 200
"""Partitions that a statement names; more are told apart afterwards."""
_KIN_LENGTH = 4
"""The least length of a beginning that makes two words kin: `sink` and `sinkbasin`, `sign` and `signature`."""
_MOST_COUNTS = 5000
_PROVEN = 40
"""Entries of the best record that are looked at where a question has frequent words only."""


@dataclass(frozen=True)
class Statistics:
    """What the partitions of a question hold: `found` counts a word's entries by partition."""

    partitions: tuple[int, ...]
    entries: int
    found: Mapping[str, Mapping[int, int]]
    kin: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a word that nothing holds, those held that begin with it or that it begins with; they are in `found` too."""

    def count(self, word: str) -> int:
        """Return how many entries hold a word."""
        return sum(self.found.get(word, {}).values())

    def rarity(self, word: str) -> float:
        """Return ln(1 + (N + 100) / (n + 1)) of a word that n of N entries hold.

        This is an inverse document frequency as if there were a hundred entries more without the word, so that a
        share of the sum means much the same in a store of ten and of ten thousand.
        """
        return math.log(1 + (self.entries + BACKGROUND) / (self.count(word) + 1))


def partitions(store: Store, scopes: Sequence[str] | None, world: str | None) -> list[tuple[int, int]]:
    """Return number and entries of the partitions of some scopes, or of all: those of no world and of this one."""
    worlds = ["", _key(world)]
    within, values = "", list[object](worlds)
    if scopes is not None:
        within = f"scope IN ({', '.join('?' for _ in scopes)}) AND "
        values = [*scopes, *worlds]
    rows = store.rows(f"SELECT id, entries FROM partitions WHERE {within}world IN (?, ?) AND entries > 0", values)
    return [(row["id"], row["entries"]) for row in rows]


def statistics(store: Store, words: Sequence[str], scopes: Sequence[str] | None, world: str | None) -> Statistics:
    """Return how often some words occur in the partitions of some scopes, or of all, and a world."""
    known = partitions(store, scopes, world)
    numbers = {number for number, _ in known}
    found: dict[str, dict[int, int]] = {}
    kin: dict[str, tuple[str, ...]] = {}
    if numbers and words:
        found = _counts(store, numbers, f"word IN ({_marks(words)})", list(words))
        for word in words:
            if word not in found and len(word) >= _KIN_LENGTH and not word.isdigit():
                begins = [word[:length] for length in range(_KIN_LENGTH, len(word))]
                like = _counts(
                    store,
                    numbers,
                    f"((word > ? AND word < ?) OR word IN ({_marks(begins)}))",
                    [word, word + chr(0x10FFFF), *begins],
                )
                kin[word] = tuple(like)
                found |= like
    return Statistics(tuple(numbers), sum(each[1] for each in known), found, kin)


def _counts(store: Store, numbers: set[int], which: str, values: list[object]) -> dict[str, dict[int, int]]:
    """Return how many entries hold each word that meets a condition, by partition."""
    listed = f" AND partition IN ({', '.join(map(str, numbers))})" if len(numbers) <= _LISTED else ""
    rows = store.rows(
        f"SELECT word, partition, entries FROM word_counts WHERE {which}{listed} LIMIT {_MOST_COUNTS}", values
    )
    found: dict[str, dict[int, int]] = {}
    for row in rows:
        if row["partition"] in numbers:
            found.setdefault(row["word"], {})[row["partition"]] = row["entries"]
    return found


def statistics_of(store: Store, words: Sequence[str], scope: str, world: str | None) -> Statistics:
    """Return how often some words occur in the one partition of a scope and world."""
    row = store.row("SELECT id, entries FROM partitions WHERE scope = ? AND world = ?", [scope, _key(world)])
    if row is None:
        return Statistics((), 0, {})
    counts = store.rows(
        f"SELECT word, entries FROM word_counts WHERE partition = ? AND word IN ({_marks(words)})", [row["id"], *words]
    )
    found = {each["word"]: {row["id"]: each["entries"]} for each in counts}
    return Statistics((row["id"],), row["entries"], found)


def candidates(store: Store, known: Statistics) -> list[int]:
    """Return the numbers of the entries worth scoring: some hundreds at most, however many hold the words.

    The rarest words bring every entry that holds one, as long as these are `RARE` together. Words that are more
    frequent bring the entries that hold several of them: all, then the rarest and any other, and so on. Where even
    that leaves room, the newest and the best proven entries with the rarest word are taken.
    """
    by_rarity = sorted(known.found, key=lambda word: (known.count(word), word))
    rare: list[str] = []
    room = RARE
    for word in by_rarity:
        room -= known.count(word)
        if room < 0:
            break
        rare.append(word)
    frequent = by_rarity[len(rare) :]
    numbers = dict.fromkeys(_matching(store, any_of(rare, known), RARE)) if rare else {}
    if not frequent:
        return list(numbers)
    for rung in _rungs(rare, frequent, known):
        if len(numbers) >= RARE:
            break
        numbers.update(dict.fromkeys(_matching(store, rung, _RUNG)))
    if not rare:
        numbers.update(dict.fromkeys(_proven(store, known)))
    return list(numbers)


def _rungs(rare: Sequence[str], frequent: Sequence[str], known: Statistics) -> Iterable[str]:
    """Yield expressions for entries that hold several of the frequent words, the most telling first."""
    if len(frequent) > 1:
        yield " AND ".join(any_of([word], known) for word in frequent)
    for place, word in enumerate(frequent[:3]):
        if rest := frequent[place + 1 :]:
            yield f"{any_of([word], known)} AND {any_of(rest, known)}"
    if not rare:
        yield any_of(frequent[:1], known)


def any_of(words: Sequence[str], known: Statistics) -> str:
    """Return the full-text expression for any of some words in the partitions that hold them; one of them has to."""
    return f"({' OR '.join(_token(word, each) for word in words for each in known.found.get(word, ()))})"


def _token(word: str, partition: int) -> str:
    """Return a word of a partition as the index holds it, quoted, so that none is read as syntax."""
    return '"' + word.replace('"', '""') + f'~{partition}"'


def _matching(store: Store, expression: str, limit: int) -> list[int]:
    rows = store.rows(
        "SELECT rowid FROM entries_fts WHERE entries_fts MATCH ? ORDER BY rowid DESC LIMIT ?", [expression, limit]
    )
    return [row[0] for row in rows]


def _proven(store: Store, known: Statistics) -> list[int]:
    rows = store.rows(
        "SELECT entries.id FROM partitions CROSS JOIN entries INDEXED BY entries_proven "
        "ON entries.scope = partitions.scope AND entries.world IS nullif(substr(partitions.world, 2), '') "
        f"WHERE partitions.id IN ({', '.join(map(str, known.partitions[:_LISTED]))}) AND helped > 0 "
        "ORDER BY helped DESC LIMIT ?",
        [_PROVEN],
    )
    return [row[0] for row in rows]


def _key(world: str | None) -> str:
    """Return a world as partitions hold it: told apart from no world, even where its name is empty."""
    return "" if world is None else f"={world}"


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)


def build(database: Database) -> None:
    """Make the index of a store that has the plain one of m003, its words read anew."""
    run_script(
        database,
        """
        DROP TRIGGER entries_fts_insert;
        DROP TRIGGER entries_fts_leave;
        DROP TRIGGER entries_fts_return;
        DROP TRIGGER entries_fts_delete;
        DROP TABLE entries_terms;
        DROP TABLE entries_fts;
        CREATE TABLE partitions (
            id INTEGER PRIMARY KEY,
            scope TEXT NOT NULL,
            world TEXT NOT NULL,
            entries INTEGER NOT NULL,
            UNIQUE (scope, world)
        );
        CREATE TABLE word_counts (
            word TEXT NOT NULL,
            partition INTEGER NOT NULL REFERENCES partitions (id),
            entries INTEGER NOT NULL,
            PRIMARY KEY (word, partition)
        ) WITHOUT ROWID;
        """,
    )
    rows = database.execute("SELECT id, text, applies FROM entries").fetchall()
    database.conn.executemany(
        "UPDATE entries SET words = ? WHERE id = ?",
        ((indexed(f"{text} {applies or ''}"), number) for number, text, applies in rows),
    )
    run_script(
        database,
        f"""
        INSERT INTO partitions (scope, world, entries)
            SELECT scope, {_WORLD.format(row="entries")}, count(*)
            FROM entries WHERE status IN ('pending', 'active') GROUP BY 1, 2;
        INSERT INTO word_counts (word, partition, entries)
            SELECT each.value, partitions.id, count(DISTINCT entries.id)
            FROM entries JOIN partitions ON {_IN.format(row="entries")}, {_EACH.format(row="entries")} AS each
            WHERE status IN ('pending', 'active') GROUP BY 1, 2;
        CREATE VIEW entries_tokens AS
            SELECT entries.id AS id, {_TOKENS.format(row="entries")} AS words
            FROM entries JOIN partitions ON {_IN.format(row="entries")}
            WHERE entries.status IN ('pending', 'active');
        CREATE VIRTUAL TABLE entries_fts USING fts5 (
            words, content = 'entries_tokens', content_rowid = 'id', detail = none, columnsize = 0,
            tokenize = "ascii tokenchars '~'''"
        );
        INSERT INTO entries_fts (entries_fts) VALUES ('rebuild');
        CREATE INDEX entries_proven ON entries (scope, world, helped) WHERE helped > 0;
        CREATE TRIGGER entries_words_insert AFTER INSERT ON entries
        WHEN {_LIVE.format(row="new")} BEGIN
            {_ENTER}
        END;
        CREATE TRIGGER entries_words_change AFTER UPDATE OF status, words, scope, world ON entries
        WHEN {_LIVE.format(row="old")} AND {_LIVE.format(row="new")} AND (old.words, old.scope, old.world)
        IS NOT (new.words, new.scope, new.world) BEGIN
            {_LEAVE}
            {_ENTER}
        END;
        CREATE TRIGGER entries_words_leave AFTER UPDATE OF status, words, scope, world ON entries
        WHEN {_LIVE.format(row="old")} AND NOT {_LIVE.format(row="new")} BEGIN
            {_LEAVE}
        END;
        CREATE TRIGGER entries_words_return AFTER UPDATE OF status, words, scope, world ON entries
        WHEN NOT {_LIVE.format(row="old")} AND {_LIVE.format(row="new")} BEGIN
            {_ENTER}
        END;
        CREATE TRIGGER entries_words_delete AFTER DELETE ON entries
        WHEN {_LIVE.format(row="old")} BEGIN
            {_LEAVE}
        END;
        """,
    )


_LIVE = "{row}.status IN ('pending', 'active')"
_WORLD = "coalesce('=' || {row}.world, '')"
_IN = f"partitions.scope = {{row}}.scope AND partitions.world = {_WORLD}"
_TOKENS = "replace({row}.words, ' ', '~' || partitions.id || ' ') || '~' || partitions.id"
# Words hold letters, digits and apostrophes only, so that they make a JSON list as they are.
_EACH = """json_each('["' || replace({row}.words, ' ', '","') || '"]')"""
_ENTER = f"""
            INSERT OR IGNORE INTO partitions (scope, world, entries)
                VALUES (new.scope, {_WORLD.format(row="new")}, 0);
            UPDATE partitions SET entries = entries + 1 WHERE {_IN.format(row="new")};
            INSERT INTO word_counts (word, partition, entries)
                SELECT DISTINCT each.value, partitions.id, 1 FROM partitions, {_EACH.format(row="new")} AS each
                WHERE {_IN.format(row="new")}
                ON CONFLICT DO UPDATE SET entries = entries + 1;
            INSERT INTO entries_fts (rowid, words)
                SELECT new.id, {_TOKENS.format(row="new")} FROM partitions WHERE {_IN.format(row="new")};
"""
_LEAVE = f"""
            INSERT INTO entries_fts (entries_fts, rowid, words)
                SELECT 'delete', old.id, {_TOKENS.format(row="old")} FROM partitions WHERE {_IN.format(row="old")};
            UPDATE word_counts SET entries = entries - 1
                WHERE partition = (SELECT id FROM partitions WHERE {_IN.format(row="old")})
                AND word IN (SELECT value FROM {_EACH.format(row="old")});
            DELETE FROM word_counts
                WHERE partition = (SELECT id FROM partitions WHERE {_IN.format(row="old")})
                AND word IN (SELECT value FROM {_EACH.format(row="old")}) AND entries <= 0;
            UPDATE partitions SET entries = entries - 1 WHERE {_IN.format(row="old")};
"""
