"""Whether the policy that comes along notices that what it recalls is wrong, writes it down, and still wins.

    python -m benchmarks.surprises [--games 50] [--work build/surprises]

Takes games of the held-out scenes below ALFWORLD_DATA, spread evenly. For each someone mistaken has noted, in a copy of
the policy's bank, a place of that very house where the thing that the task needs is not. The games are played with that
bank and with the policy's own, greedy, 50 charged steps. It goes on where it was interrupted. The last line is JSON:
games won with each, those in which the policy itself noted where the thing really was and won, and calls an episode.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from evoharness_cli.environments.alfworld.adapter import AlfworldAdapter
from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.games import read_game, split_games
from evoharness_cli.environments.alfworld.simulator import SimulatorEngine
from evoharness_cli.experience import journal
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import VERBS, Step
from evoharness_cli.harness.belief import kind_of
from evoharness_cli.policies import named
from evoharness_cli.policies.bank import bring

POLICY = "alfworld-smollm2-135m"
_TAKEN = re.compile(r"take (?P<thing>.+?) from (?P<place>.+)")


def main() -> None:
    """Make the banks, play, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--work", type=Path, default=Path("build/surprises"))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    games = split_games("heldout")
    chosen = [number * len(games) // options.games for number in range(options.games)]
    mistaken = options.work / "mistaken.db"
    if not mistaken.exists():
        make_bank(mistaken, [games[number] for number in chosen])
    tasks = [f"alfworld:heldout/{number}" for number in chosen]
    figures: dict[str, object] = {"games": len(tasks)}
    for name, bank in (("surprised", str(mistaken)), ("unsurprised", POLICY)):
        out = options.work / f"{name}.db"
        command = [sys.executable, "-m", "evoharness_cli", "eval", "--out", str(out)]
        begin = [*tasks, "--method", "bpe", "--bank", bank]
        subprocess.run([*command, *(["--resume"] if out.exists() else begin)], check=True)
        won = noted = calls = 0
        episodes = list(read(out))
        for success, steps in episodes:
            won += success
            noted += success and has_noted(steps)
            calls += sum(step.kind in VERBS for step in steps)
        mean = round(calls / len(tasks), 2)
        print(f"{name:<12} won {won} of {len(tasks)}, {noted} of them with a note of the right place; {mean} calls")
        figures |= {f"won_{name}": won, f"noted_and_won_{name}": noted, f"calls_{name}": mean}
    print(json.dumps(figures))


def make_bank(path: Path, games: Sequence[Path]) -> None:
    """Write the policy's bank with a wrong place, in its own house, for the thing of each game."""
    policy = named(POLICY)
    assert policy
    unfinished = path.with_suffix(".partial")
    unfinished.unlink(missing_ok=True)
    rng = random.Random(0)
    with closing(Store.open(unfinished)) as store, closing(AlfworldAdapter()) as adapter:
        bring(policy, store)
        for game in games:
            environment = AlfworldEnvironment(read_game(game), SimulatorEngine())
            environment.reset()
            claim = next(each for each in heard(adapter, environment, rng) if not is_true(each, environment))
            add_entry(store, "note", claim, "alfworld", world=environment.brief.world)
        store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    unfinished.rename(path)


def heard(adapter: AlfworldAdapter, environment: AlfworldEnvironment, rng: random.Random) -> Iterator[str]:
    """Yield what someone might have noted of where the thing is."""
    while said := adapter.hearsay(environment, rng):
        yield said


def is_true(claim: str, environment: AlfworldEnvironment) -> bool:
    """Tell whether such a thing is at that place."""
    thing, _, place = claim.removeprefix("in this house the ").partition(" is in ")
    facts = environment.truth()
    return any((fact[0], kind_of(fact[1]), fact[-1]) == ("inreceptacle", thing, place) for fact in facts)


def read(path: Path) -> Iterator[tuple[bool, list[Step]]]:
    """Yield the episodes of an evaluation: whether each was won, and its steps."""
    with closing(Store.open(path)) as store:
        for run in journal.runs(store):
            for episode in journal.episodes(store, run.id):
                yield bool(episode.success), journal.steps(store, episode.id)


def has_noted(steps: Sequence[Step]) -> bool:
    """Tell whether the agent noted a place where it took the thing that the note is about."""
    taken = {
        (kind_of(match["thing"]), match["place"])
        for step in steps
        if not step.invalid and (match := _TAKEN.fullmatch(step.action))
    }
    return any(
        step.kind == "note" and any(f" {thing} " in step.action and place in step.action for thing, place in taken)
        for step in steps
    )


if __name__ == "__main__":
    main()
