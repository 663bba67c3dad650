"""Plays ten thousand scripted episodes into one store and looks at how it grows, merges and settles.

    python -m benchmarks.growth [--episodes 10000] [--work build/growth] [--out docs] [--minutes 0]

Generated games, three in each house, played through the harness by the native simulator. The scripted agent recalls
what it looks for, searches some places, notes where the thing was (now and then wrongly, now and then in other words)
and then follows the game's walkthrough. The store tends itself by its default schedule. It goes on where it was
interrupted; `--minutes` ends it after so many. Writes growth.csv, and growth.svg where matplotlib is installed; the
last line is JSON.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from evoharness_cli.environments.alfworld.games import read_game
from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.experience import journal
from evoharness_cli.experience.overview import health, size
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Constraint, Reply, Transcript
from evoharness_cli.runs.play import Run, Unwatched, start
from evoharness_cli.runs.settings import RunSettings
from evoharness_cli.runs.task import Task

CHUNK = 100
"""Episodes in a run, after each of which the store is looked at."""
PER_HOUSE = 3
LARGEST_MB = 20
_PLACE = re.compile(r"an? ([a-z]+ \d+)")
_TAKE = re.compile(r"take (?P<thing>[a-z]+) (?P<number>\d+) from (?P<place>[a-z]+ \d+)")
_WORDINGS = (
    "in this house the {thing} is on {place}",
    "the {thing} is in {place}",
    "the {thing} {number} was found on the {place}",
    "skill: look for a {thing} on every {kind} before anything else",
    "skill: look for the {thing} on every single {kind} before anything else",
    "skill: never search twice where a {thing} was missing, go on to the next {kind}",
)


@dataclass(frozen=True)
class Look:
    """What the store holds after so many episodes."""

    episodes: int
    noted: int
    """Entries ever made."""
    active: int
    dormant: int
    aside: int
    """Superseded, merged, pruned or dropped, and still to be undone."""
    forgotten: int
    recurrences: int
    """How often active entries were noted again, or merged."""
    steps: int
    megabytes: float
    seconds: float


@dataclass
class Player:
    """The scripted agent: what it does follows from the game's walkthrough and a seed."""

    walkthroughs: Mapping[str, tuple[str, ...]]
    task: str = ""
    plan: list[str] = field(default_factory=list)
    name: str = "growth"

    @property
    def fingerprint(self) -> dict[str, object]:
        """Return nothing: it is the same for every run."""
        return {}

    def session(self, task: str) -> Player:
        """Return the player of one episode."""
        return Player(self.walkthroughs, task)

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Return the next action of the plan, which the first observation decides."""
        del constraint, max_tokens, seed
        if not self.plan:
            self.plan = self._plan(transcript.messages[1].text)
        return Reply(self.plan[min(transcript.replies, len(self.plan) - 1)])

    def close(self) -> None:
        """Do nothing."""

    def _plan(self, opening: str) -> list[str]:
        rng = random.Random(self.task)
        walkthrough = self.walkthroughs[self.task]
        taken = next((match for action in walkthrough if (match := _TAKE.fullmatch(action))), None)
        if taken is None:
            return list(walkthrough)
        places = sorted(set(_PLACE.findall(opening)))
        thing, place = taken["thing"], taken["place"]
        plan = [f"recall [{thing}]", f"commit [find {thing} | take {thing} | finish]"]
        plan += [f"go to {each}" for each in rng.sample(places, min(2, len(places)))]
        for action in walkthrough:
            plan.append(action)
            if action == taken[0]:
                said = rng.choice(places) if rng.random() < 0.1 else place
                wording = rng.choice(_WORDINGS)
                note = wording.format(thing=thing, number=taken["number"], place=said, kind=said.split()[0])
                plan += ["commit [done]", "commit [done]", f"note [{note}]"]
        return plan


def main() -> None:
    """Play, look, write down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--work", type=Path, default=Path("build/growth"))
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--minutes", type=float, default=0)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    table = options.out / "growth.csv"
    ends = time.monotonic() + options.minutes * 60 if options.minutes else None
    with Store.open(options.work / "experience.db") as store:
        looks = read_looks(table) if journal.latest_run(store) else []
        while (number := len(looks)) * CHUNK < options.episodes and (ends is None or time.monotonic() < ends):
            began = time.monotonic()
            play_chunk(store, number, options.work / "games")
            looks.append(look(store, time.monotonic() - began))
            write_looks(table, looks)
            print(looks[-1], file=sys.stderr)
        sound = health(store).sound
    plotted = plot(looks, options.out / "growth.svg")
    last = looks[-1]
    rate = sum(each.seconds for each in looks) / last.episodes
    said = "plot written" if plotted else "no plot, for matplotlib is missing"
    print(f"{last.episodes} episodes, {rate * 1000:.0f} ms each; {said}")
    bounded = last.megabytes < LARGEST_MB
    print(json.dumps({**asdict(last), "ms_an_episode": round(rate * 1000), "bounded": bounded, "sound": sound}))


