"""Runs, episodes and steps as they happen, each written the moment it is known."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import __version__
from ..harness.episode import Step
from ..harness.protocols import Brief
from .claim import RunClaimed as RunClaimed
from .claim import playing as playing
from .entries import record_event, scopes_above
from .errors import NotFound, StoreError
from .step_rows import ADD_STEP, row_of, step_of
from .store import Store, storable, utc_now
from .vocabulary import RunStatus
from .withdrawing import withdraw


class DuplicateEpisode(StoreError):
    """The run has an episode of that number already."""


class DuplicateStep(StoreError):
    """A step of that number is already recorded; nothing was changed."""


class EpisodeBegun(StoreError):
    """Steps of the episode are recorded, which belong to what it was."""


class EpisodeClosed(StoreError):
    """The episode is over; nothing more can be added to it."""


@dataclass(frozen=True)
class RunRecord:
    """One run. `status` is None while it goes on, or when its process was killed; `pid` is the last to play it."""

    id: int
    settings: dict[str, Any]
    version: str
    pid: int
    started: str
    finished: str | None
    status: str | None
    episodes: int
    closed: int
    won: int


@dataclass(frozen=True)
class EpisodeRecord:
    """One episode. `outcome` and `success` are None until it is closed."""

    id: int
    run: int
    number: int
    task: str
    source: str
    environment: str
    goal: str
    kind: str
    world: str
    scope: str
    settings: dict[str, Any]
    """All that decided how it was played."""
    started: str
    finished: str | None
    outcome: str | None
    success: bool | None
    fault: str | None
    """What kept an unfinished episode from going on."""
    steps: int
    """Replies given; the first observation isn't counted."""
    calls: dict[str, int]
    """How many steps of each kind: `environment`, `format` and the four verbs."""
    prompt_tokens: int
    completion_tokens: int
    evaluated_tokens: int
    model_seconds: float
    environment_seconds: float
    harness_seconds: float
    invalid: int
    """How many steps were format errors or not admissible."""

    @property
    def seconds(self) -> float:
        """Seconds in all."""
        return self.model_seconds + self.environment_seconds + self.harness_seconds


def begin_run(store: Store, settings: Mapping[str, object]) -> int:
    """Record that a run begins, with settings that JSON can hold; return its id."""
    return store.write(
        "INSERT INTO runs (settings, version, pid, started) VALUES (?, ?, ?, ?)",
        [json.dumps(dict(settings)), __version__, os.getpid(), utc_now()],
    )


def finish_run(store: Store, run: int, status: str) -> None:
    """Record how a run ended: finished, interrupted or fault. A run that is taken up again may be finished again."""
    if status not in _ENDS:
        raise ValueError(f"a run ends as one of {', '.join(_ENDS)}; got {status!r}")
    store.write("UPDATE runs SET finished = ?, status = ? WHERE id = ?", [utc_now(), status, run])


def runs(
    store: Store,
    limit: int = 20,
    *,
    status: str | None = None,
    method: str | None = None,
    task: str | None = None,
) -> list[RunRecord]:
    """Return the latest runs, newest first: of a status, a `method` of the settings, with a task of that name.

    `status` is one of `RunStatus`. A task counts where the settings list it under `tasks`, even if the run didn't
    come to it.
    """
    where, values = ["1"], list[object]()
    if status is not None:
        ended = RunStatus(status)
        where.append("status IS ?")
        values.append(None if ended is RunStatus.UNFINISHED else ended)
    if method is not None:
        where.append("json_extract(settings, '$.method') = ?")
        values.append(method)
    if task is not None:
        where.append("? IN (SELECT json_extract(value, '$.name') FROM json_each(settings, '$.tasks'))")
        values.append(task)
    rows = store.rows(f"{_RUNS} WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?", [*values, limit])
    return [_run(row) for row in rows]


def run(store: Store, number: int) -> RunRecord:
    """Return one run. Raises NotFound."""
    row = store.row(f"{_RUNS} WHERE id = ?", [number])
    if row is None:
        raise NotFound(f"There is no run {number} in {store.path}.")
    return _run(row)


