"""Draws how the calls of the harness change while a policy learns from what its episodes were worth.

    python -m benchmarks.annealing FOLDER [FOLDER ...] [--out docs]

Takes the folders of runs of `evoharness train rl`, of which each went on from the one before, and writes annealing.csv,
a row for each update, and annealing.svg. The last line is JSON: calls and success of the first and the last fifth.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import pyplot

from evoharness_cli.harness import VERBS

Row = dict[str, float]


def main() -> None:
    """Read the logs, write table and plot, print the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=Path("docs"))
    options = parser.parse_args()
    logs = [line for run in options.runs for line in (run / "log.jsonl").read_text().splitlines()]
    rows = [row(number, json.loads(line)) for number, line in enumerate(logs, 1)]
    with (options.out / "annealing.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    plot(rows, options.out / "annealing.svg")
    fifth = max(1, len(rows) // 5)
    said = {"updates": len(rows), **around("first", rows[:fifth]), **around("last", rows[-fifth:])}
    print(json.dumps(said))


def row(number: int, figures: dict[str, Any]) -> Row:
    """Return what is drawn of an update."""
    return {
        "update": number,
        "reward": round(figures["reward"], 4),
        "success": round(figures["success"], 4),
        "steps": round(figures["steps"], 3),
        "calls": round(sum(figures["calls"].values()), 4),
        **{verb: round(figures["calls"][verb], 4) for verb in VERBS},
        "entries": figures["bank"]["entries"],
        "episodes": figures["episodes"],
    }


def around(when: str, rows: Sequence[Row]) -> Row:
    """Return means over updates, each episode weighing the same."""
    episodes = sum(each["episodes"] for each in rows)
    return {
        f"{what}_{when}": round(sum(each[what] * each["episodes"] for each in rows) / episodes, 4)
        for what in ("calls", "success", "steps")
    }


def plot(rows: Sequence[Row], path: Path) -> None:
    """Draw calls by verb, success and steps, and the bank, one below the other."""
    updates = [each["update"] for each in rows]
    figure, (calls, success, bank) = pyplot.subplots(3, 1, sharex=True, figsize=(7, 8))
    calls.stackplot(updates, [[each[verb] for each in rows] for verb in VERBS], labels=VERBS, alpha=0.85)
    calls.set_ylabel("calls an episode")
    calls.set_ylim(bottom=0)
    calls.legend(loc="lower left", ncols=len(VERBS))
    success.plot(updates, [100 * each["success"] for each in rows], color="black")
    success.set_ylabel("% of episodes won")
    steps = success.twinx()
    steps.plot(updates, [each["steps"] for each in rows], color="tab:gray", linestyle=":")
    steps.set_ylabel("steps (dotted)")
    bank.plot(updates, [each["entries"] for each in rows])
    bank.set_ylabel("entries of the bank")
    bank.set_xlabel("update")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
