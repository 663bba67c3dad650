"""Generates solvable ALFWorld games: a house, a goal in it, and the commands that reach the goal."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from ...samples import sample_folder
from .games import GAME_NAME, find_games, read_game
from .houses import House, make_house
from .problem import GOALS, problem_text
from .rooms import ROOMS
from .task_types import (
    LAMP,
    ROOMS_OF_TASK,
    SENTENCES,
    TASK_TYPES,
    CannotGenerate,
    GoalClasses,
    check_task_type,
    possible_goals,
)
from .walkthrough import solve

_HOUSES_A_SEED = 10_000
_STEPS_A_GOAL = 50
"""Charged steps that a task of several goals has for each."""


@dataclass(frozen=True)
class Game:
    """A generated game; its house's other games start in the same state."""

    house: House
    goal: GoalClasses
    seed: int
    task: str
    walkthrough: tuple[str, ...]

    @property
    def trial(self) -> str:
        """The name of the game's own folder, which its house and seed decide."""
        return f"trial_{self.house.seed}_{self.seed}"


def make_game(house: House, task_type: str, seed: int, excluding: Collection[GoalClasses] = ()) -> Game:
    """A game of a type in a house; the seed chooses among the house's goals and their wordings.

    Raises:
        CannotGenerate: the house allows no goal of the type beyond those in `excluding`.
    """
    goals = [goal for goal in possible_goals(house, task_type) if goal not in excluding]
    if not goals:
        further = "further " if excluding else ""
        raise CannotGenerate(
            f"The {house.room} of seed {house.seed} allows no {further}task of type {task_type}. "
            "Take another seed or room."
        )
    rng = random.Random(f"game {house.seed} {task_type} {seed}")
    # The object first, so that one that fits in many places is not asked for more often.
    kind = rng.choice(sorted({goal.object_kind for goal in goals}))
    goal = rng.choice([goal for goal in goals if goal.object_kind == kind])
    sentence = rng.choice(SENTENCES[task_type])
    task = sentence.format(goal.object_kind.lower(), goal.target_kind.lower())
    return Game(house, goal, seed, task, solve(house, goal, rng))


def make_games(
    count: int,
    seed: int,
    folder: Path | str,
    task_types: Sequence[str] | None = None,
    rooms: Sequence[str] | None = None,
    per_house: int = 1,
) -> list[Path]:
    """Write `count` games that take turns through the task types, and return their files in that order.

    A game joins an earlier house while one has fewer than `per_house` games and a goal of its type left.
    Houses are numbered per seed, so that different seeds (0 or more) share none.

    Raises:
        CannotGenerate: a task type or room is unknown, or no such room allows the task type.
        ValueError: the seed is negative.
    """
    types = tuple(task_types) if task_types else TASK_TYPES
    wanted = tuple(rooms) if rooms else ROOMS
    choices = {task_type: _rooms_for(task_type, wanted) for task_type in types}
    rng = random.Random(f"games {seed}")
    houses: list[House] = []
    goals: dict[House, list[GoalClasses]] = {}
    written: list[Path] = []
    next_house = seed * _HOUSES_A_SEED
    for number in range(count):
        task_type = types[number % len(types)]
        home = next(
            (
                house
                for house in houses
                if len(goals[house]) < per_house and set(possible_goals(house, task_type)) - set(goals[house])
            ),
            None,
        )
        while home is None:
            candidate = make_house(next_house, rng.choice(choices[task_type]))
            next_house += 1
            if possible_goals(candidate, task_type):
                home = candidate
                goals[home] = []
                houses.append(home)
        game = make_game(home, task_type, number, goals[home])
        goals[home].append(game.goal)
        houses = [house for house in houses if len(goals[house]) < per_house]
        written.append(write_game(game, folder))
    return written


