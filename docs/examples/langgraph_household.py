"""The harness in LangGraph: a graph of a model and its tools plays a household game twice.

pip install langgraph
python docs/examples/langgraph_household.py
python docs/examples/langgraph_household.py --model smollm2-135m --steps 10
"""

from __future__ import annotations

from collections.abc import Sequence

from household import Household, Player, Turn, play_twice
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode


def play(household: Household, player: Player, steps: int) -> None:
    """Play one game by a graph of two nodes: the model, which calls a tool, and the tools."""

    def think(state: MessagesState) -> dict[str, list[AIMessage]]:
        turns = turns_of(state["messages"])
        name, argument = player.next_call(turns)
        call = {"name": name, "args": {"argument": argument}, "id": f"call-{len(turns)}", "type": "tool_call"}
        return {"messages": [AIMessage(content="", tool_calls=[call])]}

    def is_over(state: MessagesState) -> str:
        return END if household.won or len(turns_of(state["messages"])) >= steps else "think"

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("use", ToolNode(tools_of(household)))
    graph.add_edge(START, "think")
    graph.add_edge("think", "use")
    graph.add_conditional_edges("use", is_over)
    opening = [SystemMessage(household.instructions), HumanMessage(household.opening)]
    graph.compile().invoke({"messages": opening}, {"recursion_limit": 2 * steps + 1})


def tools_of(household: Household) -> list[BaseTool]:
    """Return the game's tools, the harness's four verbs among them, as LangChain has tools."""

    def tool(name: str, description: str, schema: dict[str, object]) -> BaseTool:
        def use(argument: str = "") -> str:
            return household.use(name, argument)

        return StructuredTool.from_function(use, name=name, description=description, args_schema=schema)

    return [tool(each.name, each.description, dict(each.parameters)) for each in household.tools]


def turns_of(messages: Sequence[AnyMessage]) -> list[Turn]:
    """Read the tools that were called, and what they answered, out of a conversation."""
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    answers = [str(message.content) for message in messages if isinstance(message, ToolMessage)]
    return [Turn(call["name"], call["args"]["argument"], answer) for call, answer in zip(calls, answers, strict=False)]


if __name__ == "__main__":
    play_twice("LangGraph", play)