def latest_run(store: Store) -> RunRecord | None:
    """Return the run that began last, or None."""
    return next(iter(runs(store, 1)), None)


def begin_episode(
    store: Store,
    run: int,
    number: int,
    task: str,
    source: str,
    environment: str,
    brief: Brief,
    scope: str,
    settings: Mapping[str, object],
) -> int:
    """Record that an episode begins; return its id.

    `number` orders it in its run; `settings` are all that decides how it is played, as JSON can hold them. Raises
    DuplicateEpisode.
    """
    with store.transaction():
        if store.row("SELECT 1 FROM episodes WHERE run = ? AND number = ?", [run, number]):
            raise DuplicateEpisode(f"Episode number {number} of run {run} is already recorded.")
        stated = json.dumps(dict(settings))
        store.write("INSERT OR IGNORE INTO episode_settings (content) VALUES (?)", [stated])
        return store.write(
            "INSERT INTO episodes (run, number, task, source, environment, goal, kind, world, scope, started, played) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT id FROM episode_settings WHERE content = ?))",
            [
                run,
                number,
                storable(task),
                storable(source),
                environment,
                storable(brief.goal),
                brief.kind,
                brief.world,
                scopes_above(scope)[-1],
                utc_now(),
                stated,
            ],
        )


def add_step(store: Store, episode: int, step: Step) -> None:
    """Record a step, at once and for good. Raises DuplicateStep, EpisodeClosed or NotFound."""
    with store.transaction():
        require_open(store, episode)
        if store.row("SELECT 1 FROM steps WHERE episode = ? AND number = ?", [episode, step.number]):
            raise DuplicateStep(f"Step {step.number} of episode {episode} is already recorded.")
        store.write(ADD_STEP, [episode, *row_of(step), utc_now()])


def steps(store: Store, episode: int) -> list[Step]:
    """Return the recorded steps of an episode in order."""
    return [step_of(row) for row in store.rows("SELECT * FROM steps WHERE episode = ? ORDER BY number", [episode])]


def copy_beginning(store: Store, origin: int, last: int, run: int, number: int, settings: Mapping[str, object]) -> int:
    """Begin an episode of a run as a copy of another one up to a step, to be played on; return its id.

    `settings` go over those of the other one. What it had noted isn't copied. Raises DuplicateEpisode or NotFound.
    """
    before = episode(store, origin)
    with store.transaction():
        copy = begin_episode(
            store,
            run,
            number,
            before.task,
            before.source,
            before.environment,
            Brief(before.goal, before.kind, before.world),
            before.scope,
            {**before.settings, **settings},
        )
        for step in steps(store, origin):
            if step.number <= last:
                add_step(store, copy, step)
    return copy


def episodes(store: Store, run: int) -> list[EpisodeRecord]:
    """Return the episodes of a run by their number."""
    return _episodes(store, "run = ?", [run], "number", -1)


def episode(store: Store, number: int) -> EpisodeRecord:
    """Return one episode. Raises NotFound."""
    found = _episodes(store, "id = ?", [number], "id", 1)
    if not found:
        raise NotFound(f"There is no episode {number} in {store.path}.")
    return found[0]


def restart_episode(store: Store, episode: int, brief: Brief, why: str) -> None:
    """Drop an unfinished episode's steps, notes and recalls, and begin it anew with a brief.

    Raises EpisodeClosed or NotFound.
    """
    with store.transaction():
        require_open(store, episode)
        withdraw(store, episode, 0, why)
        store.write("DELETE FROM steps WHERE episode = ?", [episode])
        store.write("UPDATE episodes SET started = ?, fault = NULL WHERE id = ?", [utc_now(), episode])
        refresh_episode(store, episode, brief)
        record_event(store, "restarted", None, episode, why=why)


