"""How long the command line takes to start, against importing what it is made of.

    python -m benchmarks.startup

Runs `evoharness --help` and `python -c "import typer, rich"` in turn and compares the medians of their times.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
COMMANDS = {
    "help": [str(Path(sys.executable).with_name("evoharness")), "--help"],
    "imports": [sys.executable, "-c", "import typer, rich"],
}


def main() -> None:
    """Measure, print a line a command and the ratio as JSON."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS + 1):
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - started)
    # The first round fills the file cache and the bytecode cache.
    medians = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    for name, median in medians.items():
        print(f"{name:<8} {median * 1000:7.0f} ms  {' '.join(COMMANDS[name])}")
    print(json.dumps({"help_over_imports": round(medians["help"] / medians["imports"], 2), "rounds": ROUNDS}))


if __name__ == "__main__":
    main()