def play_chunk(store: Store, number: int, folder: Path) -> None:
    """Play a run of games of its own, on from where it was interrupted."""
    shutil.rmtree(folder, ignore_errors=True)
    games = make_games(CHUNK, number, folder, per_house=PER_HOUSE)
    tasks = [
        Task(f"game-{number}-{index}", f"game {index}", "alfworld", {"game": str(game)}, scope="alfworld").settled({})
        for index, game in enumerate(games)
    ]
    model = Player({task.name: read_game(game).walkthrough for task, game in zip(tasks, games, strict=True)})
    settings = RunSettings(model="growth")
    latest = journal.latest_run(store)
    run = latest.id if latest and latest.status != "finished" else start(store, tasks, settings, model.fingerprint)
    Run(store, run, settings, model, Unwatched()).play(tasks)
    shutil.rmtree(folder)


def look(store: Store, seconds: float) -> Look:
    """Count what is there, the write-ahead log folded into the file as it is when the store is closed."""
    store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    by_status = {
        row["status"]: row["count"]
        for row in store.rows("SELECT status, count(*) AS count FROM entries GROUP BY status")
    }
    noted, there = store.number("SELECT seq FROM sqlite_sequence WHERE name = 'entries'"), sum(by_status.values())
    return Look(
        episodes=store.number("SELECT count(*) FROM episodes WHERE finished IS NOT NULL"),
        noted=noted,
        active=by_status.get("active", 0),
        dormant=by_status.get("dormant", 0),
        aside=sum(by_status.get(status, 0) for status in ("superseded", "pruned", "dropped")),
        forgotten=noted - there,
        recurrences=store.number("SELECT sum(strength - 1) FROM entries WHERE status = 'active'"),
        steps=store.number("SELECT count(*) FROM steps"),
        megabytes=round(size(store) / 1e6, 2),
        seconds=round(seconds, 2),
    )


def read_looks(path: Path) -> list[Look]:
    """Return what was written before."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [Look(**{name: json.loads(value) for name, value in row.items()}) for row in rows]


def write_looks(path: Path, looks: list[Look]) -> None:
    """Write a table, one look a row."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [each.name for each in fields(Look)])
        table.writeheader()
        table.writerows(asdict(each) for each in looks)


def plot(looks: list[Look], path: Path) -> bool:
    """Draw entries and size over episodes; tell whether that could be done."""
    try:
        import matplotlib  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return False
    matplotlib.use("svg")
    from matplotlib import pyplot  # type: ignore[import-not-found,unused-ignore]

    episodes = [each.episodes for each in looks]
    figure, (upper, lower) = pyplot.subplots(2, 1, sharex=True, figsize=(7, 6))
    for name in ("active", "aside", "forgotten", "recurrences"):
        upper.plot(episodes, [getattr(each, name) for each in looks], label=name)
    upper.set_ylabel("entries")
    upper.legend()
    lower.plot(episodes, [each.megabytes for each in looks])
    lower.axhline(LARGEST_MB, linestyle=":")
    lower.set_ylabel("MB")
    lower.set_xlabel("episodes")
    figure.tight_layout()
    figure.savefig(path)
    return True


if __name__ == "__main__":
    main()
