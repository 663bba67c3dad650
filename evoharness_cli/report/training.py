"""The section of a training run, from its log: an object a line, an update each.

What trains is not needed to read it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..harness import VERBS, WrongUsage
from . import plots
from .content import Plot, Section, Table

LOG, SETTINGS, ROLLOUTS, BANKS = "log.jsonl", "settings.json", "rollouts", "banks"
"""What lies in the folder of a run; see `training/checkpoint.py` and `training/rl_settings.py`."""

Figures = dict[str, Any]


@dataclass(frozen=True)
class _Curve:
    """A value of each update, by its path in the figures; `None` where an update has none."""

    name: str
    path: str

    def points(self, updates: Sequence[Figures]) -> tuple[list[float], list[float]]:
        """Return the numbers of updates, and the value of each."""
        found = [(each["update"], _at(each, self.path)) for each in updates]
        kept = [(number, float(value)) for number, value in found if isinstance(value, int | float)]
        return [number for number, _ in kept], [value for _, value in kept]


@dataclass(frozen=True)
class _Picture:
    """Curves that are drawn together; `noisy` ones with their running mean."""

    title: str
    curves: Sequence[_Curve]
    noisy: bool = True


_RL = (
    _Picture("Reward", [_Curve("mean of the episodes", "reward")]),
    _Picture("Success", [_Curve("share of episodes won", "success")]),
    _Picture("Calls an episode, by verb", [_Curve(verb, f"calls.{verb}") for verb in VERBS]),
    _Picture("Steps an episode", [_Curve("steps", "steps"), _Curve("invalid", "invalid")]),
    _Picture(
        "Bank",
        [_Curve("entries", "bank.entries"), _Curve("merged", "bank.merged"), _Curve("removed", "bank.removed")],
        noisy=False,
    ),
    _Picture("KL to what it began as", [_Curve("nats a token", "learnt.kl")]),
    _Picture("Entropy", [_Curve("nats a token", "learnt.entropy")]),
    _Picture(
        "Tokens a second",
        [_Curve("written while playing", "written_tokens_a_second"), _Curve("learnt", "learnt_tokens_a_second")],
    ),
)
_SFT = (
    _Picture("Loss", [_Curve("nats a token", "loss")]),
    _Picture("Learning rate", [_Curve("rate", "rate")], noisy=False),
    _Picture("Gradient", [_Curve("norm, before it was clipped", "norm")]),
    _Picture("Tokens a second", [_Curve("learnt", "tokens_a_second")]),
)
_RL_COLUMNS = (
    *(_Curve(name, name) for name in ("reward", "success", "steps")),
    *(_Curve(verb, f"calls.{verb}") for verb in VERBS),
    _Curve("entries", "bank.entries"),
    _Curve("KL", "learnt.kl"),
    _Curve("episodes", "episodes"),
    _Curve("tokens/s", "written_tokens_a_second"),
)
_SFT_COLUMNS = (*(_Curve(name, name) for name in ("loss", "rate", "norm")), _Curve("tokens/s", "tokens_a_second"))
_HELD_OUT = (_Curve("loss", "loss"), _Curve("accuracy", "accuracy"))
_ROWS = 25
"""The most updates that a table shows."""


def read_log(folder: Path) -> list[Figures]:
    """Return what the log of a run's folder says, oldest first; a line that was cut short is left out.

    Raises WrongUsage where there is no log.
    """
    try:
        lines = (folder / LOG).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUsage(f"Expected the log of a training run in {folder / LOG}, found none: {error}.") from error
    found = []
    for line in lines:
        try:
            figures = json.loads(line)
        except ValueError:
            continue
        if isinstance(figures, dict) and isinstance(figures.get("update"), int):
            found.append(figures)
    if not found:
        raise WrongUsage(f"Expected the updates of a training run in {folder / LOG}, found none yet.")
    return found


def training(log: Sequence[Figures]) -> Section:
    """Return the curves of a run, by demonstrations or by reinforcement."""
    updates = [each for each in log if not each.get("validation")]
    held_out = [each for each in log if each.get("validation")]
    if any("reward" in each for each in updates):
        drawn = [*_drawn(_RL, updates), *_reward_terms(updates)]
        return Section("Training", [], drawn, [_by_update("updates", updates, _RL_COLUMNS)])
    updates = [_with_speed(each) for each in updates]
    drawn, tables = _drawn(_SFT, updates), [_by_update("updates", updates, _SFT_COLUMNS)]
    if held_out:
        drawn += _drawn([_Picture("Demonstrations that are not learnt", _HELD_OUT, noisy=False)], held_out)
        tables.append(_by_update("looks at demonstrations that are not learnt", held_out, _HELD_OUT))
    return Section("Training", [], drawn, tables)


def _with_speed(update: Figures) -> Figures:
    seconds = update.get("seconds")
    return {**update, "tokens_a_second": update["tokens"] / seconds} if seconds and "tokens" in update else update


def _drawn(pictures: Sequence[_Picture], updates: Sequence[Figures]) -> list[Plot]:
    """Return the pictures of which there is something to draw."""
    plotted = []
    for picture in pictures:
        points = {curve.name: curve.points(updates) for curve in picture.curves}
        if found := {name: (at, values) for name, (at, values) in points.items() if at}:
            plotted.append(plots.curves(picture.title, "update", found, smooth=picture.noisy))
    return plotted


def _reward_terms(updates: Sequence[Figures]) -> list[Plot]:
    """Return the terms of the reward, those that ever counted."""
    counted = dict.fromkeys(term for each in updates for term, value in each.get("terms", {}).items() if value)
    return _drawn([_Picture("Terms of the reward", [_Curve(term, f"terms.{term}") for term in counted])], updates)


def _by_update(what: str, updates: Sequence[Figures], columns: Sequence[_Curve]) -> Table:
    """Return a table of so many updates, the first and the last among them, evenly apart."""
    last = len(updates) - 1
    chosen = sorted({round(place * last / (_ROWS - 1)) for place in range(_ROWS)})
    rows = [
        [f"{updates[place]['update']}", *(_number(_at(updates[place], column.path)) for column in columns)]
        for place in chosen
    ]
    return Table(f"{len(chosen)} of {len(updates)} {what}", ["update#", *(f"{each.name}#" for each in columns)], rows)


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else ""


def _at(figures: Figures, path: str) -> Any:
    """Return what stands at `a.b`, None where something on the way isn't there."""
    found: Any = figures
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found
