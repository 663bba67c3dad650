"""Writes what a store taught as lines of JSON: the same content gives the same lines, wherever it is kept."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from ..entries import COLUMNS, Entry, read_entry
from ..store import Store
from ..vocabulary import EntryStatus
from .lines import FORMAT, VERSION, content_id
from .origins import LONGEST
from .scopes import within
from .uniting import Content

_SPOOLED = 2**22
"""Bytes that are held in memory until the header is known."""


def export(store: Store, out: IO[bytes], scope: str | None = None, worlds: bool = True) -> tuple[int, int]:
    """Write what is active, of a scope and those below it, and where things are; return how many entries and places.

    Without `worlds`, what is about one world is left out. Raises OSError where it can't be written.
    """
    entries = places = 0
    with tempfile.SpooledTemporaryFile(_SPOOLED) as body:
        for line in lines(store, scope, worlds):
            entries += line["record"] == "entry"
            places += line["record"] != "entry"
            body.write(_written(line))
        body.seek(0)
        out.write(_written({"format": FORMAT, "version": VERSION, "entries": entries, "places": places}))
        while part := body.read(_SPOOLED):
            out.write(part)
    return entries, places


def content_hash(store: Store, scope: str | None = None) -> str:
    """Return the SHA-256, in hex, of what an export holds below its header."""
    digest = hashlib.sha256()
    for line in lines(store, scope):
        digest.update(_written(line))
    return digest.hexdigest()


def lines(store: Store, scope: str | None = None, worlds: bool = True) -> Iterator[dict[str, Any]]:
    """Yield what is active, of a scope and those below it, and where things are, always in the same order."""
    inside, values = within("scope", scope) if scope else ("1", [])
    anywhere = "" if worlds else "AND world IS NULL"
    for row in store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE status = ? AND {inside} {anywhere} "
        "ORDER BY kind, scope, world, text, applies, id",
        [EntryStatus.ACTIVE, *values],
    ):
        yield _entry(store, read_entry(row))
    for query in (_COUNTS, _PRIORS, *([_SIGHTINGS] if worlds else [])):
        for row in store.rows(query.format(inside=inside), values):
            yield dict(row)


def _written(line: dict[str, Any]) -> bytes:
    return json.dumps(line, sort_keys=True).encode() + b"\n"


def _entry(store: Store, each: Entry) -> dict[str, Any]:
    content = Content.of(store, each)
    line: dict[str, Any] = {
        "record": "entry",
        "id": content_id(each.kind, each.scope, each.world, each.text, each.when),
        "kind": each.kind,
        "scope": each.scope,
        "world": each.world,
        "text": each.text,
        "when": each.when,
        "slots": [each.subject, each.relation, each.object] if each.slots else None,
        "trust": content.said_by,
        "strength": each.strength,
        "recalled": each.recalled,
        "helped": each.helped,
        "hurt": each.hurt,
        "created": each.created,
        "confirmed": each.confirmed,
        "last_recalled": each.last_recalled,
        "because": each.because[:LONGEST],
        "origins": content.origins,
    }
    return {**line, "item": content.item} if content.item else line


_COUNTS = """
    WITH totals AS (
        SELECT scope, object, place, found AS count FROM place_finds
        UNION ALL SELECT scope, '', place, searched FROM place_searches
    ), own AS (
        SELECT (SELECT id FROM identity) AS origin, scope, object, place, count - coalesce((
            SELECT sum(origins.count) FROM place_origins AS origins
            WHERE (origins.scope, origins.object, origins.place) = (totals.scope, totals.object, totals.place)
        ), 0) AS count FROM totals
    )
    SELECT 'count' AS record, origin, scope, object, place, count FROM (
        SELECT * FROM own UNION ALL SELECT origin, scope, object, place, count FROM place_origins
    ) WHERE count > 0 AND {inside} ORDER BY scope, object, place, origin
"""
_PRIORS = """
    SELECT 'prior' AS record, scope, object, place, rank FROM place_priors
    WHERE {inside} ORDER BY scope, object, rank, place
"""
_SIGHTINGS = """
    SELECT 'sighting' AS record, scope, world, object, place, at FROM sightings
    WHERE {inside} ORDER BY scope, world, object
"""
