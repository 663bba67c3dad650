"""How far a policy comes in tasks of ten goals, past what fits its context, with the harness and without.

    python -m benchmarks.marathon [--houses 30] [--goals 10] [--context 4096] [--work build/marathon]

Makes tasks of several goals in one house, and plays them with the embedded model and the policy that comes along, as
`react` (no harness) and as `bpe` with the policy's bank, 50 charged steps a goal, greedy. It goes on where it was
interrupted. The last line is JSON: goals reached of each method, in how many houses one came further than the other,
and the two-sided sign test of that.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from evoharness_cli.environments.alfworld.generate import make_errands
from evoharness_cli.evaluation.statistics import mcnemar
from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store

SEED = 7
POLICY = "alfworld-smollm2-135m"
METHODS = ("react", "bpe")
_REACHED = "That is done."


def main() -> None:
    """Make the tasks, play them, print the goals reached and the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--houses", type=int, default=30)
    parser.add_argument("--goals", type=int, default=10)
    parser.add_argument("--context", type=int, default=4096, help="tokens that the transcript may have")
    parser.add_argument("--work", type=Path, default=Path("build/marathon"))
    options = parser.parse_args()
    out = options.work / "evaluation.db"
    if not out.exists():
        make_errands(options.houses, options.goals, SEED, options.work / "tasks")
    begin = [str(options.work / "tasks"), *(f"--method={method}" for method in METHODS), "--bank", POLICY]
    begin += ["--context", str(options.context)]
    command = [sys.executable, "-m", "evoharness_cli", "eval", "--out", str(out)]
    subprocess.run([*command, *(["--resume"] if out.exists() else begin)], check=True)
    reached, compacted = count(out)
    for method in METHODS:
        goals = reached[method]
        print(
            f"{method:<6} {sum(goals)} of {options.houses * options.goals} goals, all of them in "
            f"{goals.count(options.goals)} houses; the transcript was compacted in {compacted[method]}"
        )
    pairs = list(zip(reached["bpe"], reached["react"], strict=True))
    further, less, chance = mcnemar([(one > other, one < other) for one, other in pairs])
    print(
        json.dumps(
            {
                **{f"goals_{method}": sum(reached[method]) for method in METHODS},
                **{f"compacted_{method}": compacted[method] for method in METHODS},
                "bpe_further": further,
                "react_further": less,
                "p": round(chance, 6),
                "houses": options.houses,
                "goals": options.goals,
            }
        )
    )


def count(path: Path) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Return the goals reached in each house by method, and in how many houses the transcript outgrew the context."""
    reached: dict[str, list[int]] = {}
    compacted: dict[str, int] = {}
    with closing(Store.open(path)) as store:
        for run in journal.runs(store, limit=-1):
            label = run.settings["label"]
            episodes = [(each, journal.steps(store, each.id)) for each in journal.episodes(store, run.id)]
            reached[label] = [
                sum(_REACHED in step.observation for step in steps) + bool(each.success) for each, steps in episodes
            ]
            compacted[label] = sum(any(step.compacted for step in steps) for _, steps in episodes)
    return reached, compacted


if __name__ == "__main__":
    main()
