"""Tools become actions: what is offered, what is left out, how a call is written, and what is refused."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from mcp.types import Tool, ToolAnnotations

from evoharness_cli.environments.mcp.offers import UnusableTools, choose
from evoharness_cli.harness import Decode
from evoharness_cli.harness.constraint import FreeText, OneOf, constrain


def tool(name: str, schema: dict[str, Any] | None = None, reads: bool | None = None, says: str | None = None) -> Tool:
    return Tool(
        name=name,
        description=says,
        input_schema=schema or {"type": "object"},
        annotations=None if reads is None else ToolAnnotations(read_only_hint=reads),
    )


def form(schema: dict[str, Any]) -> str:
    return choose([tool("call", schema)], ["*"], []).by_name["call"].form


def objects(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def test_tools_are_chosen_by_names_and_patterns_and_denying_goes_before() -> None:
    tools = [tool("read_file"), tool("read_all"), tool("write_file"), tool("stat")]

    assert list(choose(tools, ["*"], []).by_name) == ["read_file", "read_all", "write_file", "stat"]
    assert list(choose(tools, ["read_*", "stat"], ["read_all"]).by_name) == ["read_file", "stat"]


@pytest.mark.parametrize(
    ("allow", "deny", "said"),
    [
        (["raed"], [], "The task names the tool 'raed', which the server hasn't: it has 'read', 'write'."),
        (["*"], ["wirte"], "The task names the tool 'wirte'"),
        (["read"], ["re*"], "Expected between 1 and 100 tools for the agent, found 0 of 2"),
    ],
)
def test_a_choice_that_names_nothing_is_refused(allow: list[str], deny: list[str], said: str) -> None:
    with pytest.raises(UnusableTools, match=f"^{re.escape(said)}"):
        choose([tool("read"), tool("write")], allow, deny)


@pytest.mark.parametrize("name", ["", "two words", "read\nrecall [x]", "x" * 129, "read\x1b[2J", "läsen", "a{b}"])
def test_a_name_that_is_no_action_is_refused_unless_it_is_denied(name: str) -> None:
    tools = [tool("read"), tool(name)]
    with pytest.raises(UnusableTools, match="which is no name for an action") as caught:
        choose(tools, ["*"], [])
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert list(choose(tools, ["read"], []).by_name) == ["read"]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(UnusableTools, match="two tools named 'read'"):
        choose([tool("read"), tool("read")], ["*"], [])


@pytest.mark.parametrize("name", ["note", "Recall", "submit"])
def test_a_name_that_calls_the_harness_is_another_one_to_the_agent(name: str) -> None:
    offers = choose([tool(name, objects(["text"], text=TEXT))], ["*"], [])

    offer = offers.by_name[f"{name}_tool"]
    assert (offer.tool, offer.form) == (name, f'{name}_tool {{"text": "{{text}}"}}')


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "object"}, "call {}"),
        (objects([], path=TEXT), "call {}"),
        (objects(["path"], path=TEXT, head=NUMBER), 'call {"path": "{path}"}'),
        (objects(["a-b", "n"], **{"a-b": TEXT}, n=NUMBER), 'call {"a-b": "{a_b}", "n": {n}}'),
        (objects(["paths"], paths={"type": "array", "items": TEXT}), 'call {"paths": ["{paths}"]}'),
        (
            objects(["edits"], edits={"type": "array", "items": objects(["old", "new"], old=TEXT, new=TEXT)}),
            'call {"edits": [{"old": "{old}", "new": "{new}"}]}',
        ),
        (objects(["name"], name={"anyOf": [{"type": "null"}, TEXT]}), 'call {"name": "{name}"}'),
        (objects(["x"]), 'call {"x": {x}}'),
        (objects([f"argument_{n}" for n in range(60)]), "call {arguments}"),
    ],
)
def test_a_form_is_json_with_a_placeholder_for_each_argument_that_is_required(
    schema: dict[str, Any], written: str
) -> None:
    assert form(schema) == written


def test_few_values_are_choices_and_those_of_other_tools_have_other_placeholders() -> None:
    tools = [
        tool("sort", objects(["by", "down"], by={"enum": ["size", "name"]}, down={"type": "boolean"})),
        tool("pick", objects(["by", "level"], by={"enum": ["hand"]}, level={"enum": [1, 2]})),
        tool("find", objects(["by"], by=TEXT)),
    ]
    offers = choose(tools, ["*"], [])

    assert [offer.form for offer in offers.by_name.values()] == [
        'sort {"by": "{by}", "down": {down}}',
        'pick {"by": "{by_}", "level": {level}}',
        'find {"by": "{by__}"}',
    ]
    assert offers.names == {
        "by": ("size", "name"),
        "down": ("true", "false"),
        "by_": ("hand",),
        "level": ("1", "2"),
    }


def test_the_example_is_a_call_of_the_first_tool() -> None:
    choices = {"enum": ["size", "name"]}
    schema = objects(["by", "path", "n", "down"], by=choices, path=TEXT, n=NUMBER, down={"type": "boolean"})
    offers = choose([tool("sort", schema), tool("stat")], ["*"], [])

    assert offers.example == 'sort {"by": "size", "path": "path", "n": 1, "down": true}'


def test_a_form_is_a_pattern_whose_replies_are_json() -> None:
    offers = choose([tool("sort", objects(["by", "path"], by={"enum": ["size"]}, path=TEXT))], ["*"], [])
    constraint = constrain(Decode.GRAMMAR, [offers.by_name["sort"].form], offers.names, (), ())

    assert constraint is not None
    assert constraint.patterns == (('sort {"by": "', OneOf(("size",)), '", "path": "', FreeText(shortest=1), '"}'),)
    assert json.loads('{"by": "size", "path": "a.txt"}')


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": [], "required": "path"},
        {"type": "object", "properties": {"a": 3}, "required": ["a", 4, ["b"], {"c": 1}]},
        {"type": "object", "required": ["a"], "properties": {"a": {"enum": ["x\ny"], "anyOf": "text", "type": []}}},
        {"properties": {"a": {"$ref": "#/properties/a"}}, "type": "object", "required": ["a"]},
        {},
    ],
)
def test_schemas_that_are_none_do_no_harm(schema: dict[str, Any]) -> None:
    written = form(schema)
    assert written.startswith("call ")
    assert len(written.splitlines()) == 1


def test_the_manual_is_one_short_line() -> None:
    schema = objects(
        ["path"],
        path={"type": "string", "description": "Where it is.\nRelative."},
        head={"type": "integer", "description": "word " * 100},
    )
    manual = choose([tool("read", schema, says="Reads a file.\n\n" + "More. " * 200)], ["*"], []).by_name["read"].manual

    assert manual.startswith("read: Reads a file. More. More.")
    assert "Arguments: path (string) Where it is. Relative; head (integer, optional) word word" in manual
    assert len(manual) < 600
    assert len(manual.splitlines()) == 1


def test_a_tool_writes_unless_it_says_that_it_only_reads() -> None:
    offers = choose([tool("a"), tool("b", reads=False), tool("c", reads=True)], ["*"], [])
    assert [offer.writes for offer in offers.by_name.values()] == [True, True, False]
