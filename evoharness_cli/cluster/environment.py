"""Environments on the nodes, as their Protocols have them here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ..environments import Finding, load_adapter
from ..harness import Belief, Condition, Diverged, Environment, Fact, Observation
from .crew import Crew, Hosted, NodeLost, Seat
from .hosts import Manual, Scene


class RemoteAdapter:
    """Opens an environment's tasks on the nodes; all else is asked of the adapter here."""

    def __init__(self, name: str, crew: Crew) -> None:
        """Raises UnknownEnvironment, or OutsideFault where the environment's package can't be imported here."""
        self._here = load_adapter(name)
        self._name, self._crew = name, crew
        self.needs: type[BaseModel] = self._here.needs

    def locate(self, place: str) -> Sequence[tuple[str, dict[str, Any]]]:
        """Return the tasks at a place."""
        return self._here.locate(place)

    def recognise(self, path: Path) -> Sequence[tuple[str, dict[str, Any]]]:
        """Return the tasks that a file or folder holds."""
        return self._here.recognise(path)

    def open(self, needs: BaseModel, goal: str | None) -> Environment:
        """Return the environment of one task, on some node. Raises what the adapter there raises."""
        game = _Game(self._crew, self._name, needs, goal)
        manual = game.manual()
        return RemoteLasting(game, manual) if manual.is_lasting else RemoteEnvironment(game, manual)

    def examine(self) -> Iterator[Finding]:
        """Look at whether the environment works here."""
        return self._here.examine()

    def close(self) -> None:
        """Free what the adapter here holds; those on the nodes go with their hosts."""
        self._here.close()


class _Game:
    """One task on some node. Where that is lost, it is played again on another one, up to where it was."""

    def __init__(self, crew: Crew, name: str, needs: BaseModel, goal: str | None) -> None:
        self._task = (name, needs, goal)
        self._hosted = Hosted(crew, self._make)
        self._first: str | None = None
        """The first observation, once it was reset."""
        self._played: list[tuple[str, str]] = []
        """What was done since, and what it was answered with."""
        self._is_lasting = False

    def manual(self) -> Manual:
        manual: Manual = self._hosted.ask("manual")
        self._is_lasting = manual.is_lasting
        return manual

    def ask(self, method: str, *arguments: object) -> Any:
        return self._hosted.ask(method, *arguments)

    def reset(self) -> Scene:
        scene: Scene = self._hosted.ask("reset")
        self._first = scene.observation.text
        return scene

    def step(self, action: str) -> Scene:
        scene: Scene = self._hosted.ask("step", action)
        self._played.append((action, scene.observation.text))
        return scene

    def take_up(self, action: str, observation: str) -> Scene | None:
        scene: Scene | None = self._hosted.ask("take_up", action, observation)
        if scene:
            self._played.append((action, scene.observation.text))
        return scene

    def close(self) -> None:
        self._hosted.close("close")

    def _make(self, seat: Seat) -> None:
        """Open the task, and play again what was played. Raises Diverged where it is answered in another way."""
        seat.hold("open", *self._task)
        if self._first is None:
            return
        try:
            self._check(seat.ask("reset"), self._first)
            for action, observation in self._played:
                taken = seat.ask("take_up", action, observation) if self._is_lasting else None
                self._check(taken or seat.ask("step", action), observation)
        except Diverged:
            with suppress(NodeLost):
                seat.ask("close")
            raise

    def _check(self, again: Scene, before: str) -> None:
        if again.observation.text != before:
            raise Diverged(f"a node was lost, and another one answered {again.observation.text!r}, not {before!r}")


class RemoteEnvironment:
    """An environment on some node."""

    def __init__(self, game: _Game, manual: Manual) -> None:
        self._game = game
        self._scene: Scene | None = None
        self._read(manual)

    def reset(self) -> Observation:
        """Start the task."""
        shown = self._show(self._game.reset())
        self._read(self._game.manual())
        return shown

    def read(self, action: str) -> str | None:
        """Return the action as the environment plays it."""
        readable: str | None = self._game.ask("read", action)
        return readable

    def step(self, action: str) -> Observation:
        """Play an action."""
        return self._show(self._game.step(action))

    def admissible(self) -> Sequence[str]:
        """Return what was admissible after the latest observation."""
        return self._latest.admissible

    def facts(self) -> Sequence[Fact]:
        """Return what the latest observation showed."""
        return self._latest.facts

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the names seen so far."""
        return self._latest.names

    def evidence(self, subgoal: str) -> Condition | None:
        """Return the condition of a subgoal, which is looked at on the node."""
        if not self._game.ask("has_evidence", subgoal):
            return None

        def condition(belief: Belief) -> str | None:
            missing: str | None = self._game.ask("missing", subgoal, belief)
            return missing

        return condition

    def close(self) -> None:
        """Free what the environment holds."""
        self._game.close()

    @property
    def _latest(self) -> Scene:
        assert self._scene is not None, "reset comes first"
        return self._scene

    def _show(self, scene: Scene) -> Observation:
        self._scene = scene
        return scene.observation

    def _read(self, manual: Manual) -> None:
        self.brief, self.instructions = manual.brief, manual.instructions
        self.forms, self.example = manual.forms, manual.example


class RemoteLasting(RemoteEnvironment):
    """An environment on some node whose actions have effects that outlast it."""

    def take_up(self, action: str, observation: str) -> Observation | None:
        """Return what a recorded action was answered with, None where it has to be played again."""
        scene = self._game.take_up(action, observation)
        return self._show(scene) if scene else None
