"""The best of several: of the episodes in which a policy won a task, the one that called the harness least.

A policy that learns from these does what it did itself when it did with least, so that it pays for what helped and
leaves out what didn't: expert iteration (Anthony, Tian and Barber 2017, arXiv 1705.08439), with sampling in place of a
search, as STaR has it for reasoning (Zelikman et al. 2022, arXiv 2203.14465).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..experience import journal
from ..experience.store import Store
from ..harness import VERBS, WrongUsage
from ..models.scripted import ScriptedModel
from .demonstrations import Demonstration
from .evaluated import Evaluated, Replayer, copied, evaluated_episodes


def find_best(store: Store) -> list[Evaluated]:
    """Return of each task of an evaluation the won episode with the fewest calls, and of these with the fewest steps.

    A task whose episodes were all won with as many calls is left out: none was better than the others. So is an episode
    whose transcript was cut because the context was full. Raises WrongUsage where the store holds no evaluation, or one
    of several methods, whose calls don't compare.
    """
    episodes = evaluated_episodes(store)
    methods = {episode.settings.label for episode in episodes}
    if len(methods) > 1:
        raise WrongUsage(f"Expected an evaluation of one method, found {', '.join(sorted(methods))}.")
    by_task: dict[int, list[Evaluated]] = {}
    for episode in episodes:
        by_task.setdefault(episode.record.number, []).append(episode)
    differing = [each for _, each in sorted(by_task.items()) if len({_worth(episode) for episode in each}) > 1]
    kept = [[episode for episode in each if _is_whole_win(store, episode)] for each in differing]
    return [min(each, key=lambda episode: (_calls(episode), episode.record.steps)) for each in kept if each]


def _worth(episode: Evaluated) -> tuple[bool, int]:
    """Return what sets an episode apart from others of its task; one lost is like another."""
    return (True, _calls(episode)) if episode.record.success else (False, 0)


def _calls(episode: Evaluated) -> int:
    return sum(episode.record.calls.get(verb, 0) for verb in VERBS)


def _is_whole_win(store: Store, episode: Evaluated) -> bool:
    return bool(episode.record.success) and not any(step.compacted for step in journal.steps(store, episode.record.id))


@dataclass
class Best(Replayer):
    """Makes demonstrations of episodes of an evaluation, each as it was."""

    def chapter(self, number: int, episodes: Sequence[Evaluated]) -> Iterator[Demonstration]:
        """Yield each episode. Raises OutsideFault."""
        del number
        with copied(self.store) as store:
            for episode in episodes:
                said = [step.reply for step in journal.steps(store, episode.record.id)[1:]]
                yield self._play_on(store, episode, 0, ScriptedModel.of(said))
