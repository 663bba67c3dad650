"""The section of episodes that are no evaluation: how they ended, by type of task, and what they spent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ..evaluation.statistics import wilson
from ..experience.journal import EpisodeRecord
from ..harness import VERBS
from . import plots
from .content import Section, Table

KINDS_DRAWN = 30
MANY_KINDS = f"Drawn are the {KINDS_DRAWN} types of task with the most episodes."
_UNFINISHED = "unfinished"


def outcomes(episodes: Sequence[EpisodeRecord]) -> Section:
    """Return how episodes ended."""
    by_kind: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for episode in episodes:
        if episode.outcome is not None:
            by_kind[episode.kind].append(episode)
    counts = Counter(outcome_of(episode) for episode in episodes)
    remarks = [", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())] if counts else []
    drawn = []
    if by_kind:
        kinds = most_frequent({kind: len(found) for kind, found in by_kind.items()})
        if len(kinds) < len(by_kind):
            remarks.append(MANY_KINDS)
        drawn = [
            plots.intervals(
                "Success by type of task, with 95% intervals", {kind: _rate(by_kind[kind]) for kind in kinds}
            ),
            plots.stacked("Steps an episode", {kind: _steps(by_kind[kind]) for kind in kinds}),
        ]
    return Section("Outcomes", remarks, drawn, [_by_kind(by_kind)] if by_kind else [])


def most_frequent(counts: Mapping[str, int]) -> list[str]:
    """Return the types of task with the most episodes, as many as are drawn, in the order of their names."""
    return sorted(sorted(counts, key=lambda kind: (-counts[kind], kind))[:KINDS_DRAWN])


def outcome_of(episode: EpisodeRecord) -> str:
    """Return how an episode ended, or that it didn't, or that something outside failed."""
    return episode.outcome or ("fault" if episode.fault else _UNFINISHED)


def _rate(episodes: Sequence[EpisodeRecord]) -> plots.Interval:
    won = sum(bool(episode.success) for episode in episodes)
    return won / len(episodes), *wilson(won, len(episodes))


def _steps(episodes: Sequence[EpisodeRecord]) -> dict[str, float]:
    calls = {verb: _mean(episode.calls.get(verb, 0) for episode in episodes) for verb in VERBS}
    return {"actions": _mean(episode.steps for episode in episodes) - sum(calls.values()), **calls}


def _by_kind(by_kind: dict[str, list[EpisodeRecord]]) -> Table:
    columns = ["type", "won#", "95% interval#", "steps#", *(f"{verb}#" for verb in VERBS), "invalid#"]
    rows = []
    for kind, episodes in sorted(by_kind.items()):
        rate, low, high = _rate(episodes)
        rows.append(
            [
                kind,
                f"{sum(bool(each.success) for each in episodes)} of {len(episodes)} ({rate:.0%})",
                f"{low:.0%} to {high:.0%}",
                f"{_mean(each.steps for each in episodes):.1f}",
                *(f"{_mean(each.calls.get(verb, 0) for each in episodes):.2f}" for verb in VERBS),
                f"{_mean(each.invalid for each in episodes):.1f}",
                f"{sum(each.completion_tokens for each in episodes):,}",
                f"{sum(each.seconds for each in episodes):,.0f}",
            ]
        )
    return Table("By type of task: means an episode, and sums", [*columns, "tokens written#", "seconds#"], rows)


def _mean(values: Iterable[int]) -> float:
    counted = list(values)
    return sum(counted) / len(counted)
