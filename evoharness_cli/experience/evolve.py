"""Closes an episode: what it says of the entries it recalled, what it noted, and where it saw things.

A vote is success minus baseline. `success` is 1 or 0, and the baseline (w + 1) / (n + 2) is the posterior
mean success rate (Laplace's rule of succession) of the n episodes of the same environment and kind closed
before, w of them won. So an entry gains little from a win that was expected and loses much by an unexpected
loss. Only entries that were put to the test are voted on; taking the running mean as the baseline is what
REINFORCE does to lower the variance of a reward (Williams, Machine Learning 8, 1992), while that the test
gates the vote, and that an observation against a claim counts whatever the outcome, are this project's own.

- A claim about a place is tested if an observation after its recall confirms or contradicts it
  (`sightings.judge`). Contradicted, its `hurt` grows by 1.
- A claim about this world is contradicted by what the episode saw, recalled or not. What was seen instead is noted and
  corrects it; where that isn't known it falls asleep (`contradiction`).
- Another entry is tested if two of its content words (its only one, if there is but one) occur in the
  environment actions after its recall.
- A positive vote adds to `helped`, a negative one its size to `hurt`. Recalled only: no vote.
- What an episode noted itself is no test of it by its own outcome, but the episode's observations may
  contradict it.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass, replace

from ..harness.belief import Belief
from ..harness.episode import ENVIRONMENT
from .contradiction import BEFORE_ALL, contradict, local_claims, note_truth, put_to_sleep, wake_confirmed
from .distill import distill
from .drafts import draft_of
from .entries import COLUMNS, Entry, read_entry, record_event, scopes_above
from .errors import StoreError
from .journal import require_open
from .noting import find_conflicts, find_dormant, find_same, restore, strengthen, supersede
from .places import observe
from .sightings import Evidence, Verdict, judge, read_evidence
from .store import Store, utc_now
from .upkeep.consolidate import tend
from .upkeep.schedule import count_closed
from .vocabulary import EntryStatus
from .withdrawing import withdraw
from .words import content_words


@dataclass(frozen=True)
class _Closing:
    """What a vote needs to know of the episode that is closing."""

    store: Store
    episode: int
    success: bool
    baseline: float
    evidence: Evidence


def close_episode(store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool = True) -> None:
    """Close an episode in one transaction: outcome, votes, contradictions, its notes, the place counts.

    Unless it is to `learn`, only the outcome is kept and its notes are dropped. Every so many episodes that were to
    learn, the store is tended afterwards (`consolidate.tend`). Raises EpisodeClosed when it is closed already, NotFound
    when there is none.
    """
    is_due = False
    with store.transaction():
        row = require_open(store, episode)
        if learn:
            evidence = read_evidence(belief.history)
            closing = _Closing(store, episode, success, baseline(store, row["environment"], row["kind"]), evidence)
            scopes = scopes_above(row["scope"])
            doubted = _vote(closing, _contradict_local(closing, row["world"], scopes))
            distill(store, episode, success)
            _activate(closing, doubted)
            for number in doubted:
                put_to_sleep(store, number, episode)
            wake_confirmed(store, row["world"], scopes, evidence, episode)
            observe(store, episode, row["scope"], row["world"], evidence)
            is_due = count_closed(store)
        else:
            withdraw(store, episode, 0, "the run was not to learn")
        store.write(
            "UPDATE episodes SET finished = ?, outcome = ?, success = ?, fault = NULL WHERE id = ?",
            [utc_now(), outcome, success, episode],
        )
    if is_due:
        # The episode is closed, whatever comes of this; what isn't done is done the next time.
        with suppress(StoreError):
            tend(store)


def baseline(store: Store, environment: str, kind: str) -> float:
    """Return (w + 1) / (n + 2) over the closed episodes of an environment and kind."""
    row = store.row(
        "SELECT count(success) AS closed, coalesce(sum(success), 0) AS won FROM episodes "
        "WHERE environment = ? AND kind = ?",
        [environment, kind],
    )
    assert row is not None
    return (int(row["won"]) + 1) / (int(row["closed"]) + 2)


def _contradict_local(closing: _Closing, world: str, scopes: list[str]) -> set[int]:
    """Contradict what is claimed about this world, and was noted in this episode, against what was seen.

    Return the numbers of those claims.
    """
    store, episode, evidence = closing.store, closing.episode, closing.evidence
    doubted: set[int] = set()
    claims = [*local_claims(store, world, scopes, EntryStatus.ACTIVE), *map(read_entry, _pending(closing))]
    for claim in claims:
        verdict = judge(claim.slots, evidence, BEFORE_ALL) if claim.slots else None
        if verdict and not verdict.confirmed:
            contradict(store, claim, verdict, episode)
            note_truth(store, claim, evidence, episode)
            doubted.add(claim.id)
    return doubted


def _vote(closing: _Closing, judged: set[int]) -> set[int]:
    """Vote on what was recalled and put to the test; return the numbers of what was contradicted, `judged` included."""
    recalled = closing.store.rows(
        f"SELECT {COLUMNS}, first FROM entries JOIN (SELECT entry, min(step) AS first FROM recalls "
        "WHERE recalls.episode = ? GROUP BY entry) ON entry = id WHERE episode IS NOT ? OR status != ?",
        [closing.episode, closing.episode, EntryStatus.PENDING],
    )
    doubted = set(judged)
    for row in recalled:
        advice, after = read_entry(row), int(row["first"])
        if advice.id in doubted:
            continue
        if advice.slots:
            verdict = judge(advice.slots, closing.evidence, after)
            if verdict and verdict.confirmed:
                _confirm(closing, advice, verdict)
            elif verdict:
                contradict(closing.store, advice, verdict, closing.episode)
                doubted.add(advice.id)
        elif words := _words_acted_on(closing, advice, after):
            _count_vote(closing, advice, words=words)
    return doubted


def _confirm(closing: _Closing, advice: Entry, verdict: Verdict) -> None:
    closing.store.write("UPDATE entries SET confirmed = ? WHERE id = ?", [utc_now(), advice.id])
    _count_vote(closing, advice, verdict.step, saw=verdict.saw)


def _count_vote(closing: _Closing, advice: Entry, step: int | None = None, **how: object) -> None:
    vote = closing.success - closing.baseline
    kind = "helped" if vote > 0 else "hurt"
    confirmed = utc_now() if vote > 0 else advice.confirmed
    closing.store.write(
        f"UPDATE entries SET {kind} = {kind} + ?, confirmed = max(confirmed, ?) WHERE id = ?",
        [abs(vote), confirmed, advice.id],
    )
    numbers = {"success": int(closing.success), "baseline": closing.baseline, "vote": vote}
    record_event(closing.store, "tested", advice.id, closing.episode, step, **how)
    record_event(closing.store, kind, advice.id, closing.episode, None, **numbers)


def _words_acted_on(closing: _Closing, advice: Entry, after: int) -> list[str]:
    """Return the entry's words that later environment actions hold, none where too few do."""
    wanted = content_words(f"{advice.text} {advice.when or ''}")
    actions = closing.store.rows(
        "SELECT action FROM steps WHERE episode = ? AND number > ? AND kind = ?",
        [closing.episode, after, ENVIRONMENT],
    )
    acted = set(content_words(" ".join(row["action"] for row in actions)))
    found = [word for word in wanted if word in acted]
    return found if len(found) >= min(2, len(wanted)) else []


