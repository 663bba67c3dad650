"""Kills runs at random moments and goes on with them; nothing that was recorded may be lost.

    python -m benchmarks.durability [--kills 50] [--seed 0]

One store, runs of the twelve sample games with scripted replies. Each run's process is killed (SIGKILL) after a random
time and resumed until it ends. After every kill the store must open, be whole, and still hold each step that it held
before; at the end every episode must have been won by exactly the script's actions.
"""

from __future__ import annotations

import argparse
import json
import random
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
COMMAND = [sys.executable, "-m", "evoharness_cli", "run", "--quiet"]
LONGEST = 8.0
"""Seconds after which a process that was not killed by then is left to end."""


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
    before: dict[tuple[int, int], str] = {}
    run = None
    while True:
        process = subprocess.Popen([*COMMAND, *arguments, "--db", str(db)], stdout=subprocess.DEVNULL)
        if counts["kills"] >= kills:
            process.wait()
        else:
            time.sleep(rng.uniform(0, LONGEST))
        if process.poll() is not None:
            return
        process.kill()
        process.wait()
        counts["kills"] += 1
        with closing(Store.open(db)) as store:
            counts["unsound"] += not health(store).sound
            now = _steps(store)
            counts["lost"] += sum(now.get(step) != action for step, action in before.items())
            before = now
            newest = journal.latest_run(store)
        if newest is not None and newest.id == counts["runs"]:
            run = newest.id
        arguments = ["--resume", str(run)] if run else arguments
        print(f"kill {counts['kills']}: {len(before)} steps", file=sys.stderr)


def _steps(store: Store) -> dict[tuple[int, int], str]:
    """Return every recorded action by its episode and number."""
    return {
        (episode.id, step.number): step.action
        for run in journal.runs(store, limit=-1)
        for episode in journal.episodes(store, run.id)
        for step in journal.steps(store, episode.id)
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
