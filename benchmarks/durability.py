"""Kills runs at random moments and goes on with them; nothing that was recorded may be lost.

    python -m benchmarks.durability [--kills 50] [--seed 0]

One store, runs of the twelve sample games with scripted replies. Each run's process is killed (SIGKILL) after a random
time and resumed until it ends. After every kill the store must open, be whole, and hold each step that it held before
and each that the process had printed; at the end every episode must have been won by exactly the script's actions.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import yaml

from evoharness_cli.experience import journal
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.store import Store

ORACLE = Path(__file__).parent.parent / "tests" / "scripts" / "alfworld-oracle.yaml"
COMMAND = [sys.executable, "-m", "evoharness_cli", "run"]
LONGEST = 4.0
"""Seconds after which a process that was not killed by then is left to end."""
STEP = re.compile(r"^ +\d+  \S", re.MULTILINE)
"""A step as the command line prints it, once it is recorded."""


def main() -> None:
    """Kill, look, resume; print what was found and the counts as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    counts = {"kills": 0, "runs": 0, "steps": 0, "lost": 0, "unsound": 0, "wrong": 0}
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "experience.db"
        while counts["kills"] < options.kills:
            counts["runs"] += 1
            _play_to_the_end(db, rng, counts, options.kills)
        with closing(Store.open(db)) as store:
            _judge(store, counts)
    for name, count in counts.items():
        print(f"{name:<8} {count}")
    print(json.dumps(counts))


def _play_to_the_end(db: Path, rng: random.Random, counts: dict[str, int], kills: int) -> None:
    """Play one run, killing its process again and again until enough were killed."""
    arguments = ["alfworld", "--model", f"scripted:{ORACLE}"]
    printed = db.with_name("printed.txt")
    while True:
        before = _look(db, counts)
        with printed.open("w") as output:
            process = subprocess.Popen([*COMMAND, *arguments, "--db", str(db)], stdout=output)
        if counts["kills"] >= kills:
            process.wait()
        else:
            time.sleep(rng.uniform(0, LONGEST))
        if process.poll() is not None:
            return
        process.kill()
        process.wait()
        counts["kills"] += 1
        after = _look(db, counts)
        counts["lost"] += sum(after.get(step) != action for step, action in before.items())
        said = len(STEP.findall(printed.read_text(encoding="utf-8")))
        counts["lost"] += max(0, said - (len(after) - len(before)))
        with closing(Store.open(db)) as store:
            newest = journal.latest_run(store)
        if newest is not None and newest.id == counts["runs"]:
            arguments = ["--resume", str(newest.id)]
        print(f"kill {counts['kills']}: {len(after)} steps", file=sys.stderr)


def _look(db: Path, counts: dict[str, int]) -> dict[tuple[int, int], str]:
    """Return every recorded action by its episode and number, and count a store that isn't whole."""
    with closing(Store.open(db)) as store:
        counts["unsound"] += not health(store).sound
        return _steps(store)


def _steps(store: Store) -> dict[tuple[int, int], str]:
    """Return every recorded action by its episode and number."""
    return {
        (episode.id, step.number): step.action
        for run in journal.runs(store, limit=-1)
        for episode in journal.episodes(store, run.id)
        for step in journal.steps(store, episode.id)
        if step.number > 0
    }


def _judge(store: Store, counts: dict[str, int]) -> None:
    """Count the steps, and the episodes that were not won by exactly the script."""
    script = yaml.safe_load(ORACLE.read_text(encoding="utf-8"))
    for run in journal.runs(store, limit=-1):
        for episode in journal.episodes(store, run.id):
            actions = [step.action for step in journal.steps(store, episode.id)[1:]]
            counts["steps"] += len(actions)
            counts["wrong"] += not (episode.success and actions == script[episode.task])


if __name__ == "__main__":
    main()
