"""Runs, episodes and steps as they happen, each written the moment it is known."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evoharness_cli import __version__
from evoharness_cli.harness.belief import Fact
from evoharness_cli.harness.episode import Step
from evoharness_cli.harness.protocols import Brief

from .entries import record_event, scopes_above
from .store import NotFound, Store, StoreError, storable, utc_now
from .withdrawing import withdraw

FINISHED, INTERRUPTED, FAULT = "finished", "interrupted", "fault"
RUN_STATUSES = (FINISHED, INTERRUPTED, FAULT)


class DuplicateEpisode(StoreError):
    """The run has an episode of that number already."""


class DuplicateStep(StoreError):
    """A step of that number is already recorded; nothing was changed."""


class RunClaimed(StoreError):
    """Another process is playing the run."""


class EpisodeClosed(StoreError):
    """The episode is over; nothing more can be added to it."""


@dataclass(frozen=True)
class RunRecord:
    """One run. `status` is None while it goes on, or when its process was killed; `pid` tells which."""

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
    seconds: float
    """Seconds spent in the model and in the environment."""


def begin_run(store: Store, settings: Mapping[str, object]) -> int:
    """Record that a run begins, with settings that JSON can hold; return its id."""
    return store.write(
        "INSERT INTO runs (settings, version, pid, started) VALUES (?, ?, ?, ?)",
        [json.dumps(dict(settings), ensure_ascii=True), __version__, os.getpid(), utc_now()],
    )


def claim_run(store: Store, run: int) -> None:
    """Make this process the one that plays a run. Raises RunClaimed while another one plays it, and NotFound."""
    with store.transaction():
        row = store.row("SELECT pid, status FROM runs WHERE id = ?", [run])
        if row is None:
            raise NotFound(f"There is no run {run} in {store.path}.")
        if row["status"] is None and row["pid"] != os.getpid() and _alive(row["pid"]):
            raise RunClaimed(f"Run {run} is being played by process {row['pid']}. Wait for it, or end it first.")
        store.write("UPDATE runs SET pid = ?, finished = NULL, status = NULL WHERE id = ?", [os.getpid(), run])


def finish_run(store: Store, run: int, status: str) -> None:
    """Record how a run ended: one of `RUN_STATUSES`. A run that is taken up again may be finished again."""
    if status not in RUN_STATUSES:
        raise ValueError(f"a run ends as one of {', '.join(RUN_STATUSES)}; got {status!r}")
    store.write("UPDATE runs SET finished = ?, status = ? WHERE id = ?", [utc_now(), status, run])


def runs(store: Store, limit: int = 20) -> list[RunRecord]:
    """Return the latest runs, newest first."""
    return [_run(row) for row in store.rows(f"{_RUNS} ORDER BY id DESC LIMIT ?", [limit])]


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
    store: Store, run: int, number: int, task: str, source: str, environment: str, brief: Brief, scope: str
) -> int:
    """Record that an episode begins; `number` orders it in its run. Return its id. Raises DuplicateEpisode."""
    with store.transaction():
        if store.row("SELECT 1 FROM episodes WHERE run = ? AND number = ?", [run, number]):
            raise DuplicateEpisode(f"Episode number {number} of run {run} is already recorded.")
        return store.write(
            "INSERT INTO episodes (run, number, task, source, environment, goal, kind, world, scope, started) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            ],
        )


def add_step(store: Store, episode: int, step: Step) -> None:
    """Record a step, at once and for good. Raises DuplicateStep, EpisodeClosed or NotFound."""
    with store.transaction():
        require_open(store, episode)
        if store.row("SELECT 1 FROM steps WHERE episode = ? AND number = ?", [episode, step.number]):
            raise DuplicateStep(f"Step {step.number} of episode {episode} is already recorded.")
        store.write(_ADD_STEP, [episode, *_row_of(step), utc_now()])


def steps(store: Store, episode: int) -> list[Step]:
    """Return the recorded steps of an episode in order."""
    return [_step(row) for row in store.rows("SELECT * FROM steps WHERE episode = ? ORDER BY number", [episode])]


def episodes(store: Store, run: int) -> list[EpisodeRecord]:
    """Return the episodes of a run by their number."""
    return _episodes(store, "run = ?", [run], "number", -1)


def episode(store: Store, number: int) -> EpisodeRecord:
    """Return one episode. Raises NotFound."""
    found = _episodes(store, "id = ?", [number], "id", 1)
    if not found:
        raise NotFound(f"There is no episode {number} in {store.path}.")
    return found[0]


def episodes_where(
    store: Store,
    *,
    run: int | None = None,
    environment: str | None = None,
    kind: str | None = None,
    world: str | None = None,
    success: bool | None = None,
    finished: bool | None = None,
    limit: int = 50,
) -> list[EpisodeRecord]:
    """Return the latest episodes, newest first, that are as asked."""
    asked = {"run": run, "environment": environment, "kind": kind, "world": world, "success": success}
    given = {column: value for column, value in asked.items() if value is not None}
    where = [f"{column} = ?" for column in given]
    if finished is not None:
        where.append(f"finished IS {'NOT ' if finished else ''}NULL")
    return _episodes(store, " AND ".join(where) or "1", list(given.values()), "id DESC", limit)


def restart_episode(store: Store, episode: int, why: str = "started over") -> None:
    """Drop an unfinished episode's steps, notes and recalls. Raises EpisodeClosed or NotFound."""
    with store.transaction():
        require_open(store, episode)
        withdraw(store, episode, 0, why)
        store.write("DELETE FROM steps WHERE episode = ?", [episode])
        store.write("UPDATE episodes SET started = ?, fault = NULL WHERE id = ?", [utc_now(), episode])
        record_event(store, "restarted", None, episode, why=why)


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


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


