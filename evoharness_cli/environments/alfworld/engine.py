"""The official ALFWorld text engine in a process of its own: `python -m evoharness_cli.environments.alfworld.engine`.

It plays one game at a time and speaks JSON lines: a request on standard input, its answer on standard output. The
engine isn't thread-safe, overwrites `sys.argv`, prints while it translates and may end in SystemExit, so nothing else
shares its process. It ends when its input does.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

STATE = (
    "inreceptacle",
    "holds",
    "isclean",
    "ishot",
    "iscool",
    "opened",
    "istoggled",
    "issliced",
    "atlocation",
)
"""The predicates that tell where things are and how they are; the rest of the state never changes."""


class Game:
    """The one game that is loaded."""

    def __init__(self, path: str) -> None:
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from textworld.envs import PddlEnv

        infos = textworld.EnvInfos(won=True, admissible_commands=True, facts=True)
        self._env = AlfredDemangler(PddlEnv(infos), shuffle=False)
        self._env.load(path)
        self._state: Any = None

    def reset(self) -> dict[str, object]:
        self._state = self._env.reset()
        return self._answer()

    def step(self, command: str) -> dict[str, object]:
        self._state, _, _ = self._env.step(command)
        return self._answer()

    def truth(self) -> dict[str, object]:
        facts = [
            [fact.name, *(variable.name.strip() for variable in fact.arguments)]
            for fact in self._state["facts"]
            if fact.name in STATE
        ]
        return {"facts": sorted(facts)}

    def close(self) -> None:
        import fast_downward

        fast_downward.close_lib(self._env.unwrapped.downward_lib)

    def _answer(self) -> dict[str, object]:
        return {
            "text": self._state.feedback,
            "admissible": list(self._state["admissible_commands"]),
            "won": bool(self._state["won"]),
        }


def serve(requests: Iterator[str]) -> Iterator[dict[str, object]]:
    """Answer each request; a fault of the engine is an answer with `error` and never ends the process."""
    game: Game | None = None
    try:
        for line in requests:
            request = json.loads(line)
            try:
                if request["op"] == "load":
                    if game:
                        game.close()
                        game = None
                    game = Game(request["path"])
                    yield game.reset()
                elif game is None:
                    yield {"error": "no game is loaded"}
                elif request["op"] == "step":
                    yield game.step(request["command"])
                else:
                    yield game.truth()
            except (Exception, SystemExit) as error:
                # The parser's message goes on with an excerpt and its stack, line by line.
                first = str(error).strip().partition("\n")[0].rstrip(" :")
                yield {"error": f"{type(error).__name__}: {first}" if first else f"it ended in {type(error).__name__}"}
    finally:
        if game:
            game.close()


def main() -> None:
    """Serve requests until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Importing alfworld creates the folder of its data; an existing one is named so that nothing is made.
    os.environ.setdefault("ALFWORLD_DATA", tempfile.gettempdir())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What the translator prints, from Python or from C, goes to standard error.
    os.dup2(2, 1)
    for answer in serve(iter(sys.stdin.readline, "")):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
