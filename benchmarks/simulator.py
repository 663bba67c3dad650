"""How fast the native simulator of ALFWorld games is, and whether it says what the official engine says.

    python -m benchmarks.simulator [--games 20]
    python -m benchmarks.simulator --parity [--games 100] [--work build/parity]

Both read the official games below ALFWORLD_DATA. The first times loading and stepping against the official engine as it
is, and how memory grows over 1,000 loads. The second plays both engines side by side: on every game the walkthrough and
ten seeded commands, and on 600 of them and 300 generated ones three walks of 40 commands. It goes on where it was
interrupted, as long as the simulator is the same; `--games N` takes a sample.
"""

from __future__ import annotations

import argparse
import ast
import gc
import hashlib
import json
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

from evoharness_cli.environments import alfworld
from evoharness_cli.environments.alfworld.games import read_game, split_games
from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.environments.alfworld.scene import Engine
from evoharness_cli.environments.alfworld.simulator import SimulatorEngine

from .judge import Judge, prepare_process
from .parity import AFTER_WALKTHROUGH, Case, Progress, draw_command, run_cases

ALL = 3693
WALKED = 600
GENERATED = 300
JUDGED = 24
TIMED = 20
LOADS = 1000
WARMED = 250
"""How many games are loaded before memory is looked at: the allocator has its pools by then."""


def main() -> None:
    """Measure, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parity", action="store_true", help="compare instead of timing")
    parser.add_argument("--games", type=int, help="how many official games; all of them, or 20 to time")
    parser.add_argument("--work", type=Path, default=Path("build/parity"), help="where comparisons keep their progress")
    options = parser.parse_args()
    games = [*split_games("train"), *split_games("valid_seen")]
    random.Random(0).shuffle(games)
    if options.parity:
        compare_games(games, options.games, options.work)
    else:
        time_games(games, options.games or TIMED)


def time_games(games: list[Path], count: int) -> None:
    """Print the times of both engines on the same games and commands, and the growth of memory."""
    with multiprocessing.get_context("spawn").Pool(1, prepare_process) as pool:
        pairs = pool.map(time_game, [str(game) for game in games[:count]])
    growth = memory_growth(games)
    medians = {}
    for name in ("load_reset", "step"):
        official, native = (
            statistics.median(pair[engine][name] for pair in pairs) for engine in ("official", "native")
        )
        medians[f"{name}_ratio"] = round(official / native, 1)
        print(f"{name:<12} official {official * 1000:9.3f} ms   simulator {native * 1000:9.3f} ms")
    print(f"{'memory':<12} grew by {growth:.1f} MB over {LOADS} loads")
    print(json.dumps({**medians, "growth_mb": round(growth, 1), "games": count, "loads": LOADS}))


def time_game(game: str) -> dict[str, dict[str, float]]:
    """Return the seconds that either engine takes to load a game, and for a step; after one load of the simulator."""
    path = Path(game)
    SimulatorEngine().load(path)
    return {"official": time_engine(Judge(), path), "native": time_engine(SimulatorEngine(), path)}


def time_engine(engine: Engine, path: Path) -> dict[str, float]:
    """Return the seconds of the load with the opening, and the median of the steps."""
    walkthrough = read_game(path).walkthrough
    started = time.perf_counter()
    scene = engine.load(path)
    load = time.perf_counter() - started
    rng = random.Random(str(path))
    steps: list[float] = []
    seen = list(scene.admissible)
    for number in range(len(walkthrough) + AFTER_WALKTHROUGH):
        is_known = number < len(walkthrough)
        command = walkthrough[number] if is_known else draw_command(rng, scene.admissible, seen)
        started = time.perf_counter()
        scene = engine.step(command)
        steps.append(time.perf_counter() - started)
    engine.close()
    return {"load_reset": load, "step": statistics.median(steps)}


def memory_growth(games: list[Path]) -> float:
    """Return by how many MB this process grows while it loads a thousand games, after it has loaded some."""
    engine = SimulatorEngine()
    for game in games[:WARMED]:
        engine.load(game)
    gc.collect()
    before = _resident()
    for game in games[WARMED : WARMED + LOADS]:
        engine.load(game)
    gc.collect()
    return (_resident() - before) / 2**20


def compare_games(games: list[Path], count: int | None, work: Path) -> None:
    """Compare what isn't compared yet, and print what was found in all."""
    share = 1.0 if count is None else min(1.0, count / ALL)
    walked = games[: round(WALKED * share)]
    generated = make_games(GENERATED, 0, work / "games")[: round(GENERATED * share)]
    cases = [
        *(Case(str(game), "judge") for game in walked[: max(1, round(JUDGED * share))]),
        *(Case(str(game), "walks") for game in [*walked, *generated]),
        *(Case(str(game), "walkthrough") for game in games[:count]),
    ]
    random.Random(1).shuffle(cases)
    progress = Progress(work / f"{_fingerprint()}.jsonl")
    done = {outcome.case for outcome in progress.outcomes}
    started = time.monotonic()
    left = [case for case in cases if case not in done]
    for number, outcome in enumerate(run_cases(left), start=1):
        progress.add(outcome)
        for difference in outcome.differences:
            print(difference)
        if number % 20 == 0 or number == len(left):
            pace = (time.monotonic() - started) / number
            print(f"{number} of {len(left)}, {pace * (len(left) - number) / 60:.0f} min left", file=sys.stderr)
    report(progress, {*cases})


def report(progress: Progress, cases: set[Case]) -> None:
    """Print every difference and a table of what was compared; the last line is JSON."""
    outcomes = [outcome for outcome in progress.outcomes if outcome.case in cases]
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for outcome in outcomes:
        for difference in outcome.differences:
            print(difference)
        task_type = Path(outcome.case.game).parent.parent.name.partition("-")[0]
        row = rows[f"{outcome.case.kind:<12} {task_type}"]
        for column, value in enumerate((1, outcome.commands, len(outcome.differences))):
            row[column] += value
    print(f"{'':<45} {'games':>7} {'commands':>9} {'differences':>12}")
    for name in sorted(rows):
        print(f"{name:<45} {rows[name][0]:7} {rows[name][1]:9} {rows[name][2]:12}")
    total = {
        "games": len({outcome.case.game for outcome in outcomes}),
        "commands": sum(outcome.commands for outcome in outcomes),
        "differences": sum(len(outcome.differences) for outcome in outcomes),
        "comparisons": len(outcomes),
        "of": len(cases),
    }
    print(json.dumps(total))


def _fingerprint() -> str:
    """Name the code that is compared and how; comments, docstrings and layout don't count."""
    folder = Path(alfworld.__path__[0])
    sha = hashlib.sha256()
    compared = [*sorted((folder / "simulator").glob("*.py")), folder / "names.py"]
    for file in [*compared, Path(__file__).with_name("parity.py")]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = None
        sha.update(ast.dump(tree).encode())
    return sha.hexdigest()[:12]


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
