"""Plays games on two engines at once and tells where they differ; the comparisons of a whole run, done in processes."""

from __future__ import annotations

import json
import multiprocessing
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evoharness_cli.environments.alfworld.games import read_game
from evoharness_cli.environments.alfworld.official import OfficialEngine
from evoharness_cli.environments.alfworld.scene import Engine, Scene
from evoharness_cli.environments.alfworld.simulator import SimulatorEngine
from evoharness_cli.harness import OutsideFault

from .judge import Judge, prepare_process, remember_parsing

WALKS = 3
WALK_COMMANDS = 40
AFTER_WALKTHROUGH = 10
PROCESSES = 2
GAMES_A_PROCESS = 60
"""After so many games a process is replaced: the official engine's memory grows with each."""
VERB_WEIGHTS = {"look": 1, "inventory": 1, "help": 1, "examine": 2, "go": 4}


@dataclass(frozen=True)
class Case:
    """A comparison on one game."""

    game: str
    kind: str
    """`walkthrough`: it and seeded commands; `walks`: seeded walks; `judge`: a walk with the unchanged engine."""


@dataclass(frozen=True)
class Outcome:
    """What a comparison found."""

    case: Case
    commands: int
    differences: list[str]


def compare(case: Case) -> Outcome:
    """Play a case on both of its engines."""
    judge = Judge()
    path = Path(case.game)
    differences: list[str] = []
    played = 0
    other: Engine = OfficialEngine() if case.kind == "judge" else SimulatorEngine()
    try:
        if case.kind == "walkthrough":
            commands = list(read_game(path).walkthrough)
            played = play(judge, other, path, commands, AFTER_WALKTHROUGH, "after", differences)
        else:
            for walk in range(WALKS if case.kind == "walks" else 1):
                played += play(judge, other, path, (), WALK_COMMANDS, f"walk {walk}", differences)
    except (Exception, SystemExit) as error:
        differences.append(f"{path}: {type(error).__name__}: {error}")
    finally:
        other.close()
        judge.close()
    return Outcome(case, played, differences)


def play(
    judge: Engine,
    other: Engine,
    path: Path,
    first: Sequence[str],
    seeded: int,
    seed: str,
    differences: list[str],
) -> int:
    """Play the first commands and then seeded ones on both engines; add what differs, and return how many played."""
    rng = random.Random(f"{path.parent.parent.name}/{path.parent.name} {seed}")
    scene = judge.load(path)
    played: list[str] = []
    seen = list(scene.admissible)
    try:
        shown = other.load(path)
    except OutsideFault as error:
        differences.append(f"{path}: {error}")
        return 0
    for number in range(len(first) + seeded + 1):
        if scene != shown:
            differences.append(_difference(path, played, scene, shown))
            return number
        if number < len(first) + seeded:
            played.append(first[number] if number < len(first) else draw_command(rng, scene.admissible, seen))
            scene, shown = judge.step(played[-1]), other.step(played[-1])
            seen += [command for command in scene.admissible if command not in seen]
    if judge.truth() != other.truth():
        differences.append(f"{path}: the states differ after {played}")
    return len(played)


def draw_command(rng: random.Random, admissible: Sequence[str], seen: Sequence[str]) -> str:
    """Draw a command: mostly an admissible one, a verb that changes things more often, else one that may not be."""
    verbs = sorted({command.split()[0] for command in admissible})
    (verb,) = rng.choices(verbs, [VERB_WEIGHTS.get(verb, 9) for verb in verbs])
    command = rng.choice([command for command in admissible if command.split()[0] == verb])
    chance = rng.random()
    if chance < 0.7:
        return command
    if chance < 0.8:
        return rng.choice(seen)
    if chance < 0.85:
        moves = [command for command in seen if command.startswith("move ")]
        return rng.choice(moves).replace("move ", "put ").replace(" to ", " in/on ") if moves else "put it in/on it"
    return rng.choice(
        [
            f"  {command} ",
            command.capitalize(),
            command.replace(" 1", " 7"),
            f"{command}.",
            command.replace(" ", "  "),
            " ".join([verb, *rng.choice(seen).split()[1:]]),
            rng.choice(["", "wait", "help me", "put apple 1 in/on fridge 1", "examine", "go to the moon"]),
        ]
    )


def run_cases(cases: Iterable[Case]) -> Iterator[Outcome]:
    """Compare every case in worker processes, in whatever order they end."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(PROCESSES, _prepare, maxtasksperchild=GAMES_A_PROCESS) as pool:
        yield from pool.imap_unordered(compare, cases)


class Progress:
    """The outcomes so far, one JSON object a line; a line that a kill left unfinished doesn't count."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        self.outcomes = [_outcome(json.loads(line)) for line in whole]
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text("".join(whole), encoding="utf-8")
        unfinished.replace(path)

    def add(self, outcome: Outcome) -> None:
        """Write an outcome down."""
        self.outcomes.append(outcome)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


def _outcome(data: dict[str, object]) -> Outcome:
    case, commands, differences = data["case"], data["commands"], data["differences"]
    assert isinstance(case, dict) and isinstance(commands, int) and isinstance(differences, list)
    return Outcome(Case(**case), commands, differences)


def _prepare() -> None:
    prepare_process()
    remember_parsing()


def _difference(path: Path, played: Sequence[str], official: Scene, shown: Scene) -> str:
    lines = [f"{path}: after {played}"]
    for name in ("text", "admissible", "won"):
        left, right = getattr(official, name), getattr(shown, name)
        if left != right:
            lines += [f"  {name}, judge: {left!r}", f"  {name}, other: {right!r}"]
    return "\n".join(lines)
