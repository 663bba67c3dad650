"""Reads ALFWorld game files and finds them, both the official splits and a folder of one's own."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from ...harness import OutsideFault, WrongUsage
from .heldout import DIVIDED, HELD_OUT, TRAINING, is_held_out

GAME_NAME = "game.tw-pddl"
DATA_VERSION = "json_2.1.1"

_TASK = re.compile(r"Your task is to:\s*(?P<task>(?:[^\"\\]|\\.)+)")
_PUT = re.compile(r'action PutObject \{\s*template :: "(?P<verb>\w+) ')
_FACT = re.compile(r"\([^()]*\)")
_TREATMENTS = {
    "(isclean ": "pick_clean_then_place_in_recep",
    "(ishot ": "pick_heat_then_place_in_recep",
    "(iscool ": "pick_cool_then_place_in_recep",
}


class GameFileError(OutsideFault):
    """A game file that cannot be read as one."""


class GamesNotFound(WrongUsage):
    """Official games that were asked for and are not there."""


@dataclass(frozen=True)
class GameFile:
    """What a game file says about its game, without starting the engine."""

    path: Path
    """The file itself."""
    task: str
    """The task sentence, as `heat some apple and put it in diningtable.`"""
    task_type: str
    """One of the six official type names, read off the PDDL goal; else `other`."""
    world: str
    """`house-` and ten hex digits over the initial facts: games that start in one state share a world."""
    walkthrough: tuple[str, ...]
    """The commands that solve the game; empty where the file has none."""
    says_move: bool = True
    """Whether a thing is put down with `move X to Y`; else, in older games, with `put X in/on Y`."""


def read_game(path: Path | str) -> GameFile:
    """Read one `game.tw-pddl`.

    Raises:
        GameFileError: there is no such file, or it is not an ALFWorld game.
    """
    path = Path(path)
    data = _read_object(path)
    texts = {key: _text(path, data, key) for key in ("pddl_domain", "grammar", "pddl_problem")}
    walkthrough = data.get("walkthrough") or []
    if not isinstance(walkthrough, list) or not all(isinstance(command, str) for command in walkthrough):
        raise GameFileError(
            f"The game file {path} should list commands under 'walkthrough', but has {_kind(walkthrough)}."
        )
    task = _TASK.search(texts["grammar"])
    if task is None:
        raise GameFileError(f"The grammar of the game file {path} states no task: it has no 'Your task is to: ...'.")
    initial, goal = _sections(path, texts["pddl_problem"])
    put = _PUT.search(texts["grammar"])
    return GameFile(
        path=path,
        task=task["task"].strip(),
        task_type=_task_type(goal),
        world=_world(initial),
        walkthrough=tuple(walkthrough),
        says_move=put is None or put["verb"] == "move",
    )


def find_games(folder: Path | str) -> list[Path]:
    """Every `game.tw-pddl` below `folder`, in the order of their paths; empty where there is none."""
    return sorted(Path(folder).rglob(GAME_NAME))


def split_games(split: str) -> list[Path]:
    """The playable games of an official split below `$ALFWORLD_DATA/json_2.1.1`, in the order of their paths.

    Leaves out what the official lists leave out by name: tasks with a movable receptacle or a sliced object.
    The files themselves are not opened. `heldout` and `training` are the two parts of `train` (see `heldout`).

    Raises:
        GamesNotFound: the data or the split is not there, or the split holds no game.
    """
    if split in (HELD_OUT, TRAINING):
        return [game for game in split_games(DIVIDED) if is_held_out(game) == (split == HELD_OUT)]
    data = Path(os.environ.get("ALFWORLD_DATA") or "~/.cache/alfworld").expanduser()
    root = data / DATA_VERSION
    if not root.is_dir():
        raise GamesNotFound(
            f"There are no ALFWorld games at {root}. Set ALFWORLD_DATA to the folder that holds "
            f"{DATA_VERSION}, or fetch the games with `alfworld-download`."
        )
    existing = sorted(entry.name for entry in root.iterdir() if entry.is_dir())
    if split not in existing:
        named = ", ".join(existing) if existing else "none at all"
        raise GamesNotFound(f"There is no split '{split}' in {root}. The splits there are: {named}.")
    games = [
        path
        for path in find_games(root / split)
        if not any(word in str(path.relative_to(root)) for word in ("movable", "Sliced"))
    ]
    if not games:
        raise GamesNotFound(f"The split '{split}' in {root} holds no {GAME_NAME}. Fetch the games again.")
    return games


def _read_object(path: Path) -> dict[str, object]:
    if path.is_dir():
        raise GameFileError(f"{path} is a folder. Name the {GAME_NAME} file inside it.")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GameFileError(f"There is no game file at {path}.") from None
    except OSError as error:
        raise GameFileError(f"The game file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise GameFileError(f"The game file {path} is not text, so it is not an ALFWorld game.") from error
    except json.JSONDecodeError as error:
        raise GameFileError(f"The game file {path} is not JSON: {error.msg} in line {error.lineno}.") from error
    if not isinstance(data, dict):
        raise GameFileError(f"The game file {path} should hold a JSON object, but holds {_kind(data)}.")
    return data


def _text(path: Path, data: dict[str, object], key: str) -> str:
    if key not in data:
        raise GameFileError(f"The game file {path} has no '{key}', which every ALFWorld game has.")
    value = data[key]
    if not isinstance(value, str):
        raise GameFileError(f"The game file {path} should have a text under '{key}', but has {_kind(value)}.")
    return value


def _sections(path: Path, problem: str) -> tuple[str, str]:
    start = problem.find("(:init")
    end = problem.find("(:goal", start)
    if start < 0 or end < 0:
        raise GameFileError(f"The problem in the game file {path} should have (:init ...) followed by (:goal ...).")
    return problem[start + len("(:init") : end], problem[end:]


def _task_type(goal: str) -> str:
    """The official type of a goal, told by the predicates that only goals of that type use."""
    flat = " ".join(goal.lower().split())
    for predicate, name in _TREATMENTS.items():
        if predicate in flat:
            return name
    if "(istoggled " in flat and "(holds " in flat:
        return "look_at_obj_in_light"
    if "(inreceptacle " not in flat:
        return "other"
    return "pick_two_obj_and_place" if "(not (= " in flat else "pick_and_place_simple"


def _world(initial: str) -> str:
    facts = sorted({" ".join(fact.split()) for fact in _FACT.findall(initial)})
    return f"house-{hashlib.sha256(chr(10).join(facts).encode()).hexdigest()[:10]}"


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    names = {
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), type(value).__name__)
