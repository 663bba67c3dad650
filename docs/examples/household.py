"""What the examples share: a household game with the harness around it, and a model that answers with tool calls.

In a program of your own the framework's chat model takes the place of `Player`, and your tools that of `act`. Here the
model is one of evoharness's, scripted or local, so that the examples run anywhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from evoharness_cli import Harness
from evoharness_cli.environments import load_adapter
from evoharness_cli.experience.entries import entries
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import VERBS, Decode, MetaAction, Model, Transcript, parse_reply
from evoharness_cli.harness.constraint import constrain
from evoharness_cli.integration import TOOLS, Tool
from evoharness_cli.models import load_model
from evoharness_cli.runs.find import find_tasks

SCRIPT = Path(__file__).with_name("household.yaml")


@dataclass(frozen=True)
class Turn:
    """A tool that was called, and what it answered."""

    tool: str
    argument: str
    answer: str


class Household:
    """One game: the tools `act` and the harness's four verbs, all with one text `argument`."""

    def __init__(self, db: Path, agent: str) -> None:
        (task,) = find_tasks(["heat-apple"])
        adapter = load_adapter(task.environment)
        self.game = adapter.open(adapter.needs.model_validate(task.needs), task.goal)
        first, brief = self.game.reset(), self.game.brief
        self.harness = Harness(
            db,
            brief.goal,
            task.scope,
            brief.world,
            kind=brief.kind,
            evidence=self.game.evidence,
            observation=first.text,
            facts=self.game.facts(),
            agent=agent,
        )
        schema = {"type": "object", "properties": {"argument": {"type": "string"}}, "required": ["argument"]}
        self.tools = (Tool("act", f"Does one of: {', '.join(self.game.forms)}.", schema), *TOOLS)
        self.instructions = f"{self.game.instructions} Call one tool at a time."
        self.opening = f"{first.text}\n\nYour task is to: {brief.goal}"
        self.turns: list[Turn] = []
        self.won = False

    def use(self, tool: str, argument: str = "") -> str:
        """Call a tool."""
        answer = self._act(argument) if tool == "act" else self.harness.call(tool, argument)
        self.turns.append(Turn(tool, argument, answer))
        return answer

    def _act(self, text: str) -> str:
        action = self.game.read(text)
        if action is None:
            return f"no such action: {text}"
        seen = self.game.step(action)
        self.harness.observe(seen.text, self.game.facts(), action=action)
        self.won = seen.success
        return seen.text


class Player:
    """Stands for a chat model: answers a conversation with the next tool call."""

    def __init__(self, model: Model, household: Household) -> None:
        self._model, self._household = model, household

    def next_call(self, turns: Sequence[Turn]) -> tuple[str, str]:
        """Return the tool to call and its argument, after these turns."""
        household, game = self._household, self._household.game
        does = "\n".join(tool.description for tool in household.tools)
        transcript = Transcript(f"{household.instructions}\n{does}", household.opening)
        for turn in turns:
            said = turn.argument if turn.tool == "act" else f"{turn.tool} [{turn.argument}]"
            transcript.add(said, turn.answer)
        constraint = constrain(Decode.GRAMMAR, game.forms, game.names(), (), VERBS)
        action = parse_reply(self._model.reply(transcript, constraint, 64, seed=len(turns)).text).action
        return (action.verb, action.argument) if isinstance(action, MetaAction) else ("act", action.text)


def play_twice(agent: str, play: Callable[[Household, Player, int], None]) -> None:
    """Have an agent play the game twice, and print what the second time recalled and what came of it."""
    parser = argparse.ArgumentParser(description=f"Play a household game twice with {agent}.")
    parser.add_argument("--model", default=f"scripted:{SCRIPT}", help="What `evoharness run --model` takes.")
    parser.add_argument("--db", type=Path, default=Path("household.db"), help="The store of experience.")
    parser.add_argument("--steps", type=int, default=30, help="The most tool calls in a game.")
    chosen = parser.parse_args()
    with closing(load_model(chosen.model)) as model:
        for time in ("first", "second"):
            household = Household(chosen.db, agent)
            with household.harness as harness:
                play(household, Player(model.session(time), household), chosen.steps)
                outcome = "won" if household.won else "out of steps"
                harness.finish(outcome)
            print(f"{time} game: {outcome} after {len(household.turns)} calls")
            for turn in household.turns:
                if turn.tool == "recall":
                    print(f"  recalled: {turn.answer}")
    with Store.open(chosen.db) as store:
        for entry in entries(store, status="active"):
            print(f"entry {entry.id}, helped {entry.helped:.2f}, hurt {entry.hurt:.2f}: {entry.said}")
