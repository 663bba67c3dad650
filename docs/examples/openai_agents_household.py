"""The harness in the OpenAI Agents SDK: an agent plays a household game twice.

pip install openai-agents
python docs/examples/openai_agents_household.py
python docs/examples/openai_agents_household.py --model smollm2-135m --steps 10
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    MaxTurnsExceeded,
    Model,
    ModelResponse,
    Runner,
    ToolsToFinalOutputResult,
    Usage,
    set_tracing_disabled,
)
from household import Household, Player, Turn, play_twice
from openai.types.responses import ResponseFunctionToolCall

from evoharness_cli.integration import Tool


def play(household: Household, player: Player, steps: int) -> None:
    """Play one game by an agent, which stops when the game is won."""
    agent = Agent(
        name="housekeeper",
        instructions=household.instructions,
        model=PlayerModel(player),
        tools=[function_tool(household, tool) for tool in household.tools],
        tool_use_behavior=lambda _, __: ToolsToFinalOutputResult(household.won, "done" if household.won else None),
    )
    with suppress(MaxTurnsExceeded):
        Runner.run_sync(agent, household.opening, max_turns=steps)


def function_tool(household: Household, tool: Tool) -> FunctionTool:
    """Return one of the game's tools, the harness's four verbs among them, as the SDK has tools."""

    async def use(_: object, arguments: str) -> str:
        return household.use(tool.name, **json.loads(arguments))

    return FunctionTool(tool.name, tool.description, dict(tool.parameters), use, strict_json_schema=False)


class PlayerModel(Model):
    """The player as a model of the SDK; with an OpenAI model there is no need of it."""

    def __init__(self, player: Player) -> None:
        self._player = player

    async def get_response(self, **asked: Any) -> ModelResponse:
        """Answer a conversation with the next tool call."""
        items = [] if isinstance(asked["input"], str) else [dict(item) for item in asked["input"]]
        calls = [item for item in items if item.get("type") == "function_call"]
        answers = [item["output"] for item in items if item.get("type") == "function_call_output"]
        turns = [
            Turn(call["name"], json.loads(call["arguments"])["argument"], str(answer))
            for call, answer in zip(calls, answers, strict=True)
        ]
        name, argument = self._player.next_call(turns)
        call = ResponseFunctionToolCall(
            type="function_call",
            call_id=f"call-{len(turns)}",
            name=name,
            arguments=json.dumps({"argument": argument}),
        )
        return ModelResponse(output=[call], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """Refuse: the examples don't stream."""
        raise NotImplementedError


if __name__ == "__main__":
    set_tracing_disabled(True)
    play_twice("OpenAI Agents SDK", play)
