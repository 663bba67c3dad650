"""The section of an evaluation: its methods side by side, by type of task, what they spent, and in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..evaluation.results import Comparison, MethodResult, Rate
from ..harness import VERBS
from . import plots
from .content import Section, Table
from .outcomes import MANY_KINDS, most_frequent

_STATED = (
    *("model", "adapter", "decode", "temperature", "limits", "show_admissible", "experience", "bank"),
    *("tasks", "seeds", "version"),
)


def comparison(methods: Sequence[MethodResult], pairs: Sequence[Comparison]) -> Section:
    """Return what an evaluation found."""
    counts: Counter[str] = Counter()
    for each in methods:
        counts.update({kind: rate.n for kind, rate in each.by_type.items()})
    kinds = most_frequent(counts)
    by_type = {each.method: {kind: _interval(rate) for kind, rate in each.by_type.items()} for each in methods}
    drawn = [
        plots.intervals("Success, with 95% intervals", {each.method: _interval(each) for each in methods}),
        *([plots.grouped("Success by type of task", kinds, by_type)] if kinds else []),
        plots.stacked("Steps an episode", {each.method: _steps(each) for each in methods}),
    ]
    if pairs:
        drawn.append(
            plots.opposed(
                "Games that only one of two won",
                {(pair.first, pair.second): (pair.only_first, pair.only_second) for pair in pairs},
            )
        )
    remarks = [f"{each.method}: {each.n} of {each.of} episodes have ended." for each in methods if each.n < each.of]
    if len(kinds) < len(counts):
        remarks.append(MANY_KINDS)
    by_type_table = [_by_type(methods, sorted(counts))] if counts else []
    tables = [_by_method(methods), *by_type_table, *([_paired(pairs)] if pairs else []), _played_as(methods)]
    return Section("Comparison", remarks, drawn, tables)


def _interval(rate: Rate | MethodResult) -> plots.Interval:
    return rate.success_rate, rate.ci_low, rate.ci_high


def _steps(method: MethodResult) -> dict[str, float]:
    return {"actions": method.steps_mean - method.calls_mean, **method.calls_by_verb}


def _by_method(methods: Sequence[MethodResult]) -> Table:
    verbs = [f"{verb}#" for verb in VERBS]
    columns = ["method", "won#", "rate#", "95% interval#", "steps#", *verbs, "invalid#"]
    rows = [
        [
            each.method,
            f"{each.successes} of {each.n}",
            f"{each.success_rate:.1%}",
            f"{each.ci_low:.1%} to {each.ci_high:.1%}",
            f"{each.steps_mean:.1f}",
            *(f"{each.calls_by_verb[verb]:.2f}" for verb in VERBS),
            f"{each.invalid_mean:.1f}",
            f"{each.prompt_tokens:,}",
            f"{each.evaluated_tokens:,}",
            f"{each.completion_tokens:,}",
            f"{each.model_seconds + each.environment_seconds + each.harness_seconds:,.0f}",
            f"{each.faults}",
        ]
        for each in methods
    ]
    spent = ["prompt tokens#", "evaluated#", "written#", "seconds#", "faults#"]
    return Table("Methods: means an episode, and sums of tokens and seconds", [*columns, *spent], rows)


def _by_type(methods: Sequence[MethodResult], kinds: Sequence[str]) -> Table:
    rows = [[kind, *(_won(each.by_type.get(kind)) for each in methods)] for kind in kinds]
    return Table("Won by type of task", ["type", *(f"{each.method}#" for each in methods)], rows)


def _won(rate: Rate | None) -> str:
    return f"{rate.successes} of {rate.n} ({rate.success_rate:.0%})" if rate else ""


def _paired(pairs: Sequence[Comparison]) -> Table:
    columns = ["first", "second", "games#", "only first won#", "only second won#", "difference#", "p (McNemar)#"]
    rows = [
        [
            pair.first,
            pair.second,
            f"{pair.n}",
            f"{pair.only_first}",
            f"{pair.only_second}",
            f"{(pair.only_first - pair.only_second) / pair.n:+.1%}" if pair.n else "",
            f"{pair.p_value:.3g}",
        ]
        for pair in pairs
    ]
    return Table("Paired differences, on the episodes that both ended", columns, rows)


def _played_as(methods: Sequence[MethodResult]) -> Table:
    rows = []
    for key in _STATED:
        said = [_stated(key, each.played_as) for each in methods]
        if any(said):
            rows.append([key.replace("_", " "), *said])
    return Table("How they were played", ["", *(each.method for each in methods)], rows)


def _stated(key: str, played_as: Mapping[str, Any]) -> str:
    value = played_as.get(key)
    if key == "bank" and value:
        version, found, every = value.get("version"), value.get("hash"), played_as.get("evolve_every")
        learns = f", learns every {every} games" if every else ""
        return f"{value.get('name')}{f'@{version}' if version else ''}{f' ({found[:12]})' if found else ''}{learns}"
    if isinstance(value, dict):
        return ", ".join(f"{part} {name.replace('_', ' ')}" for name, part in value.items() if part)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
