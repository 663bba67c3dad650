"""What share of an episode is neither model nor simulator, and where it goes.

    ALFWORLD_DATA=... python -m benchmarks.harness [--games 4] [--steps 50]

Plays games of `valid_seen` with the embedded model, one episode after another, as `evoharness run` does: recorded in a
store on disk and printed step by step (to nowhere). Without official games it makes some. `harness_share` is one minus
the time inside llama.cpp's evaluation and inside the simulator, over the time from an episode's first line in the store
to its last: tokenising, constraints and choosing tokens count as the harness's. The small model hardly ever calls the
harness, so every fourth of its replies, once written, gives way to a call; recalls find what the games before left.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

from evoharness_cli.cli import live, screen
from evoharness_cli.environments.alfworld.adapter import AlfworldAdapter
from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.games import GamesNotFound
from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.environments.alfworld.simulator import SimulatorEngine
from evoharness_cli.experience import journal
from evoharness_cli.experience.policies.bpe import BpeMemory
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Constraint, Model, Reply, Transcript, Workspace, episode
from evoharness_cli.models import LlamaModel, load_model
from evoharness_cli.models.llama import Session
from evoharness_cli.models.native import library
from evoharness_cli.models.writing import Writer
from evoharness_cli.runs import play
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.runs.settings import RunSettings
from evoharness_cli.runs.task import Task

MODEL = "smollm2-135m"
CALLS = (
    "recall [where things are]",
    "commit [find it | take it | put it where it belongs]",
    "track []",
    "note [look in the closed places after the open ones]",
)
EVERY = 4
"""Which replies give way to a call."""

EVALUATING, SIMULATING = "llama.cpp evaluates", "the simulator plays"
REPLY = "the rest of a reply, the engine's thread waking up included"
_LLAMA = ("llama_decode", "llama_get_logits_ith", "llama_synchronize")
_STORE = ("begin_episode", "refresh_episode", "add_step", "steps", "episode", "episodes", "finish_run")
PARTS: tuple[tuple[str, object, tuple[str, ...]], ...] = (
    (SIMULATING, SimulatorEngine, ("load", "step")),
    ("prompt: rendered and tokenised", LlamaModel, ("prompt_ids",)),
    ("constraint: its patterns and names", episode, ("constrain",)),
    ("constraint: its automaton, and choosing tokens", Writer, ("__init__", "force", "choose")),
    (REPLY, Session, ("reply",)),
    ("reading the game file", AlfworldAdapter, ("open",)),
    ("observations read for facts and names", AlfworldEnvironment, ("reset", "step", "admissible", "names")),
    ("belief", Workspace, ("absorb",)),
    ("calls answered, recalls and notes with their store", Workspace, ("answer",)),
    ("store: run, episode and steps", journal, _STORE),
    ("store: closing the episode, votes and places", BpeMemory, ("close",)),
    ("printing", live.Steps, ("began", "stepped", "ended")),
)
"""Where time goes: what it is called, whose it is, and the functions in which it passes."""
LEFT = "everything else"


class Clock:
    """Adds up the time spent in named parts, that of a part within a part once, in the inner one."""

    def __init__(self) -> None:
        self._threads = threading.local()
        self._main = threading.get_ident()
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._elsewhere = 0.0

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time added to a part."""

        @wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            inner: list[float] = self._threads.__dict__.setdefault("inner", [])
            inner.append(0.0)
            started = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                spent = time.perf_counter() - started
                own = spent - inner.pop()
                if inner:
                    inner[-1] += spent
                self.seconds[part] += own
                if threading.get_ident() != self._main:
                    self._elsewhere += own

        return run

    def settled(self) -> dict[str, float]:
        """Return the seconds by part; while a reply waits for the engine's thread, they are that thread's parts'."""
        return {**self.seconds, REPLY: self.seconds[REPLY] - self._elsewhere}


@contextmanager
def installed(clock: Clock) -> Iterator[None]:
    """Time the parts while the block lasts."""
    llama = library()
    places = [*PARTS, (EVALUATING, llama, _LLAMA)]
    before = [(owner, name, getattr(owner, name)) for _, owner, names in places for name in names]
    for part, owner, names in places:
        for name in names:
            setattr(owner, name, clock.timed(part, getattr(owner, name)))
    try:
        yield
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