def refresh_episode(store: Store, episode: int, brief: Brief) -> None:
    """Bring an episode that has no steps yet up to date with its environment: goal, kind and world.

    Raises EpisodeBegun, EpisodeClosed or NotFound.
    """
    with store.transaction():
        require_open(store, episode)
        if store.row("SELECT 1 FROM steps WHERE episode = ?", [episode]):
            raise EpisodeBegun(f"Episode {episode} has recorded steps, to which its goal and world belong.")
        store.write(
            "UPDATE episodes SET goal = ?, kind = ?, world = ? WHERE id = ?",
            [storable(brief.goal), brief.kind, brief.world, episode],
        )


def fail_episode(store: Store, episode: int, message: str) -> None:
    """Record what kept an episode from going on; it stays unfinished and can be resumed."""
    with store.transaction():
        require_open(store, episode)
        store.write("UPDATE episodes SET fault = ? WHERE id = ?", [storable(message), episode])


def require_open(store: Store, episode: int) -> sqlite3.Row:
    """Return the row of an episode that can be added to. Raises NotFound or EpisodeClosed."""
    row = store.row("SELECT * FROM episodes WHERE id = ?", [episode])
    if row is None:
        raise NotFound(f"There is no episode {episode} in {store.path}.")
    if row["finished"] is not None:
        raise EpisodeClosed(f"Episode {episode} was closed at {row['finished']} ({row['outcome']}).")
    return row


_RUNS = """
    SELECT runs.*,
        (SELECT count(*) FROM episodes WHERE run = runs.id) AS episodes,
        (SELECT count(finished) FROM episodes WHERE run = runs.id) AS closed,
        (SELECT coalesce(sum(success), 0) FROM episodes WHERE run = runs.id) AS won
    FROM runs
"""


_ENDS = (RunStatus.FINISHED, RunStatus.INTERRUPTED, RunStatus.FAULT)


def _run(row: sqlite3.Row) -> RunRecord:
    return RunRecord(**{**dict(row), "settings": json.loads(row["settings"])})


def _episodes(store: Store, where: str, values: list[Any], order: str, limit: int) -> list[EpisodeRecord]:
    rows = store.rows(f"{_EPISODES} WHERE {where} ORDER BY {order} LIMIT ?", [*values, limit])
    sums: dict[int, list[sqlite3.Row]] = {}
    for each in store.rows(_SUMS, [json.dumps([row["id"] for row in rows])]):
        sums.setdefault(each["episode"], []).append(each)
    return [_episode(row, sums.get(row["id"], [])) for row in rows]


_EPISODES = """
    SELECT episodes.*, (SELECT content FROM episode_settings WHERE id = played) AS settings FROM episodes
"""
_SUMMED = (
    "invalid",
    "prompt_tokens",
    "completion_tokens",
    "evaluated_tokens",
    "model_seconds",
    "environment_seconds",
    "harness_seconds",
)
_SUMS = """
    SELECT episode, kind, sum(number > 0) AS count, sum(invalid) AS invalid, sum(prompt_tokens) AS prompt_tokens,
        sum(completion_tokens) AS completion_tokens, sum(evaluated_tokens) AS evaluated_tokens,
        sum(model_seconds) AS model_seconds, sum(environment_seconds) AS environment_seconds,
        sum(harness_seconds) AS harness_seconds
    FROM steps WHERE episode IN (SELECT value FROM json_each(?1)) GROUP BY episode, kind
    UNION ALL SELECT * FROM step_sums WHERE episode IN (SELECT value FROM json_each(?1))
"""


def _episode(row: sqlite3.Row, sums: list[sqlite3.Row]) -> EpisodeRecord:
    columns = dict(row)
    success = columns["success"]
    del columns["played"]
    return EpisodeRecord(
        **{
            **columns,
            "settings": json.loads(columns["settings"]),
            "success": None if success is None else bool(success),
        },
        steps=sum(each["count"] for each in sums),
        calls={each["kind"]: each["count"] for each in sums if each["count"]},
        **{column: sum(each[column] for each in sums) for column in _SUMMED},
    )
