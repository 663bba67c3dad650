"""Twenty generated games played by a scripted agent on the native simulator, under one memory policy."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evoharness_cli.environments.alfworld.games import read_game
from evoharness_cli.experience import journal
from evoharness_cli.experience.entries import events
from evoharness_cli.experience.policies import MemoryPolicy, load_policy
from evoharness_cli.experience.policies.items import Bank, Item
from evoharness_cli.experience.store import Store
from evoharness_cli.models import ScriptedModel
from evoharness_cli.runs.play import Run, Unwatched, start
from evoharness_cli.runs.settings import RunSettings
from evoharness_cli.runs.task import Task

GAMES = 20
STEPS = 24


def tasks_of(games: Sequence[Path]) -> list[Task]:
    """Return the games as tasks, named by their number from 1."""
    return [
        Task(f"game {number}", str(game), "alfworld", {"game": str(game)}, scope="alfworld").settled({"steps": STEPS})
        for number, game in enumerate(games, 1)
    ]


def script(game: Path, won: bool) -> list[str]:
    """Return what wins a game after a recall and a note; or what does the same, but puts the thing back at the end."""
    walkthrough = list(read_game(game).walkthrough)
    take = next(action for action in walkthrough if action.startswith("take "))
    thing, place = take.removeprefix("take ").split(" from ")
    asking = [f"recall [{thing}]", f"note [the {thing} is at {place}]"]
    if won:
        return asking + walkthrough
    lost = [*walkthrough[:-1], f"go to {place}", f"move {thing} to {place}"]
    return [*asking, *lost, *itertools.repeat("look", STEPS - len(asking) - len(lost))]


def play(
    store: Store,
    games: Sequence[Path],
    policy: str | MemoryPolicy,
    wins: Iterable[bool],
    learn: bool = True,
    scripts: Mapping[str, Sequence[str]] | None = None,
) -> int:
    """Play games one after another, won or lost as asked; return the run."""
    memory = load_policy(policy) if isinstance(policy, str) else policy
    tasks = tasks_of(games)
    wanted = list(wins)
    scripted = scripts or {task.name: script(game, won) for task, game, won in zip(tasks, games, wanted, strict=True)}
    settings = RunSettings("scripted", experience=memory.name, learn=learn)
    run = start(store, tasks, settings, {})
    results = Run(store, run, settings, ScriptedModel.of(scripted), Unwatched(), memory=memory).play(tasks)
    if scripts is None:
        assert [result.success for result in results] == wanted
    return run


def observed(store: Store, run: int, kind: str) -> list[str]:
    """Return what the steps of a kind were answered, in order."""
    return [
        step.observation
        for episode in journal.episodes(store, run)
        for step in journal.steps(store, episode.id)
        if step.kind == kind
    ]


def bank(store: Store, policy: str) -> Bank:
    """Return what a policy keeps of the games."""
    return Bank(store, policy, "alfworld")


def history(store: Store, item: Item | int, *kinds: str) -> list[dict[str, object]]:
    """Return the details of an item's events of some kinds."""
    number = item if isinstance(item, int) else item.entry.id
    return [event.detail for event in events(store, number) if event.kind in kinds]
