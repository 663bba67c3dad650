"""Plays official games by their own walkthroughs through the command line, and holds belief against the engine's state.

    ALFWORLD_DATA=... python -m benchmarks.walkthroughs [--per-type 10]

Takes the first games of each task type of `valid_seen`. First `evoharness run` plays them with scripted replies; then
each is played again, and after every step belief is compared with the engine about every object that was seen.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.games import GameFile, read_game, split_games
from evoharness_cli.environments.alfworld.official import OfficialEngine
from evoharness_cli.harness import Belief

from .agreement import disagreements

SPLIT = "valid_seen"


def main() -> None:
    """Play, compare, print a line a type and the counts as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-type", type=int, default=10, help="games of each task type, where there are as many")
    chosen = choose(parser.parse_args().per_type)
    won = play(chosen)
    totals = {"games": len(chosen), "won": 0, "steps": 0, "disagreements": 0}
    by_type: dict[str, list[bool]] = defaultdict(list)
    with OfficialEngine() as engine:
        for task, game in chosen.items():
            steps, wrong = compare(game, engine)
            by_type[game.task_type].append(won.get(task, False))
            totals["won"] += won.get(task, False)
            totals["steps"] += steps
            totals["disagreements"] += len(wrong)
            for line in wrong:
                print(f"{task}: {line}")
    for task_type, results in sorted(by_type.items()):
        print(f"{task_type:<32} {sum(results):>3} of {len(results)} won")
    print(json.dumps(totals))


def choose(per_type: int) -> dict[str, GameFile]:
    """Return the first games of each type by their task names."""
    chosen: dict[str, GameFile] = {}
    counts: dict[str, int] = defaultdict(int)
    for number, path in enumerate(split_games(SPLIT)):
        game = read_game(path)
        if counts[game.task_type] < per_type:
            counts[game.task_type] += 1
            chosen[f"{SPLIT}/{number}"] = game
    return chosen


def play(chosen: dict[str, GameFile]) -> dict[str, bool]:
    """Play the games through `evoharness run` with their walkthroughs as replies; return which were won."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "walkthroughs.json"
        script.write_text(json.dumps({task: game.walkthrough for task, game in chosen.items()}))
        command = [str(Path(sys.executable).with_name("evoharness")), "run", *(f"alfworld:{task}" for task in chosen)]
        options = ["--model", f"scripted:{script}", "--db", str(Path(folder) / "experience.db"), "--json"]
        options += ["--engine", "textworld"]
        done = subprocess.run([*command, *options], stdout=subprocess.PIPE, text=True, check=False)
    return {result["task"]: result["success"] for result in map(json.loads, done.stdout.splitlines())}


def compare(game: GameFile, engine: OfficialEngine) -> tuple[int, list[str]]:
    """Play a game by its walkthrough; return its steps and what belief had wrong, each with its step."""
    environment, belief = AlfworldEnvironment(game, engine), Belief()
    environment.reset()
    belief.absorb(environment.facts(), 0)
    start = environment.truth()
    wrong = [f"step 0: {line}" for line in disagreements(belief, start, start)]
    for number, command in enumerate(game.walkthrough, 1):
        environment.step(command)
        belief.absorb(environment.facts(), number)
        wrong += [f"step {number}: {line}" for line in disagreements(belief, environment.truth(), start)]
    return len(game.walkthrough), wrong


if __name__ == "__main__":
    main()
