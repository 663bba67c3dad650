"""The games of `train` in rooms that nothing is trained on, to tune for rooms that weren't seen in training."""

from __future__ import annotations

from functools import cache
from pathlib import Path

HELD_OUT, TRAINING = "heldout", "training"
"""The names of the two parts of `train`: the games of the held-out scenes, and the others."""
DIVIDED = "train"
_LIST = Path(__file__).with_name("heldout_scenes.txt")


@cache
def held_out_scenes() -> frozenset[int]:
    """Return the scenes that are held out; the file says how they were drawn."""
    lines = _LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(int(scene) for line in lines if not line.startswith("#") for scene in line.split())


def scene_of(game: Path) -> int | None:
    """Return the scene of a game file, None where its task folder's name doesn't end in one."""
    _, _, number = game.parent.parent.name.rpartition("-")
    return int(number) if number.isdigit() else None


def is_held_out(game: Path) -> bool:
    """Tell whether a game file of `train` is in a held-out scene."""
    return scene_of(game) in held_out_scenes()
