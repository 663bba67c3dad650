"""A request to be fulfilled with the tools of a server, behind the harness's Environment Protocol."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...harness import Belief, Brief, Condition, Fact, Observation
from ...harness.belief import NO, YES
from .approval import NOT_CALLED, Approval
from .connection import Connection, Result
from .files import Place, digest
from .judge import judge
from .needs import McpNeeds
from .offers import SUBMIT, Offer, Offers, UnusableTools, choose

LONGEST = 20_000
"""Characters of a result that the agent is shown."""
CALLED = "called"
"""The relation of a tool to whether its latest call was answered without an error."""
DONE, NOT_DONE = "The request was fulfilled.", "The request was not fulfilled."
FAILED = "error: "
_HOW_TO = (
    "You fulfil a request with tools. Write a tool's name and its arguments as JSON; what it returns is shown to you. "
    f"`{SUBMIT}`, with the answer where one is asked for, ends the task."
)
_ACTION = re.compile(r"([\w.-]+)\s*(.*)", re.DOTALL)
_LONGEST_THING = 80
_LONGEST_INSTRUCTIONS = 4_000


class McpEnvironment:
    """One task at a server, which is connected to by `reset`."""

    def __init__(self, needs: McpNeeds, goal: str | None = None) -> None:
        """Raises FilesFault where the task's files can't be copied."""
        self.brief = Brief(goal or needs.request, "mcp", _world(needs))
        self.instructions = ""
        self.forms: tuple[str, ...] = ()
        self.example = ""
        self._needs = needs
        self._offers = Offers({}, {})
        self._approval = Approval(needs.approve)
        self._facts: list[Fact] = []
        self._connection: Connection | None = None
        self._place = Place(needs.folder, needs.files)

    def reset(self) -> Observation:
        """Connect to the server. Raises McpFault, or UnusableTools where it hasn't the tools that the task names."""
        server, tools = self._needs.server, self._needs.tools
        self._connection = Connection(server, self._place.filled_in(server.command), self._place.folder)
        self._offers = choose(self._connection.tools, tools.allow, tools.deny)
        judge_tool = self._needs.success.tool
        if judge_tool is not None and judge_tool not in [tool.name for tool in self._connection.tools]:
            raise UnusableTools(f"The tool {judge_tool!r}, which is to tell whether the task succeeded, isn't there.")
        offers = self._offers.by_name.values()
        self.forms = (*(offer.form for offer in offers), f"{SUBMIT} {{answer}}")
        self.example = self._offers.example
        told = self._connection.instructions[:_LONGEST_INSTRUCTIONS]
        self.instructions = "\n".join([_HOW_TO, *([told] if told else []), *(offer.manual for offer in offers)])
        return Observation("The tools are ready.")

    def read(self, action: str) -> str | None:
        """Return a call of a tool that there is, or a submission; what is wrong with arguments is told when played."""
        name, _ = _taken_apart(action)
        return action.strip() if name == SUBMIT or name in self._offers.by_name else None

    def step(self, action: str) -> Observation:
        """Call a tool or submit. Raises McpFault, and CheckFault where it can't be found out what was achieved."""
        name, rest = _taken_apart(action)
        if name == SUBMIT:
            return self._submit(rest)
        offer = self._offers.by_name[name]
        arguments = _arguments(rest)
        if isinstance(arguments, str):
            return self._show(offer, {}, Result(arguments, failed=True))
        call = f"{name} {json.dumps(arguments)}"
        if refusal := self._approval.refusal(offer, call):
            self._facts = []
            return Observation(refusal)
        return self._show(offer, arguments, self._call(offer.tool, arguments))

    def take_up(self, action: str, observation: str) -> Observation | None:
        """Return what a recorded action was answered with, without playing it: its effects are there already.

        None where the task works on a fresh copy of its files, in which it has to be played again.
        """
        if self._needs.files is not None:
            return None
        name, rest = _taken_apart(action)
        self._facts = []
        if name == SUBMIT:
            return Observation(observation, done=True, success=observation == DONE)
        arguments = _arguments(rest)
        if isinstance(arguments, dict) and not observation.startswith(NOT_CALLED):
            self._facts = _facts(name, arguments, failed=observation.startswith(FAILED))
        return Observation(observation)

    def admissible(self) -> Sequence[str]:
        """Return nothing: what a tool takes can't be listed."""
        return ()

    def facts(self) -> Sequence[Fact]:
        """Return what the latest call was about, and whether it was answered without an error."""
        return self._facts

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the values of the placeholders that take one of a few."""
        return self._offers.names

    def evidence(self, subgoal: str) -> Condition | None:
        """Return whether a tool was called, for a subgoal that is a tool's name or that and one of its arguments."""
        name, _, thing = subgoal.strip().partition(" ")
        if name not in self._offers.by_name:
            return None
        subject, relation = (thing.strip(), name) if thing.strip() else (name, CALLED)

        def missing(belief: Belief) -> str | None:
            return None if belief.holds(subject, relation) else f"no call of {subgoal} was answered without an error"

        return missing

    def close(self) -> None:
        """Leave the server and remove the copy of the files."""
        if self._connection:
            self._connection.close()
        self._place.close()

    def _call(self, tool: str, arguments: dict[str, Any]) -> Result:
        assert self._connection
        return self._connection.call(tool, arguments)

    def _submit(self, answer: str) -> Observation:
        self._facts = []
        needs, place = self._needs, self._place
        achieved = judge(
            needs.success,
            answer,
            place.filled_in(needs.success.command),
            place.folder,
            self._call,
            needs.server.timeout,
        )
        return Observation(DONE if achieved else NOT_DONE, done=True, success=achieved)

    def _show(self, offer: Offer, arguments: Mapping[str, Any], result: Result) -> Observation:
        self._facts = _facts(offer.name, arguments, result.failed)
        text = self._place.hidden(f"{FAILED if result.failed else ''}{result.text}")
        if (left := len(text) - LONGEST) > 0:
            text = f"{text[:LONGEST]}\n(… {left:,} characters more)"
        return Observation(text)


def _taken_apart(action: str) -> tuple[str, str]:
    """Return the name that an action begins with, empty where it begins with none, and what follows it."""
    match = _ACTION.fullmatch(action.strip())
    return (match[1], match[2]) if match else ("", "")


def _arguments(text: str) -> dict[str, Any] | str:
    """Return a call's arguments, or what is wrong with them."""
    if not text:
        return {}
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"expected arguments as JSON; {error}"
    return arguments if isinstance(arguments, dict) else 'expected arguments by name, as in {"name": "value"}'


def _facts(name: str, arguments: Mapping[str, Any], failed: bool) -> list[Fact]:
    value = NO if failed else YES
    things = [each for each in arguments.values() if isinstance(each, str) and each.splitlines() == [each]]
    return [
        Fact(name, CALLED, value),
        *(Fact(thing, name, value) for thing in things if len(thing) <= _LONGEST_THING),
    ]


def _world(needs: McpNeeds) -> str:
    server = needs.server.url or needs.server.command
    found = hashlib.sha256(json.dumps([server, digest(needs.files)]).encode())
    return f"mcp-{found.hexdigest()[:10]}"
