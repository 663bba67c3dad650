"""Corrections: a teacher takes over where a policy went wrong, and shows how to go on from there.

The policy has played an evaluation by itself, so these are the states that it comes to, which a teacher's own episodes
hardly have (as in DAgger, Ross, Gordon and Bagnell 2011, arXiv 1011.0686). Each correction is an episode of the
evaluation up to a step, word for word, played on by the teacher; only what the teacher says is learnt.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..experience import journal
from ..experience.store import Store
from ..harness import Model, Step
from .demonstrations import Demonstration
from .evaluated import Evaluated, Replayer, copied, evaluated_episodes

LOST, WON = 6, 1
"""How often the teacher takes over in an episode that was lost or won, at most."""
LATEST = 35
"""The last step after which it takes over: later on, too much that is no example would have to be read."""
_MORE = 50
"""Steps that the teacher may take besides those of the episode."""
_REFUSED = ("not ", "still open", "nothing to block", "no subgoal")
"""How `commit` begins to answer where it changed nothing."""


@dataclass(frozen=True)
class Point:
    """The teacher takes over in an episode after a step."""

    episode: Evaluated
    step: int


def find_points(store: Store, seed: int) -> list[Point]:
    """Return where a teacher takes over in the episodes of an evaluation, in an order drawn by a seed.

    Raises WrongUsage where the store holds no evaluation.
    """
    episodes = evaluated_episodes(store)
    rng = random.Random(f"corrections {seed}")
    points = [
        Point(episode, step)
        for episode in episodes
        for step in _choose(journal.steps(store, episode.record.id), bool(episode.record.success), rng)
    ]
    rng.shuffle(points)
    return points


def _choose(steps: Sequence[Step], won: bool, rng: random.Random) -> list[int]:
    """Return the steps after which to take over: those that went wrong, and those before them.

    In an episode that was lost without any step that is known to be wrong, it may be any.
    """
    wrong = [number for number in range(1, len(steps)) if _is_wrong(steps, number)]
    around = {each for number in wrong for each in (number - 1, number)}
    if not around and not won:
        around = set(range(len(steps)))
    possible = sorted(step for step in around if step <= min(LATEST, len(steps) - 2))
    return sorted(rng.sample(possible, min(len(possible), WON if won else LOST)))


def _is_wrong(steps: Sequence[Step], number: int) -> bool:
    """Tell whether a step was refused, or was taken before and came to the same."""
    step = steps[number]
    refused = step.invalid or (step.kind == "commit" and step.observation.startswith(_REFUSED))
    return refused or any(
        (each.action, each.observation) == (step.action, step.observation) for each in steps[1:number]
    )


@dataclass
class Corrector(Replayer):
    """Makes demonstrations of points in the episodes of an evaluation."""

    teacher: Model

    def chapter(self, number: int, points: Sequence[Point]) -> Iterator[Demonstration]:
        """Yield what the teacher made of each point. Raises OutsideFault."""
        del number
        with copied(self.store) as store:
            for point in points:
                yield self._play_on(store, point.episode, point.step, self.teacher, _MORE)