@dataclass
class Calling:
    """A model that writes every reply, and has every fourth of them replaced by a call of the harness."""

    inner: Model
    name: str
    asked: int = 0

    @property
    def fingerprint(self) -> Any:
        """The model's."""
        return self.inner.fingerprint

    def session(self, task: str) -> Calling:
        """Return one for an episode."""
        return Calling(self.inner.session(task), self.name)

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer with the model's reply, or a call."""
        reply = self.inner.reply(transcript, constraint, max_tokens, seed)
        self.asked += 1
        if self.asked % EVERY:
            return reply
        return replace(reply, text=CALLS[self.asked // EVERY % len(CALLS)])

    def close(self) -> None:
        """Free the model."""
        self.inner.close()


def main() -> None:
    """Play, print where the time went and the counts as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=4, help="how many episodes are played and counted")
    parser.add_argument("--steps", type=int, default=50, help="charged steps of an episode")
    options = parser.parse_args()
    screen.out.file = io.StringIO()
    clock = Clock()
    seconds: defaultdict[str, float] = defaultdict(float)
    wall, steps, calls = 0.0, 0, 0
    with tempfile.TemporaryDirectory() as folder, installed(clock):
        model = Calling(load_model(MODEL), MODEL)
        with Store.open(Path(folder) / "experience.db") as store:
            # The first one imports what is imported on first use, and isn't counted.
            for number, task in enumerate(choose(options.games + 1, options.steps, Path(folder))):
                clock.clear()
                spent, result = play_one(store, model, task)
                if number:
                    wall += spent
                    for part, own in clock.settled().items():
                        seconds[part] += own
                    steps += result.steps
                    calls += sum(result.calls.values())
        model.close()
    if not seconds[EVALUATING]:
        raise SystemExit("Nothing of llama.cpp's evaluation was seen: its functions are called in another way now.")
    report(seconds, wall, steps)
    rest = wall - seconds[EVALUATING] - seconds[SIMULATING]
    outside_reply = rest - sum(seconds[part] for part in _IN_REPLY)
    print(
        json.dumps(
            {
                "harness_share": round(rest / wall, 4),
                "harness_ms_a_step": round(rest / steps * 1000, 2),
                "outside_replies_share": round(outside_reply / wall, 4),
                "outside_replies_ms_a_step": round(outside_reply / steps * 1000, 2),
                "step_ms": round(wall / steps * 1000, 1),
                "episodes": options.games,
                "steps": steps,
                "calls": calls,
            }
        )
    )


_IN_REPLY = ("prompt: rendered and tokenised", "constraint: its automaton, and choosing tokens", REPLY)
"""The parts that pass between a transcript and its reply."""


def choose(count: int, steps: int, folder: Path) -> list[Task]:
    """Return so many tasks: games spread over `valid_seen`, or made ones where there are no official games."""
    try:
        found = find_tasks(["alfworld:valid_seen"])
    except GamesNotFound:
        make_games(count, 0, folder / "games")
        found = find_tasks([str(folder / "games")])
    chosen = itertools.islice(found[:: max(1, len(found) // count)], count)
    return [task.settled({"steps": steps}, None, None, {}) for task in chosen]


def play_one(store: Store, model: Model, task: Task) -> tuple[float, play.Result]:
    """Play one task as a run of its own; return the seconds from its first line in the store to its last."""
    settings = RunSettings(model=MODEL)
    run = play.start(store, [task], settings, model.fingerprint)
    started = time.perf_counter()
    with live.Steps(1) as watcher:
        (result,) = play.Run(store, run, settings, model, watcher).play([task])
    return time.perf_counter() - started, result


def report(seconds: Mapping[str, float], wall: float, steps: int) -> None:
    """Print a line a part, the longest first."""
    rows = {**seconds, LEFT: wall - sum(seconds.values())}
    print(f"{'':<62} {'ms a step':>10} {'share':>8}")
    for part, spent in sorted(rows.items(), key=lambda each: -each[1]):
        print(f"{part:<62} {spent / steps * 1000:10.3f} {spent / wall:8.2%}")


if __name__ == "__main__":
    main()
