"""What becomes of a claim about a place that an observation contradicts: it is hurt, and corrected or put to sleep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .drafts import Draft
from .entries import COLUMNS, Entry, entry, read_entry, record_event
from .noting import find_same, keep, restore
from .sightings import Evidence, Verdict, judge
from .slots import Slots, covers
from .store import Store
from .vocabulary import EntryStatus, Kind, Trust

BEFORE_ALL = -1
"""A step before the first observation."""
DOUBTED = 0.25
"""The record at which a claim that holds in no one world falls asleep: twice contradicted without having helped."""


def local_claims(store: Store, world: str, scopes: Iterable[str], status: EntryStatus) -> list[Entry]:
    """Return the claims of a status about one world, whether or not they were recalled."""
    within = frozenset(scopes)
    rows = store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE world = ? AND subject IS NOT NULL AND status = ? ORDER BY id",
        [world, status],
    )
    return [each for each in map(read_entry, rows) if each.scope in within]


def contradict(store: Store, claim: Entry, verdict: Verdict, episode: int) -> None:
    """Count that an episode saw otherwise, with the observation that showed it."""
    store.write("UPDATE entries SET hurt = hurt + 1 WHERE id = ?", [claim.id])
    seen = observation(store, episode, verdict.step)
    record_event(store, "contradicted", claim.id, episode, verdict.step, saw=verdict.saw, observation=seen)


def note_truth(store: Store, claim: Entry, evidence: Evidence, episode: int) -> None:
    """Note what was seen in the place of a claim about this world, pending, unless it is noted already.

    Nothing is noted where the thing wasn't found, or several of its type were, at different places.
    """
    if claim.world is None or claim.subject is None or claim.relation is None:
        return
    seen = [each for thing, each in evidence.sightings.items() if covers(claim.subject, thing)]
    if len({each.place for each in seen}) != 1 or covers(claim.object or "", seen[0].place):
        return
    place, step = seen[0].place.lower(), seen[0].step
    text = f"the {claim.subject} is {claim.relation} {place}"
    slots = Slots(claim.subject, claim.relation, place)
    because = observation(store, episode, step)
    draft = Draft(Kind.NOTE, claim.scope, claim.world, text, None, slots, Trust.DISTILLED, episode, step, because)
    if not any(find_same(store, replace(draft, kind=kind)) for kind in (claim.kind, Kind.NOTE)):
        keep(store, draft)


def put_to_sleep(store: Store, number: int, episode: int) -> None:
    """Let a contradicted claim that nothing corrected fall asleep: out of recall, until it is noted or seen again.

    A claim about one world does so at once; a general one only when its record is down to `DOUBTED`, since it may be
    right elsewhere.
    """
    claim = entry(store, number)
    if claim.status != EntryStatus.ACTIVE or (claim.world is None and claim.record > DOUBTED):
        return
    store.write("UPDATE entries SET status = ? WHERE id = ?", [EntryStatus.DORMANT, number])
    why = "contradicted in its world" if claim.world else f"contradicted until its record was {claim.record:.2f}"
    record_event(store, "dormant", number, episode, why=why)


def wake_confirmed(store: Store, world: str, scopes: Iterable[str], evidence: Evidence, episode: int) -> None:
    """Bring back what lies dormant about this world and was seen to be so in an episode."""
    for claim in local_claims(store, world, scopes, EntryStatus.DORMANT):
        assert claim.slots is not None
        verdict = judge(claim.slots, evidence, BEFORE_ALL)
        if verdict and verdict.confirmed:
            restore(store, claim, f"seen to be so: {verdict.saw}", episode, verdict.step)


def observation(store: Store, episode: int, step: int) -> str:
    """Return the text of one of an episode's observations, empty where it isn't recorded."""
    row = store.row("SELECT observation FROM steps WHERE episode = ? AND number = ?", [episode, step])
    return str(row["observation"]) if row else ""
