"""An episode as a memory policy sees it: what answers in it, what it was when it ended, and its closing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...harness.episode import ENVIRONMENT, FORMAT, Step
from ...harness.protocols import Answer
from ..drafts import LONGEST
from ..journal import require_open, steps
from ..recall import mark_recalled
from ..session import take_back
from ..shown import NOTHING, quote
from ..store import Store, storable, utc_now
from ..withdrawing import withdraw
from .items import Item, cut

_SHOWN_OBSERVATION = 160
_SHOWN_TRAJECTORY = 6000


class EpisodeMemory:
    """Implements the harness's Experience on a policy's bank, as `session.EpisodeExperience` does on the whole store.

    `find` returns the items for a query, best first. A note is refused: these policies learn from what happened.
    """

    def __init__(self, store: Store, episode: int, learn: bool, find: Callable[[str], Sequence[Item]]) -> None:
        self._store, self._episode, self._learn, self._find = store, episode, learn, find
        take_back(store, episode)

    def recall(self, query: str, step: int) -> Answer:
        """Return the items found, one a line, and count them as recalled."""
        found = [item.entry for item in self._find(query)]
        numbers = tuple(entry.id for entry in found)
        if self._learn:
            mark_recalled(self._store, self._episode, step, numbers, storable(query))
        return Answer("\n".join(quote(entry) for entry in found) or NOTHING, numbers)

    def note(self, insight: str, step: int, because: str) -> str:
        """Keep nothing, and say so."""
        del insight, step, because
        return "not kept: this memory is written when the task is over"


@dataclass(frozen=True)
class Case:
    """What happened in an episode, as far as it is compared with others."""

    kind: str
    goal: str
    success: bool
    actions: tuple[str, ...]
    """The environment's actions in order."""

    @property
    def shape(self) -> tuple[str, ...]:
        """The first word of each action, the same in a row once: what was done, whatever it was done to."""
        verbs = (action.split()[0].lower() for action in self.actions if action.strip())
        return tuple(verb for verb, _ in groupby(verbs))

    @property
    def text(self) -> str:
        """The case for a curator to read."""
        how = "succeeded" if self.success else "failed"
        return f"Task ({self.kind}): {self.goal}\nIt {how}. Actions: {'; '.join(self.actions)}"


@dataclass(frozen=True)
class Trajectory:
    """An episode that ended: its case, and every step."""

    task: str
    """The task's name."""
    case: Case
    steps: tuple[Step, ...]

    @property
    def text(self) -> str:
        """The whole of it for a curator to read, without the outcome; the beginning is left out where it is long."""
        lines = [f"Task ({self.case.kind}): {self.case.goal}"]
        for step in self.steps:
            lines += [f"> {step.action}"] if step.action else []
            lines += [cut(step.observation, _SHOWN_OBSERVATION)]
        return "\n".join(lines)[-_SHOWN_TRAJECTORY:]

    @property
    def failing(self) -> str | None:
        """The action that most often brought nothing that was not seen before, else the last; None without any."""
        seen: set[str] = set()
        fruitless: dict[str, int] = {}
        last = None
        for step in self.steps:
            if step.kind in (ENVIRONMENT, FORMAT) and step.action:
                last = step.action
                if step.invalid or step.observation in seen:
                    fruitless[last] = fruitless.get(last, 0) + 1
            seen.add(step.observation)
        return max(fruitless, key=lambda action: fruitless[action]) if fruitless else last


def task_of(store: Store, episode: int) -> str:
    """Return what items are retrieved for, besides what is asked: the goal and kind of an episode's task."""
    row = require_open(store, episode)
    return f"{row['goal']} {row['kind']}"


def read_trajectory(store: Store, episode: int, success: bool) -> Trajectory:
    """Return an episode that is about to be closed. Raises NotFound or EpisodeClosed."""
    row = require_open(store, episode)
    played = tuple(steps(store, episode))
    actions = tuple(cut(step.action, LONGEST) for step in played if step.kind == ENVIRONMENT and step.action)
    case = Case(row["kind"], cut(row["goal"], LONGEST), success, actions)
    return Trajectory(row["task"], case, played)


def finish(store: Store, episode: int, outcome: str, success: bool) -> None:
    """Close an episode, in the caller's transaction where there is one, and say nothing else of it."""
    with store.transaction():
        require_open(store, episode)
        store.write(
            "UPDATE episodes SET finished = ?, outcome = ?, success = ?, fault = NULL WHERE id = ?",
            [utc_now(), outcome, success, episode],
        )


def finish_unlearned(store: Store, episode: int, outcome: str, success: bool) -> None:
    """Close an episode that teaches nothing."""
    with store.transaction():
        require_open(store, episode)
        withdraw(store, episode, 0, "the run was not to learn")
        finish(store, episode, outcome, success)
