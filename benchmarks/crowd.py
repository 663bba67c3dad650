"""Sixteen processes use one store at once, are killed at random, and nothing that was acknowledged is lost.

    python -m benchmarks.crowd [--processes 16] [--seconds 120] [--kills 40] [--seed 0]

Each process notes, recalls, plays episodes that note and are closed, consolidates, prunes, undoes and thins. First
they are left to end by themselves; then processes are killed (SIGKILL) and replaced. After each part the store must
be whole, hold every note that a process was told is kept, and no row may point at what isn't there. The last line is
JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evoharness_cli.experience import journal
from evoharness_cli.experience.drafts import draft_entry
from evoharness_cli.experience.evolve import close_episode
from evoharness_cli.experience.noting import add_entry, insert
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.session import EpisodeExperience
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.upkeep import consolidate, prune
from evoharness_cli.experience.upkeep.changes import NothingToUndo
from evoharness_cli.experience.upkeep.prune import Policy
from evoharness_cli.experience.upkeep.schedule import set_schedule
from evoharness_cli.experience.upkeep.thinning import thin, thinnable
from evoharness_cli.harness import Belief, Brief, Fact, Step

WORDS_LISTED = "open wash heat fridge mug plate kettle shelf drawer first twice never near lamp table"
WORDS = tuple(WORDS_LISTED.split())
COMMON = [f"{verb} the {thing} first" for verb in WORDS[:3] for thing in WORDS[3:10]]


def main() -> None:
    """Let the crowd loose, twice, and count what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.seed, options.seconds)
        return
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "experience.db"
        with Store.open(path) as store:
            # What is over capacity may be forgotten by and by, which would look like a loss here.
            set_schedule(store, every=25, capacity=0, keep_steps=40)
        for part, kills in (("together", 0), ("killed", options.kills)):
            crowd = Crowd(path, options.seconds, random.Random(options.seed))
            crowd.play(options.processes, kills)
            for name, value in judge(path, crowd).items():
                counts[f"{part}_{name}"] = value
    for name, value in counts.items():
        print(f"{name:<20} {value}")
    print(json.dumps(counts))


class Crowd:
    """The processes and the files into which each writes what it was told is kept."""

    def __init__(self, path: Path, seconds: float, rng: random.Random) -> None:
        self.path, self.seconds, self.rng = path, seconds, rng
        self.logs: list[Path] = []
        self.errors = 0
        self.killed = 0

    def play(self, processes: int, kills: int) -> None:
        """Start the processes, kill some and replace them, and wait for the end."""
        ends = time.monotonic() + self.seconds
        running = [self._start(ends) for _ in range(processes)]
        while self.killed < kills and time.monotonic() < ends - 1:
            time.sleep(self.seconds / (kills + 2))
            victim = self.rng.randrange(processes)
            if running[victim].poll() is None:
                running[victim].kill()
                running[victim].communicate()
                self.killed += 1
                running[victim] = self._start(ends)
        for process in running:
            _, errors = process.communicate()
            if process.returncode != 0:
                self.errors += 1
                print(errors, file=sys.stderr)

    def _start(self, ends: float) -> subprocess.Popen[str]:
        log = self.path.with_name(f"noted-{id(self)}-{len(self.logs)}.txt")
        self.logs.append(log)
        seconds = max(0.5, ends - time.monotonic())
        arguments = ["--worker", str(log), "--seed", str(self.rng.randrange(10**9)), "--seconds", str(seconds)]
        command = [sys.executable, "-m", "benchmarks.crowd", *arguments]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def work(log: Path, seed: int, seconds: float) -> None:
    """Use the store beside the log until the time is up; write down each note that was acknowledged."""
    rng = random.Random(seed)
    ends = time.monotonic() + seconds
    with Store.open(log.with_name("experience.db")) as store, log.open("w") as acknowledged:
        run = journal.begin_run(store, {"method": "crowd"})
        number = 0
        while time.monotonic() < ends:
            number += 1
            choice = rng.random()
            if choice < 0.45:
                text = f"visitor {seed} of turn {number} saw the {rng.choice(WORDS)}"
                add_entry(store, "note", text, "visits")
                print(text, file=acknowledged, flush=True)
            elif choice < 0.85:
                for text in episode(store, run, number, rng, seed):
                    print(text, file=acknowledged, flush=True)
            elif choice < 0.89:
                insert(store, draft_entry("note", rng.choice((str.lower, str.upper))(rng.choice(COMMON)), "imports"))
            elif choice < 0.93:
                consolidate.consolidate(store)
            elif choice < 0.97:
                policy = Policy(duplicates=True, scope="imports")
                prune.apply(store, prune.plan(store, policy), policy)
            elif choice < 0.99:
                thin(store, thinnable(store, keep=20)[:50])
            else:
                try:
                    rng.choice((prune.undo, consolidate.undo))(store)
                except NothingToUndo:
                    continue


