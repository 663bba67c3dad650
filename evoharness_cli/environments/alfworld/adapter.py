"""ALFWorld as an environment of evoharness: where its tasks are, and one engine for all the games of a run."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel, ConfigDict

from ...harness import Environment, WrongUsage
from .. import Finding
from .check import check_games
from .engines import ChosenEngine, EngineName
from .environment import AlfworldEnvironment
from .games import GAME_NAME, GameFileError, find_games, read_game, split_games
from .generate import make_games
from .goal import read_goal
from .heldout import DIVIDED, is_held_out, scene_of
from .official import OfficialEngine, is_for_this_python, is_missing
from .scene import Engine
from .simulator import SimulatorEngine
from .teacher import AlfworldTeacher

_PLACE = re.compile(r"(?P<split>\w+)(?:/(?P<first>\d+)(?:-(?P<last>\d+))?)?")


class AlfworldNeeds(BaseModel):
    """What a task file says of an ALFWorld game."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    game: Path
    """The game.tw-pddl file; relative to the task file."""
    then: tuple[Path, ...] = ()
    """Games of the same house, the goals of which are to be reached after it, one after another."""
    engine: EngineName = EngineName.NATIVE
    """What plays it; a game that the native engine can't compile is played by the official one."""


class AlfworldAdapter:
    """Opens ALFWorld games, one after another; those that the official engine plays share its process."""

    needs = AlfworldNeeds

    def __init__(self) -> None:
        self._official = OfficialEngine()

    def locate(self, place: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the games of `SPLIT`, `SPLIT/N` or `SPLIT/N-M`, counted from 0 in the order of their paths."""
        match = _PLACE.fullmatch(place)
        if match is None:
            raise WrongUsage(f"expected alfworld:SPLIT, SPLIT/N or SPLIT/N-M; found alfworld:{place}")
        games = split_games(match["split"])
        first, last = 0, len(games) - 1
        if match["first"]:
            first = int(match["first"])
            last = int(match["last"] or first)
        if not first <= last < len(games):
            raise WrongUsage(
                f"the split {match['split']!r} has {len(games)} games, 0 to {len(games) - 1}; found {place}"
            )
        return [(f"{match['split']}/{number}", {"game": str(games[number])}) for number in range(first, last + 1)]

    def recognise(self, path: Path) -> list[tuple[str, dict[str, Any]]]:
        """Return a game file, or the games below a folder, each named by its task and trial."""
        games = find_games(path) if path.is_dir() else [path] if path.name == GAME_NAME else []
        return [(f"{game.parent.parent.name}/{game.parent.name}", {"game": str(game)}) for game in games]

    def open(self, needs: BaseModel, goal: str | None) -> AlfworldEnvironment:
        """Return the environment of one game. Raises GameFileError where those that follow aren't of its house."""
        assert isinstance(needs, AlfworldNeeds)
        game, then = read_game(needs.game), [read_game(path) for path in needs.then]
        if others := [each.path for each in then if each.world != game.world]:
            raise GameFileError(f"Expected games that begin as {needs.game} does under `then`, found {others[0]}.")
        return AlfworldEnvironment(game, ChosenEngine(needs.engine, self._official), goal, then)

    def teacher(self, seed: int, slips: float) -> AlfworldTeacher:
        """Return the built-in teacher; see `teacher`."""
        return AlfworldTeacher(seed, slips)

    def labels(self, needs: BaseModel) -> dict[str, str]:
        """Return the folder of a game's split, its scene, and the names of its task and trial."""
        assert isinstance(needs, AlfworldNeeds)
        trial = needs.game.parent
        scene = scene_of(needs.game)
        game = f"{trial.parent.name}/{trial.name}"
        return {"split": trial.parent.parent.name, "scene": "" if scene is None else str(scene), "game": game}

    def is_held_out(self, needs: BaseModel) -> bool:
        """Tell whether a game is in a held-out scene of `train`, or in one of the official splits for evaluation."""
        assert isinstance(needs, AlfworldNeeds)
        split = needs.game.parent.parent.parent.name
        return split.startswith("valid") or (split == DIVIDED and is_held_out(needs.game))

    def hearsay(self, environment: Environment, rng: Random) -> str | None:
        """Return a claim that what the task is about is at some place of the house, which it seldom is."""
        goal, places = read_goal(environment.brief.goal), environment.names()["receptacle"]
        if goal is None or not places:
            return None
        return f"in this house the {goal.thing} is in {rng.choice(sorted(places))}"

    def examine(self) -> Iterator[Finding]:
        """Play a game that is made for it on each engine, and count the official games."""
        yield _played("simulator", SimulatorEngine(), "pip install --force-reinstall evoharness-cli")
        if missing := is_missing():
            yield Finding("ALFWorld engine", missing, "pip install alfworld" if is_for_this_python() else None)
        else:
            yield _played("ALFWorld engine", self._official, "pip install --force-reinstall alfworld textworld")
        for split in ("train", "valid_seen"):
            yield _count(split)

    def close(self) -> None:
        """End the engine process."""
        self._official.close()


def _played(what: str, engine: Engine, remedy: str) -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        (checked,) = check_games(make_games(1, 0, folder), engine)
    if checked.fault:
        return Finding(what, checked.fault, remedy)
    return Finding(what, f"played a game in {checked.steps} steps")


def _count(split: str) -> Finding:
    what = f"ALFWorld {split}"
    try:
        return Finding(what, f"{len(split_games(split))} games")
    except WrongUsage as error:
        if os.environ.get("ALFWORLD_DATA"):
            return Finding(what, str(error), "set ALFWORLD_DATA to the folder that `alfworld-download` filled")
    return Finding(what, "no official games; the sample tasks need none")