def _activate(closing: _Closing, doubted: set[int]) -> None:
    """Make the episode's pending notes active, one by one, so that a later one may correct an earlier."""
    for row in _pending(closing):
        note = read_entry(row)
        _settle(closing, note, doubted=note.id in doubted)


def _settle(closing: _Closing, note: Entry, doubted: bool) -> None:
    """Merge a pending note into an active one that says the same, or make it active for what it corrects.

    A note that its own episode's observations contradict replaces nothing: what stands against it stays.
    """
    store, episode = closing.store, closing.episode
    draft = draft_of(note)
    # As if no episode had made it, so that the pending notes beside it are not looked at.
    settled = replace(draft, episode=None)
    same = find_same(store, settled, besides=note.id)
    if same is None and not doubted and (same := find_dormant(store, settled)):
        restore(store, same, "noted again", episode, note.step)
    if same:
        if not doubted:
            strengthen(store, same, draft)
        supersede(store, note, same.id, "said already", episode, note.step)
        return
    conflicts = find_conflicts(store, settled, besides=note.id)
    if doubted and conflicts:
        supersede(store, note, conflicts[-1].id, "contradicted by its own episode", episode, note.step)
        return
    for old in conflicts:
        supersede(store, old, note.id, "corrected", episode, note.step)
    store.write("UPDATE entries SET status = ? WHERE id = ?", [EntryStatus.ACTIVE, note.id])
    record_event(store, "activated", note.id, episode, note.step)


def _pending(closing: _Closing) -> list[sqlite3.Row]:
    return closing.store.rows(
        f"SELECT {COLUMNS} FROM entries WHERE episode = ? AND status = ? ORDER BY id",
        [closing.episode, EntryStatus.PENDING],
    )