def episode(store: Store, run: int, number: int, rng: random.Random, seed: int) -> list[str]:
    """Play an episode that recalls and notes, and close it; return what it noted of its own."""
    world = f"house-{rng.randrange(5)}"
    brief = Brief("put the kettle away", "tidy", world)
    own = begun = journal.begin_episode(store, run, number, "task", "crowd", "alfworld", brief, "alfworld", {})
    experience, belief = EpisodeExperience(store, own, "alfworld", world), Belief()
    journal.add_step(store, begun, Step(0, "environment", "You see a shelf."))
    place = f"shelf {rng.randrange(4)}"
    answer = experience.recall(f"{rng.choice(WORDS)} kettle", 1)
    journal.add_step(store, begun, Step(1, "recall", answer.text, recalled=answer.entries))
    news = belief.absorb([Fact("kettle 1", "at", place), Fact(place, "searched", "yes")], 2)
    journal.add_step(
        store, begun, Step(2, "environment", "You see a kettle.", action=f"go to {place}", facts=tuple(news))
    )
    text = f"guest {seed} of turn {number} left the {rng.choice(WORDS)}"
    for step, note in enumerate((rng.choice(COMMON), f"the kettle is on shelf {rng.randrange(4)}", text), 3):
        said = experience.note(note, step, "You see a kettle.")
        journal.add_step(store, begun, Step(step, "note", said, action=f"note [{note}]"))
    won = rng.random() < 0.6
    close_episode(store, own, "won" if won else "lost", won, belief)
    return [text]


def judge(path: Path, crowd: Crowd) -> dict[str, int]:
    """Count notes that are lost, rows without what they belong to, and what else is wrong with the store."""
    noted = [line for log in crowd.logs if log.exists() for line in log.read_text().splitlines()]
    with Store.open(path) as store:
        kept = {row["text"] for row in store.rows("SELECT text FROM entries")}
        found = health(store)
        orphans = (
            "SELECT count(*) FROM entries WHERE status = 'pending' AND episode IN "
            "(SELECT id FROM episodes WHERE finished IS NOT NULL)",
            "SELECT count(*) FROM entries WHERE status = 'active' AND superseded_by IS NOT NULL",
            "SELECT count(*) FROM entries WHERE status IN ('active', 'superseded') AND strength < 1",
            "SELECT count(*) FROM entries WHERE status = 'active' AND id NOT IN (SELECT entry FROM sources)",
            "SELECT count(*) FROM changes WHERE change_set NOT IN (SELECT id FROM change_sets)",
            "SELECT count(*) FROM steps WHERE episode NOT IN (SELECT id FROM episodes)",
        )
        return {
            "noted": len(noted),
            "lost": sum(text not in kept for text in noted),
            "errors": crowd.errors,
            "killed": crowd.killed,
            "orphans": sum(store.number(sql) for sql in orphans) + len(found.foreign_keys),
            "damage": len(found.integrity),
            "merged": store.number("SELECT count(*) FROM events WHERE kind = 'merged'"),
            "episodes": store.number("SELECT count(*) FROM episodes"),
        }


if __name__ == "__main__":
    main()
