"""A program with a task of three steps, which at its second step ends the process or the node that plays it, once.

    dangerous.py MARKER host|node

What was ended is written to MARKER; where that is there, nothing is ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

OPENING = {
    "observation": "A counter shows 0.",
    "goal": "press three times",
    "forms": ["press {thing}"],
    "names": {"thing": ["button 1"]},
    "facts": [["button 1", "at", "wall 1"]],
    "kind": "counting",
}


def end(what: str) -> None:
    """End who started this program, or the process of Ray that started that one: its node."""
    host = os.getppid()
    stat = Path(f"/proc/{host}/stat").read_text()
    node = int(stat.rpartition(")")[2].split()[1])
    os.kill({"host": host, "node": node}[what], signal.SIGKILL)


def main() -> None:
    """Answer each line; what ends the program is that its input ends."""
    marker, what = Path(sys.argv[1]), sys.argv[2]
    pressed = 0
    for line in sys.stdin:
        if "reset" in json.loads(line):
            print(json.dumps(OPENING), flush=True)
            continue
        pressed += 1
        if pressed == 2 and not marker.exists():
            marker.write_text(what)
            end(what)
            continue
        done = {"done": True, "success": True} if pressed == 3 else {}
        print(json.dumps({"observation": f"It shows {pressed}.", **done}), flush=True)


if __name__ == "__main__":
    main()