_RUNS = """
    SELECT runs.*,
        (SELECT count(*) FROM episodes WHERE run = runs.id) AS episodes,
        (SELECT count(finished) FROM episodes WHERE run = runs.id) AS closed,
        (SELECT coalesce(sum(success), 0) FROM episodes WHERE run = runs.id) AS won
    FROM runs
"""


def _run(row: sqlite3.Row) -> RunRecord:
    return RunRecord(**{**dict(row), "settings": json.loads(row["settings"])})


def _episodes(store: Store, where: str, values: list[Any], order: str, limit: int) -> list[EpisodeRecord]:
    rows = store.rows(f"SELECT * FROM episodes WHERE {where} ORDER BY {order} LIMIT ?", [*values, limit])
    sums: dict[int, list[sqlite3.Row]] = {}
    for each in store.rows(_SUMS, [json.dumps([row["id"] for row in rows])]):
        sums.setdefault(each["episode"], []).append(each)
    return [_episode(row, sums.get(row["id"], [])) for row in rows]


_SUMS = """
    SELECT episode, kind, sum(number > 0) AS count, sum(prompt_tokens) AS prompt_tokens,
        sum(completion_tokens) AS completion_tokens, sum(evaluated_tokens) AS evaluated_tokens,
        sum(model_seconds + environment_seconds) AS seconds
    FROM steps WHERE episode IN (SELECT value FROM json_each(?)) GROUP BY episode, kind
"""


def _episode(row: sqlite3.Row, sums: list[sqlite3.Row]) -> EpisodeRecord:
    success = row["success"]
    return EpisodeRecord(
        **{**dict(row), "success": None if success is None else bool(success)},
        steps=sum(each["count"] for each in sums),
        calls={each["kind"]: each["count"] for each in sums if each["count"]},
        prompt_tokens=sum(each["prompt_tokens"] for each in sums),
        completion_tokens=sum(each["completion_tokens"] for each in sums),
        evaluated_tokens=sum(each["evaluated_tokens"] for each in sums),
        seconds=sum(each["seconds"] for each in sums),
    )


_STEP_COLUMNS = tuple(Step.__dataclass_fields__)
_ADD_STEP = (
    f"INSERT INTO steps (episode, {', '.join(_STEP_COLUMNS)}, at) "
    f"VALUES (?, {', '.join('?' for _ in _STEP_COLUMNS)}, ?)"
)


def _row_of(step: Step) -> list[object]:
    values = {
        **{name: getattr(step, name) for name in _STEP_COLUMNS},
        "facts": json.dumps([[fact.subject, fact.relation, fact.object] for fact in step.facts]),
        "recalled": json.dumps(step.recalled),
    }
    return [storable(value) if isinstance(value, str) else value for value in values.values()]


def _step(row: sqlite3.Row) -> Step:
    values = {name: row[name] for name in _STEP_COLUMNS}
    values["charged"] = bool(row["charged"])
    values["facts"] = tuple(Fact(*parts) for parts in json.loads(row["facts"]))
    values["recalled"] = tuple(json.loads(row["recalled"]))
    return Step(**values)
