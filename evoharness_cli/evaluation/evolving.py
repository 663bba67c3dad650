"""An evaluation that teaches: games are played in blocks, and what a block taught is added before the next one begins.

Within a block every game sees the experience as it was before the block. When all of them have ended they are learnt,
in the order of the games and in one transaction: each is closed once more, this time to learn, from its recorded steps.
So neither which game ended first nor where a process was killed changes what the next block sees.

What the step of a panel recalled without being asked isn't recorded, and so isn't voted on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from ..experience import journal
from ..experience.entries import marks
from ..experience.exchange.reducing import drop_dangling
from ..experience.journal import EpisodeRecord
from ..experience.policies import MemoryPolicy
from ..experience.recall import mark_recalled
from ..experience.store import Store, utc_now
from ..experience.upkeep.schedule import looked_at
from ..harness import MetaAction, Part, Workspace, parse_reply
from ..harness.episode import ENVIRONMENT


def blocks(count: int, every: int) -> list[range]:
    """Return the numbers of the games of each block; all of them in one where `every` is 0."""
    every = every or max(count, 1)
    return [range(start, min(start + every, count)) for start in range(0, count, every)]


def is_learnt(store: Store, run: int, numbers: Sequence[int]) -> bool:
    """Tell whether every game of a block was learnt."""
    found = store.number(
        f"SELECT count(*) FROM learnt JOIN episodes ON id = episode WHERE run = ? AND number IN ({marks(numbers)})",
        [run, *numbers],
    )
    return found == len(numbers)


def learn(store: Store, run: int, numbers: Sequence[int], parts: Sequence[Part], memory: MemoryPolicy) -> None:
    """Learn the games of a block, all of which have ended, if they weren't learnt yet.

    `parts` are those of the workspace with which they were played.
    """
    with store.transaction():
        if is_learnt(store, run, numbers):
            return
        started = datetime.fromisoformat(journal.run(store, run).started)
        games = [each for each in journal.episodes(store, run) if each.number in numbers]
        _reopen(store, [game.id for game in games])
        newest = store.number("SELECT max(id) FROM entries")
        for game in games:
            since = utc_now()
            _learn(store, game, parts, memory, newest)
            # Later and later, but by the number of the game and not by how long it took to get there.
            at = started + timedelta(milliseconds=game.number + 1)
            _date(store, since, at.isoformat(timespec="milliseconds"))
            store.write("INSERT INTO learnt (episode) VALUES (?)", [game.id])


def _reopen(store: Store, episodes: Sequence[int]) -> None:
    """Open games again, without a trace of what they noted for themselves, whose numbers are free again."""
    store.database.execute("PRAGMA defer_foreign_keys = ON")
    store.write(f"DELETE FROM entries WHERE episode IN ({marks(episodes)})", episodes)
    drop_dangling(store)
    newest = max(store.number("SELECT max(id) FROM entries"), looked_at(store))
    store.write("UPDATE sqlite_sequence SET seq = ? WHERE name = 'entries'", [newest])
    # Nor do they count as won or lost before their turn.
    store.write(
        f"UPDATE episodes SET finished = NULL, outcome = NULL, success = NULL WHERE id IN ({marks(episodes)})", episodes
    )


def _learn(store: Store, game: EpisodeRecord, parts: Sequence[Part], memory: MemoryPolicy, newest: int) -> None:
    """Do what an episode that was to learn would have done, by its recorded steps.

    Entries up to the number `newest` were there when it was played; what it recalled of its own notes has gone.
    """
    assert game.outcome is not None
    experience = memory.open(store, game.id, game.scope, game.world, True)
    workspace = Workspace(game.goal, lambda _: None, experience, parts)
    for step in journal.steps(store, game.id):
        action = parse_reply(step.reply).action
        if step.kind == ENVIRONMENT:
            workspace.absorb(step.observation, step.facts, step.number)
        elif isinstance(action, MetaAction) and action.verb == "recall":
            known = [number for number in step.recalled if number <= newest]
            mark_recalled(store, game.id, step.number, known, action.argument or game.goal)
        elif isinstance(action, MetaAction):
            workspace.answer(action, step.number)
    memory.close(store, game.id, game.outcome, bool(game.success), workspace.belief, True)


def _date(store: Store, since: str, at: str) -> None:
    """Give all that has changed since a time another time."""
    for table, column in (
        ("entries", "created"),
        ("entries", "confirmed"),
        ("entries", "last_recalled"),
        ("sightings", "at"),
    ):
        store.write(f"UPDATE {table} SET {column} = ? WHERE {column} >= ?", [at, since])