def make_errands(
    count: int, goals: int, seed: int, folder: Path | str, rooms: Sequence[str] | None = None
) -> list[Path]:
    """Write `count` tasks of so many goals in one house, one after another, and return their task files in that order.

    The goals of a task are all different and take turns through the types that the room has. The games that they come
    from are written into `folder`/games.

    Raises:
        CannotGenerate: a room is unknown.
        ValueError: the seed is negative.
    """
    wanted = tuple(rooms) if rooms else ROOMS
    _rooms_for(TASK_TYPES[0], wanted)
    rng = random.Random(f"errands {seed}")
    written: list[Path] = []
    next_house = seed * _HOUSES_A_SEED
    while len(written) < count:
        house = make_house(next_house, wanted[len(written) % len(wanted)])
        next_house += 1
        types = [each for each in TASK_TYPES if house.room in ROOMS_OF_TASK[each] and possible_goals(house, each)]
        chosen: list[GoalClasses] = []
        games: list[Path] = []
        while types and len(games) < goals:
            task_type = types[len(games) % len(types)]
            if set(possible_goals(house, task_type)) <= set(chosen):
                types.remove(task_type)
                continue
            game = make_game(house, task_type, rng.randrange(_HOUSES_A_SEED), chosen)
            chosen.append(game.goal)
            games.append(write_game(game, Path(folder) / "games"))
        if len(games) == goals:
            written.append(_write_errand(house, games, Path(folder)))
    return written


def _write_errand(house: House, games: Sequence[Path], folder: Path) -> Path:
    first, *then = (str(game.relative_to(folder)) for game in games)
    task = {
        "environment": {"name": "alfworld", "game": first, "then": then},
        "scope": "alfworld",
        "limits": {"steps": _STEPS_A_GOAL * len(games)},
    }
    path = folder / f"{house.room}-{house.seed}.yaml"
    _write_whole(path, yaml.safe_dump(task, sort_keys=False))
    return path


def write_game(game: Game, folder: Path | str) -> Path:
    """Write a game and its `traj_data.json` in the official layout below `folder`; returns the game's file.

    The same game gives the same bytes. A file that is there already is replaced whole.

    Raises:
        CannotGenerate: the sample games, which the domain and grammar come from, are not there.
    """
    goal = game.goal
    task_folder = f"{goal.task_type}-{goal.object_kind}-None-{goal.target_kind}-{game.house.scene}"
    path = Path(folder) / task_folder / game.trial / GAME_NAME
    rules = _rules()
    pddl_goal = GOALS[goal.task_type].format(object=goal.object_kind, target=goal.target_kind)
    data = {
        "pddl_domain": rules.domain,
        "grammar": rules.grammar.replace(rules.task, game.task),
        "pddl_problem": problem_text(game.trial, game.house, pddl_goal),
        "solvable": True,
        "walkthrough": list(game.walkthrough),
    }
    under_lamp = goal.target_kind == LAMP
    trajectory = {
        "task_id": game.trial,
        "task_type": goal.task_type,
        "pddl_params": {
            "object_target": goal.object_kind,
            "parent_target": "" if under_lamp else goal.target_kind,
            "toggle_target": goal.target_kind if under_lamp else "",
            "mrecep_target": "",
            "object_sliced": False,
        },
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_json(path.with_name("traj_data.json"), trajectory)
    _write_json(path, data)
    return path


def _rooms_for(task_type: str, wanted: Sequence[str]) -> list[str]:
    check_task_type(task_type)
    unknown = [room for room in wanted if room not in ROOMS]
    if unknown:
        raise CannotGenerate(f"There is no room '{unknown[0]}'. The rooms are: {', '.join(ROOMS)}.")
    fitting = [room for room in wanted if room in ROOMS_OF_TASK[task_type]]
    if not fitting:
        raise CannotGenerate(
            f"A task of type {task_type} needs a {' or '.join(ROOMS_OF_TASK[task_type])}, "
            f"but the rooms to generate are: {', '.join(wanted)}."
        )
    return fitting


@dataclass(frozen=True)
class _Rules:
    """The texts that all games have in common, but for the task that the grammar states."""

    domain: str
    grammar: str
    task: str


@cache
def _rules() -> _Rules:
    """The rules of a game that comes along; alfworld, whose rules they are, isn't there on every Python."""
    games = find_games(sample_folder() / "alfworld")
    if not games:
        raise CannotGenerate(
            f"Generated games take their rules from the sample games, but there are none in {sample_folder()}. "
            "Reinstall evoharness-cli."
        )
    data = json.loads(games[0].read_text(encoding="utf-8"))
    return _Rules(data["pddl_domain"], data["grammar"], read_game(games[0]).task)


def _write_json(path: Path, data: Mapping[str, object]) -> None:
    _write_whole(path, json.dumps(data, indent=1) + "\n")


def _write_whole(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
