"""How the results of an evaluation are shown: to a person, to a program, and as Markdown for a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..evaluation.results import Comparison, MethodResult

Rows = list[tuple[str, ...]]
_BRIEF = 40
"""The longest that a need of the tasks may be to be stated with the results."""


def dump_results(out: Path, methods: Sequence[MethodResult], comparisons: Sequence[Comparison]) -> None:
    """Print one JSON object."""
    from .screen import dump

    dump(
        {
            "out": str(out),
            "results": [asdict(each) for each in methods],
            "comparisons": [asdict(each) for each in comparisons],
        }
    )


def show_results(out: Path, methods: Sequence[MethodResult], comparisons: Sequence[Comparison]) -> None:
    """Print tables."""
    from .screen import line, row, table
    from .screen import out as console

    for head, *rest in (_by_method(methods), _by_type(methods)):
        listed = table(*head)
        for cells in rest:
            row(listed, *cells)
        console.print(listed)
    for said in (*_compared(comparisons), *_stated(methods)):
        console.print(line(said))
    console.print(line(f"every step: evoharness inspect runs --db {out}"))


def show_markdown(methods: Sequence[MethodResult], comparisons: Sequence[Comparison]) -> None:
    """Print the same as Markdown."""
    from .screen import line
    from .screen import out as console

    for head, *rest in (_by_method(methods), _by_type(methods)):
        rule = ("---:" if name.endswith("#") else "---" for name in head)
        for cells in (tuple(name.rstrip("#") for name in head), rule, *rest):
            console.print(line("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"), soft_wrap=True)
        console.print()
    for said in (*_compared(comparisons), *_stated(methods)):
        console.print(line(f"- {said}"), soft_wrap=True)


def _by_method(methods: Sequence[MethodResult]) -> Rows:
    means = ("steps#", "calls#", "invalid#")
    tokens = ("prompt tokens#", "evaluated#", "completion#")
    rows: Rows = [("method", "won#", "of#", "rate#", "95% interval#", *means, *tokens, "seconds#")]
    for each in methods:
        seconds = each.model_seconds + each.environment_seconds + each.harness_seconds
        rows.append(
            (
                each.method,
                f"{each.successes}",
                f"{each.n}" if each.n == each.of else f"{each.n} of {each.of}",
                f"{each.success_rate:.1%}",
                f"{each.ci_low:.1%} to {each.ci_high:.1%}",
                f"{each.steps_mean:.1f}",
                f"{each.calls_mean:.2f}",
                f"{each.invalid_mean:.1f}",
                f"{each.prompt_tokens:,}",
                f"{each.evaluated_tokens:,}",
                f"{each.completion_tokens:,}",
                f"{seconds:.0f}",
            )
        )
    return rows


def _by_type(methods: Sequence[MethodResult]) -> Rows:
    rows: Rows = [("task type", *(f"{each.method}#" for each in methods))]
    for kind in sorted({kind for each in methods for kind in each.by_type}):
        rates = (each.by_type.get(kind) for each in methods)
        rows.append((kind, *(f"{rate.successes} of {rate.n}" if rate else "" for rate in rates)))
    return rows


def _compared(comparisons: Sequence[Comparison]) -> list[str]:
    return [
        f"{pair.first} against {pair.second}: {pair.only_first} games only the first won, "
        f"{pair.only_second} only the second, p = {pair.p_value:.3g} (McNemar, {pair.n} games)"
        for pair in comparisons
    ]


def _stated(methods: Sequence[MethodResult]) -> list[str]:
    """Say how the methods were played: once what they share, then what is each one's own."""
    said = {each.method: _facts(each.played_as) for each in methods}
    if not said:
        return []
    first = next(iter(said.values()))
    shared = {key for key in first if all(facts.get(key) == first[key] for facts in said.values())}
    lines = ["played with " + "; ".join(first[key] for key in first if key in shared)]
    for label, facts in said.items():
        if own := [fact for key, fact in facts.items() if key not in shared]:
            lines.append(f"{label}: {'; '.join(own)}")
    return lines


def _facts(played_as: Mapping[str, Any]) -> dict[str, str]:
    model = played_as["fingerprint"]
    limits = ", ".join(f"{value} {key.replace('_', ' ')}" for key, value in played_as["limits"].items() if value)
    adapter = model.get("adapter")
    bank = played_as.get("bank") or {}
    name = bank.get("name", "none") + (f"@{bank['version']}" if bank.get("version") else "")
    every = played_as.get("evolve_every")
    needs: Mapping[str, Any] = played_as.get("needs") or {}
    facts = {
        "model": f"model {played_as['model']}" + (f" ({model['sha256'][:12]})" if "sha256" in model else ""),
        "adapter": f"adapter {adapter['file']} ({adapter['sha256'][:12]})" if adapter else "no adapter",
        "engine": str(model.get("engine", "")),
        "decode": f"decode {played_as['decode']}, temperature {played_as['temperature']}",
        "limits": f"limits {limits}",
        "admissible": f"admissible actions {'shown' if played_as['show_admissible'] else 'not shown'}",
        "experience": f"experience {played_as['experience']}",
        "curator": f"curator: {model['curator']}" if "curator" in model else "",
        "bank": f"bank {name}" + (f" ({bank['hash'][:12]})" if bank.get("hash") else ""),
        "evolve": f"learnt every {every} games" if every else "",
        "seeds": f"seeds {', '.join(map(str, played_as['seeds']))}",
        "tasks": _tasks(played_as),
        "needs": ", ".join(f"{key} {value}" for key, value in needs.items() if len(str(value)) <= _BRIEF),
        "version": f"evoharness {played_as['version']}",
    }
    return {key: fact for key, fact in facts.items() if fact}


def _tasks(played_as: Mapping[str, Any]) -> str:
    count, found = played_as.get("tasks", 0), played_as.get("tasks_sha256")
    if not found:
        return ""
    of = f" of {played_as['limited_from']}" if played_as.get("limited_from") else ""
    return f"{count}{of} tasks ({found[:12]})"
