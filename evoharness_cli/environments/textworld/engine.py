"""TextWorld in a process of its own: `python -m evoharness_cli.environments.textworld.engine`.

It is a program of the environment `process`: asked for `{"reset": {"game": PATH}}`, then for `{"step": COMMAND}`, one
JSON line each. The engine overwrites and prints what it likes, so nothing else shares its process. It ends when its
input does, and with a sentence on standard error where a game can't be played.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...harness.belief import AT, HAND, NO, SEARCHED, YES, YOU

OPEN = "open"
_SLOT = re.compile(r"\{(\w+)\}")
_WORDS = {"o": "object", "c": "container", "s": "supporter", "d": "door", "k": "key", "f": "food", "t": "thing"}
"""What TextWorld's own types are called in the forms."""
_ROOM = re.compile(r"-= (?P<room>.+?) =-")
_PROMPT = re.compile(r"\n>[^\n]*\Z|\s*Would you like to RESTART.*", re.DOTALL)
_BLANK = re.compile(r"\n(?:[ \t]*\n)+")
_END = re.compile(r"\*\*\* +(?P<how>[^*\n]+?) +\*\*\*")
_WON = ("The End", "You have won")
"""What a story file says at a good end; at others it says something else."""


class Game:
    """One game that was started."""

    def __init__(self, path: Path, scratch: Path) -> None:
        """Start a game; one that has to be compiled first is compiled in a folder of the engine's own."""
        self._digest = hashlib.sha256(path.read_bytes()).hexdigest()
        played = _playable(path, scratch)

        import textworld
        from textworld.envs import TWInform7

        # Of other story files nothing but the text is known.
        self._knows = TWInform7.compatible(str(played))
        told = dict.fromkeys(("facts", "admissible_commands", "objective", "command_templates"), self._knows)
        infos = textworld.EnvInfos(won=True, lost=True, **told)
        self._env = textworld.start(str(played), infos)
        self._state = self._env.reset()
        self._seen: dict[str, str] = {}
        """The things named so far, with their types."""

    def opening(self) -> dict[str, object]:
        """Return the answer to `reset`."""
        text = self._text()
        room = _ROOM.search(text)
        objective = self._state["objective"] if self._knows else ""
        shown = self._shown(text[room.start() :] if room else text)
        return {
            **shown,
            "goal": " ".join((objective or "").split()) or "play the game to a good end",
            "instructions": "You play a text adventure. What can't be done is said and changes nothing.",
            "forms": self._forms() or ["{command}"],
            "example": "look",
            "kind": "textworld",
            "world": f"textworld-{self._digest[:10]}",
        }

    def step(self, command: str) -> dict[str, object]:
        """Return the answer to `step`."""
        self._state, _, done = self._env.step(command)
        text = self._text()
        end = _END.search(text)
        won = end["how"] in _WON if end else bool(self._state.get("won"))
        return {**self._shown(text), "done": bool(done or end), "success": won}

    def _text(self) -> str:
        text = str(self._state["feedback"]).rstrip()
        return _BLANK.sub("\n\n", _PROMPT.sub("", text)).strip()

    def _forms(self) -> list[str]:
        return list(dict.fromkeys(_SLOT.sub(_placeholder, form) for form in self._templates()))

    def _templates(self) -> list[str]:
        if not self._knows:
            return []
        return sorted({*self._state["command_templates"], "look", "inventory"})

    def _shown(self, text: str) -> dict[str, object]:
        if not self._knows:
            return {"observation": text}
        facts = list(self._facts(text))
        return {
            "observation": text,
            "facts": facts,
            "names": self._names(),
            "admissible": list(self._state["admissible_commands"]),
        }

    def _facts(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Yield what holds of the things that a text names; of others the engine knows, but the player doesn't."""
        entities = self._entities()
        found = {name: re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in entities}
        named = {name: match.start() for name, match in found.items() if match}
        new = [name for name in sorted(named, key=named.__getitem__) if name not in self._seen]
        self._seen |= {name: entities[name] for name in new}
        room = _ROOM.search(text)
        if room:
            yield room["room"].lower(), SEARCHED, YES
        # The engine keeps facts in sets, whose order is another one each time.
        facts = sorted(
            (fact for fact in self._state["facts"] if fact.arguments),
            key=lambda fact: (named.get(fact.arguments[0].name, 0), str(fact)),
        )
        for fact in facts:
            subject, *others = fact.arguments
            if subject.type == "P" and fact.name == "at":
                yield YOU, AT, others[0].name.lower()
            elif subject.name not in named:
                continue
            elif fact.name in ("at", "in", "on") and len(others) == 1:
                yield subject.name, AT, HAND if others[0].type == "I" else others[0].name.lower()
                if room and subject.type == "s":
                    yield subject.name, SEARCHED, YES
            elif fact.name in ("open", "closed", "locked"):
                yield subject.name, OPEN, YES if fact.name == "open" else NO
                if subject.type != "d" and (fact.name == "open" or subject.name in new):
                    yield subject.name, SEARCHED, YES if fact.name == "open" else NO

    def _entities(self) -> dict[str, str]:
        return dict(self._state["typed_entities"])

    def _names(self) -> dict[str, list[str]]:
        types = self._state["game"].kb.types
        wanted = {kind for form in self._templates() for kind in _SLOT.findall(form)}
        return {
            _WORDS.get(kind, kind): [
                name for name, own in self._seen.items() if own in (kind, *types.descendants(kind))
            ]
            for kind in sorted(wanted)
        }


def _placeholder(match: re.Match[str]) -> str:
    return f"{{{_WORDS.get(match[1], match[1])}}}"


def _playable(path: Path, scratch: Path) -> Path:
    """Return the story file of a game; what was made by TextWorld is compiled where it isn't there."""
    if path.suffix not in (".json", ".ulx"):
        return path
    if (compiled := path.with_suffix(".z8")).exists():
        return compiled
    description = path.with_suffix(".json")
    if not description.exists():
        raise ValueError(f"{path.name} is a Glulx game, which this TextWorld plays only with its .json file beside it")

    import textworld
    from textworld.generator import compile_game

    options = textworld.GameOptions()
    options.path = str(scratch / "game.z8")
    return Path(compile_game(textworld.Game.load(str(description)), options))


def main() -> None:
    """Serve requests until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What the engine prints, from Python or from C, goes to standard error.
    os.dup2(2, 1)
    game: Game | None = None
    with tempfile.TemporaryDirectory(prefix="evoharness-") as scratch:
        for line in iter(sys.stdin.readline, ""):
            request: dict[str, Any] = json.loads(line)
            try:
                if "reset" in request:
                    game = Game(Path(request["reset"]["game"]), Path(scratch))
                    answer = game.opening()
                else:
                    assert game
                    answer = game.step(request["step"])
            except (Exception, SystemExit) as error:
                said = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
                sys.exit(" ".join(str(said).split()))
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
