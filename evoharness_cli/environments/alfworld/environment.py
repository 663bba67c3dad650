"""ALFWorld's household games behind the harness's Environment Protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...harness import Brief, Condition, Fact, Observation
from ...harness.belief import AT, HAND, SEARCHED
from .evidence import evidence
from .facts import read_facts
from .games import GameFile
from .goal import read_goal
from .scene import Continuing, Engine, Scene

SEVERAL = "several_goals"
"""The kind of a task of more than one goal."""
_PUT = re.compile(r"(?:put|move|place) (?P<thing>.+?) (?:in/on|into|onto|in|on|to) (?P<place>.+)")
_OPENING = re.compile(r"-= Welcome.*?=-\s*(?P<room>.*?)\s*Your task is to:.*", re.DOTALL)
_MOVE, _PUT_IN = "move {object} to {receptacle}", "put {object} in/on {receptacle}"
_FORMS = (
    "go to {receptacle}",
    "open {receptacle}",
    "close {receptacle}",
    "take {object} from {receptacle}",
    _MOVE,
    "clean {object} with {receptacle}",
    "heat {object} with {receptacle}",
    "cool {object} with {receptacle}",
    "use {object}",
    "slice {object} with {object}",
    "examine {thing}",
    "look",
    "inventory",
)


class AlfworldEnvironment:
    """One game, played by an engine that may be shared by games played one after another."""

    instructions = (
        "You are in a house and have a household task to do. Go to places, open what is closed, and take, carry and "
        "use one thing at a time. `Nothing happens.` means that the action was not possible."
    )

    example = "go to cabinet 1"

    def __init__(self, game: GameFile, engine: Engine, goal: str | None = None, then: Sequence[GameFile] = ()) -> None:
        """Play a game, and when its goal is reached go on with those of other games of the same house."""
        put = _MOVE if game.says_move else _PUT_IN
        self.brief = Brief(goal or game.task, SEVERAL if then else game.task_type, game.world)
        self.forms = tuple(put if form == _MOVE else form for form in _FORMS)
        self._put = put.replace("{object}", r"\g<thing>").replace("{receptacle}", r"\g<place>")
        self._readable = [re.compile(re.sub(r"\{\w+\}", r"\\S.*", form)) for form in self.forms]
        self._game = game
        self._goal = read_goal(game.task)
        self._then = list(then)
        self._engine = engine
        self._scene = Scene("", (), False)
        self._facts: list[Fact] = []
        self._places: dict[str, None] = {}
        self._things: dict[str, None] = {}
        self._held = ""

    def reset(self) -> Observation:
        """Load the game; the observation is the room, without the engine's welcome and the task."""
        scene = self._engine.load(self._game.path)
        opening = _OPENING.fullmatch(scene.text.strip())
        return self._show(scene, opening["room"] if opening else scene.text.strip())

    def read(self, action: str) -> str | None:
        """Return the action in the game's own wording; `put X in/on Y` and `move X to Y` are the same."""
        words = " ".join(action.lower().split()).rstrip(".")
        if put := _PUT.fullmatch(words):
            words = put.expand(self._put)
        return words if any(pattern.fullmatch(words) for pattern in self._readable) else None

    def step(self, action: str) -> Observation:
        """Play an action."""
        scene = self._engine.step(action)
        observation = self._show(scene, scene.text.strip())
        return self._next(observation) if observation.done and self._then else observation

    def admissible(self) -> Sequence[str]:
        """Return the engine's admissible commands, without `help`, which the agent was given."""
        return [command for command in self._scene.admissible if command != "help"]

    def facts(self) -> Sequence[Fact]:
        """Return what the latest observation showed."""
        return self._facts

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the places and things seen so far."""
        places, things = list(self._places), list(self._things)
        return {"receptacle": places, "object": things, "thing": [*places, *things]}

    def evidence(self, subgoal: str) -> Condition | None:
        """Return when a subgoal is done; see `evidence.evidence`."""
        return evidence(subgoal, self._goal)

    def truth(self) -> list[tuple[str, ...]]:
        """Return the engine's own state, to compare belief with."""
        return self._engine.truth()

    def close(self) -> None:
        """Leave the engine to the next game."""

    def _next(self, observation: Observation) -> Observation:
        """Give the next goal that isn't reached already."""
        assert isinstance(self._engine, Continuing)
        while self._scene.won and self._then:
            game = self._then.pop(0)
            self._scene = self._engine.go_on(game.path)
            self._goal = read_goal(game.task)
        if self._scene.won:
            return observation
        text = f"{observation.text} That is done.\n\nYour task is to: {self._scene.text}"
        return replace(observation, text=text, done=False, success=False, goal=self._scene.text)

    def _show(self, scene: Scene, text: str) -> Observation:
        self._scene = scene
        facts = read_facts(text)
        is_listing = any(fact.relation == SEARCHED for fact in facts)
        # Some games put one thing in two receptacles at once; what was taken from one is still listed in the other.
        self._facts = [
            fact for fact in facts if not (is_listing and fact.relation == AT and fact.subject == self._held)
        ]
        for fact in self._facts:
            if fact.relation == SEARCHED:
                self._places.setdefault(fact.subject)
            elif fact.relation == AT and fact.subject[-1].isdigit():
                self._things.setdefault(fact.subject)
                if fact.object == HAND:
                    self._held = fact.subject
                elif fact.subject == self._held:
                    self._held = ""
        return Observation(text, done=scene.won, success=scene.won, remark=scene.remark)
