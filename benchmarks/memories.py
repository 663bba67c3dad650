"""What each memory policy is worth to the policy that comes along, after so many games.

    python -m benchmarks.memories [--games 50] [--after 0 50 200 500] [--memories append bpe] [--work FOLDER]

The policy plays training games below ALFWORLD_DATA without a memory, greedy, 50 charged steps. Each memory begins empty
and learns from these same episodes, which are played to it again; what decides is the deterministic stand-in where a
memory has a curator. After so many games it is kept as it is, and the policy plays other games of the same houses with
it. It goes on where it was interrupted. The last line is JSON: for each memory and number of games how many were won,
the steps of those, and calls an episode.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from evoharness_cli.environments.alfworld.games import split_games
from evoharness_cli.evaluation.evaluate import evaluation_runs
from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import VERBS

MEMORIES = ("none", "append", "expel", "reasoningbank", "skillrl", "skillos", "bpe")
_EVERY = 8
"""Games after which a memory learns, as many as are played at once."""

Figures = dict[str, float]


def main() -> None:
    """Play, and print a table and the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--after", type=int, nargs="+", default=[0, 50, 200, 500])
    parser.add_argument("--memories", nargs="+", default=list(MEMORIES), choices=MEMORIES)
    parser.add_argument("--work", type=Path, default=Path("build/memories"))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    counts = sorted(options.after)
    count = len(split_games("training"))
    learnt = [number * count // counts[-1] for number in range(counts[-1])] if counts[-1] else []
    # Each the next game after one that may be learnt from, which mostly is in the same house.
    others = sorted(set(range(count)) - set(learnt))
    tasks = [f"alfworld:training/{others[number * len(others) // options.games]}" for number in range(options.games)]
    script = play(options.work, [f"alfworld:training/{number}" for number in learnt])
    found: dict[str, dict[int, Figures]] = {memory: {} for memory in options.memories}
    for count in counts:
        for memory in options.memories:
            bank = learn(options.work, script, memory, [each for each in counts if each <= count], learnt)
            # Without a memory it makes no difference what was played before.
            out = options.work / (f"{memory}.db" if memory == "none" else f"{memory}-{count}.db")
            played = evaluate(options.work, out, tasks, memory, bank)
            found[memory][count] = played
            print(f"{memory:<14} after {count:>3} games: {played}", flush=True)
    print("\n| memory | " + " | ".join(f"after {count} games" for count in counts) + " |")
    print("| --- |" + " --- |" * len(counts))
    for memory, by_count in found.items():
        cells = [f"{each['won']} of {each['games']}, {each['steps_won']} steps" for each in by_count.values()]
        print(f"| {memory} | " + " | ".join(cells) + " |")
    print(json.dumps(found))


def play(work: Path, tasks: list[str]) -> Path:
    """Return a script of what the policy says in these games without a memory."""
    script = work / "played.json"
    if tasks and not script.exists():
        out = work / "played.db"
        once(work, out, *tasks, "--method", "bpe,experience=none", "--bank", "none")
        shown = program(work, "inspect", "run", "1", "--db", str(out), "--json")
        script.write_text(shown)
    return script


def learn(work: Path, script: Path, memory: str, counts: list[int], games: list[int]) -> str:
    """Return the bank of a memory after the last of these numbers of games; what it learnt isn't played again."""
    if memory == "none" or not counts[-1]:
        return "none"
    name = f"memory-{memory}"
    kept = work / f"{memory}-learnt-{counts[-1]}.db"
    if not (made := work / f"{memory}.made").exists():
        program(work, "banks", "create", name)
        made.touch()
    for before, until in pairwise([0, *[each for each in counts if each]]):
        tasks = [f"alfworld:training/{number}" for number in games[before:until]]
        model = f"scripted:{script.resolve()}"
        method = f"bpe,experience={memory}"
        out = work / f"{memory}-learnt-{until}.db"
        once(work, out, *tasks, "--model", model, "--method", method, "--bank", name, "--evolve-every", str(_EVERY))
    return str(kept)


def evaluate(work: Path, out: Path, tasks: list[str], memory: str, bank: str) -> Figures:
    """Return what is won with a bank that doesn't change."""
    once(work, out, *tasks, "--method", f"bpe,experience={memory}", "--bank", bank)
    with closing(Store.open(out)) as store:
        episodes = [each for planned in evaluation_runs(store) for each in journal.episodes(store, planned.run)]
    won = [each.steps for each in episodes if each.success]
    calls = sum(count for each in episodes for kind, count in each.calls.items() if kind in VERBS)
    return {
        "games": len(episodes),
        "won": len(won),
        "steps_won": round(sum(won) / max(1, len(won)), 2),
        "calls": round(calls / len(episodes), 2),
    }


def once(work: Path, out: Path, *begin: str) -> None:
    """Have an evaluation made, or gone on with where it was interrupted."""
    if not (done := out.with_suffix(".done")).exists():
        program(work, "eval", *(["--resume"] if out.exists() else begin), "--out", str(out))
        done.touch()


def program(work: Path, *arguments: str) -> str:
    """Run the program with banks of its own, below the work folder, and return what it prints."""
    environment = {**os.environ, "XDG_DATA_HOME": str((work / "data").resolve())}
    command = [sys.executable, "-m", "evoharness_cli", *arguments]
    return subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
