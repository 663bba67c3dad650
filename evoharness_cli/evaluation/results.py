"""What an evaluation found, read from its store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..experience import journal
from ..experience.journal import EpisodeRecord, RunRecord
from ..experience.store import Store
from ..harness import VERBS
from ..runs.task import Task
from .evaluate import evaluation_runs
from .statistics import mcnemar, wilson


@dataclass(frozen=True)
class Rate:
    """How many of n episodes were won, with the 95 per cent Wilson interval of the rate."""

    n: int
    successes: int
    success_rate: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class MethodResult:
    """One method, all its seeds together. Means are per episode; tokens and seconds are sums."""

    method: str
    n: int
    of: int
    """How many episodes were asked for; `n` of them ended."""
    successes: int
    success_rate: float
    ci_low: float
    ci_high: float
    by_type: dict[str, Rate]
    steps_mean: float
    calls_mean: float
    calls_by_verb: dict[str, float]
    invalid_mean: float
    prompt_tokens: int
    completion_tokens: int
    evaluated_tokens: int
    model_seconds: float
    environment_seconds: float
    harness_seconds: float
    faults: int
    played_as: dict[str, Any]
    """All that could change the result: settings, limits, the model's fingerprint, the program's version."""


@dataclass(frozen=True)
class Comparison:
    """Two methods on the episodes that both ended: what only one of them won, and McNemar's exact p-value."""

    first: str
    second: str
    n: int
    only_first: int
    only_second: int
    p_value: float


def results(store: Store) -> tuple[list[MethodResult], list[Comparison]]:
    """Return what the evaluation in a store has found so far, in the order of its methods."""
    ended: dict[str, dict[tuple[int, int], EpisodeRecord]] = defaultdict(dict)
    asked: dict[str, int] = defaultdict(int)
    faults: dict[str, int] = defaultdict(int)
    seeds: dict[str, list[int]] = defaultdict(list)
    played_as: dict[str, dict[str, Any]] = {}
    for planned in evaluation_runs(store):
        label = planned.settings.label
        asked[label] += len(planned.tasks)
        record = journal.run(store, planned.run)
        seeds[label].append(planned.settings.seed)
        played_as[label] = {**_played_as(planned.tasks, record), "seeds": seeds[label]}
        for episode in journal.episodes(store, planned.run):
            if episode.outcome is not None:
                ended[label][planned.settings.seed, episode.number] = episode
            faults[label] += episode.outcome is None and episode.fault is not None
    found = [
        _method(label, asked[label], list(ended[label].values()), faults[label], played_as[label]) for label in asked
    ]
    return found, [_compare(one, other, ended) for one, other in combinations(asked, 2)]


def _played_as(tasks: Sequence[Task], record: RunRecord) -> dict[str, Any]:
    """Return all that could change what a run found, but for its seed."""
    own = ("tasks", "seed", "label", "evaluation")
    recorded = {key: value for key, value in record.settings.items() if key not in own}
    first = {"limits": dict(tasks[0].limits), "decode": tasks[0].decode} if tasks else {}
    return {**recorded, **first, **record.settings.get("evaluation", {}), "version": record.version}


def _method(
    label: str, of: int, episodes: Sequence[EpisodeRecord], faults: int, played_as: dict[str, Any]
) -> MethodResult:
    by_kind: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for episode in episodes:
        by_kind[episode.kind].append(episode)
    calls = {verb: _mean([episode.calls.get(verb, 0) for episode in episodes]) for verb in VERBS}
    rate = _rate(episodes)
    return MethodResult(
        method=label,
        n=rate.n,
        of=of,
        successes=rate.successes,
        success_rate=rate.success_rate,
        ci_low=rate.ci_low,
        ci_high=rate.ci_high,
        by_type={kind: _rate(by_kind[kind]) for kind in sorted(by_kind)},
        steps_mean=_mean([episode.steps for episode in episodes]),
        calls_mean=sum(calls.values()),
        calls_by_verb=calls,
        invalid_mean=_mean([episode.invalid for episode in episodes]),
        prompt_tokens=sum(episode.prompt_tokens for episode in episodes),
        completion_tokens=sum(episode.completion_tokens for episode in episodes),
        evaluated_tokens=sum(episode.evaluated_tokens for episode in episodes),
        model_seconds=sum(episode.model_seconds for episode in episodes),
        environment_seconds=sum(episode.environment_seconds for episode in episodes),
        harness_seconds=sum(episode.harness_seconds for episode in episodes),
        faults=faults,
        played_as=played_as,
    )


def _rate(episodes: Sequence[EpisodeRecord]) -> Rate:
    n, successes = len(episodes), sum(bool(episode.success) for episode in episodes)
    return Rate(n, successes, successes / n if n else 0.0, *wilson(successes, n))


def _compare(one: str, other: str, ended: dict[str, dict[tuple[int, int], EpisodeRecord]]) -> Comparison:
    games = sorted(ended[one].keys() & ended[other].keys())
    pairs = [(bool(ended[one][game].success), bool(ended[other][game].success)) for game in games]
    return Comparison(one, other, len(games), *mcnemar(pairs))


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
