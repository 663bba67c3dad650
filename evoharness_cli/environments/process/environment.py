"""A program's task behind the harness's Environment Protocol."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

from ...harness import Brief, Condition, Fact, Observation
from .program import Program
from .protocol import Opening, Shown, Stepped, read_answer

_SLOT = re.compile(r"\{\w+\}")


class ProcessEnvironment:
    """One task of a program, which is reset at once: what it answers says what the task is."""

    def __init__(self, program: Program, options: Mapping[str, object], name: str, goal: str | None = None) -> None:
        """Begin a task; `name` is what messages call the program. Raises ProgramFault, and then ends the program."""
        self._program = program
        self._name = name
        self._names: dict[str, Sequence[str]] = {}
        self._shown: Shown
        try:
            opening = read_answer(Opening, program.ask({"reset": options}), name)
        except BaseException:
            program.close()
            raise
        self.brief = Brief(goal or opening.goal, opening.kind, opening.world or _world(name, options))
        self.instructions = opening.instructions
        self.forms = tuple(opening.forms)
        self.example = opening.example or self.forms[0]
        self._readable = [
            re.compile(".+".join(map(re.escape, _SLOT.split(form))), re.DOTALL | re.IGNORECASE) for form in self.forms
        ]
        self._opening = opening
        self._show(opening)

    def reset(self) -> Observation:
        """Return the first observation."""
        return Observation(self._opening.observation, remark=self._opening.remark)

    def read(self, action: str) -> str | None:
        """Return the action where it is one of the forms, upper and lower case aside.

        One that the program said is possible is returned as the program spells it, any other as it stands.
        """
        words = action.strip()
        if not any(pattern.fullmatch(words) for pattern in self._readable):
            return None
        return next((known for known in self._shown.admissible if known.lower() == words.lower()), words)

    def step(self, action: str) -> Observation:
        """Have the program play an action. Raises ProgramFault."""
        stepped = read_answer(Stepped, self._program.ask({"step": action}), self._name)
        self._show(stepped)
        return Observation(stepped.observation, stepped.done, stepped.success, stepped.remark)

    def admissible(self) -> Sequence[str]:
        """Return what the program said is possible now."""
        return self._shown.admissible

    def facts(self) -> Sequence[Fact]:
        """Return what the program said that the latest observation showed."""
        return [Fact(*fact) for fact in self._shown.facts]

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the names that the program said were seen so far."""
        return self._names

    def evidence(self, subgoal: str) -> Condition | None:
        """Leave it to the agent when a subgoal is done."""
        del subgoal
        return None

    def close(self) -> None:
        """End the program."""
        self._program.close()

    def _show(self, shown: Shown) -> None:
        self._shown = shown
        self._names.update(shown.names)


def _world(name: str, options: Mapping[str, object]) -> str:
    digest = hashlib.sha256(json.dumps([name, options], sort_keys=True).encode()).hexdigest()
    return f"process-{digest[:10]}"
