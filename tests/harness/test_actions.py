"""A reply holds one action, wrapped or bare; whatever else it holds is answered with what was expected."""

from __future__ import annotations

import pytest

from evoharness_cli.harness import EnvironmentAction, FormatError, MetaAction, parse_reply


def test_a_bare_line_is_an_action_for_the_environment() -> None:
    parsed = parse_reply("  go to fridge 1\n")

    assert parsed.action == EnvironmentAction("go to fridge 1")
    assert parsed.thought == ""


def test_a_thought_and_a_wrapped_action_are_told_apart() -> None:
    parsed = parse_reply("\n<think>\nIt may be\nin the fridge.\n</think>\n<action> open fridge 1 </action>\n")

    assert parsed.thought == "It may be\nin the fridge."
    assert parsed.action == EnvironmentAction("open fridge 1")


@pytest.mark.parametrize("reply", ["<think></think>look", "<action>look</action>", "<think>hm</think>\n\nlook"])
def test_either_wrapping_may_be_left_out(reply: str) -> None:
    assert parse_reply(reply).action == EnvironmentAction("look")


def test_only_a_wrapped_action_may_have_several_lines() -> None:
    assert parse_reply("<action>write a.py\nx = 1\n</action>").action == EnvironmentAction("write a.py\nx = 1")
    assert isinstance(parse_reply("<action>note [a]\nlook</action>").action, FormatError)


@pytest.mark.parametrize(
    ("reply", "verb", "argument"),
    [
        ("track [mug 1]", "track", "mug 1"),
        ("track []", "track", ""),
        ("track", "track", ""),
        ("recall", "recall", ""),
        ("recall [ ]", "recall", ""),
        ("recall[where mugs are]", "recall", "where mugs are"),
        ("commit [find mug | take mug needs find mug]", "commit", "find mug | take mug needs find mug"),
        ("note [fact: box 1 | holds | key [small]]", "note", "fact: box 1 | holds | key [small]"),
        ("<think>Is it?</think><action>note [  mugs   are in cabinets ]</action>", "note", "mugs are in cabinets"),
    ],
)
def test_a_line_that_starts_with_a_verb_calls_the_harness(reply: str, verb: str, argument: str) -> None:
    assert parse_reply(reply).action == MetaAction(verb, argument)


def test_a_call_is_written_as_it_is_read() -> None:
    action = parse_reply("commit[ done ]").action

    assert isinstance(action, MetaAction)
    assert action.text == "commit [done]"


@pytest.mark.parametrize("action", ["tracking shot", "notes", "recallmug", "[track]"])
def test_a_verb_is_a_whole_word(action: str) -> None:
    assert parse_reply(action).action == EnvironmentAction(action)


@pytest.mark.parametrize("verb", ["commit", "note"])
@pytest.mark.parametrize("brackets", ["", " []", " [  ]"])
def test_commit_and_note_need_an_argument(verb: str, brackets: str) -> None:
    action = parse_reply(verb + brackets).action

    assert isinstance(action, FormatError)
    assert action.expected == f"expected {verb} [...], with something between the brackets"


@pytest.mark.parametrize("reply", ["track mug 1", "track [mug 1", "track [mug 1] and then look", "track mug [1]"])
def test_an_argument_stands_in_brackets(reply: str) -> None:
    assert parse_reply(reply).action == FormatError("expected track [...], with its argument in brackets", reply)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("", "the reply holds no action"),
        (" \n ", "the reply holds no action"),
        ("<think>done</think>", "the reply holds no action"),
        ("<action></action>", "the reply holds no action"),
        ("<think>I should look", "the thought was not closed by </think>"),
        ("look\ninventory", "the reply has more than one line"),
        ("<action>look</action><action>look</action>", "the reply holds stray <think> or <action> tags"),
        ("<action>look", "the reply holds stray <think> or <action> tags"),
        ("I will <action>look</action>", "the reply holds stray <think> or <action> tags"),
        ("<think>a</think><think>b</think>look", "the reply holds stray <think> or <action> tags"),
    ],
)
def test_anything_else_says_what_was_found_and_expected(reply: str, found: str) -> None:
    action = parse_reply(reply).action

    assert isinstance(action, FormatError)
    assert action.expected == f"{found}; expected one action on one line"


def test_an_unclosed_thought_is_kept_as_the_thought() -> None:
    assert parse_reply("<think>I should look").thought == "I should look"


def test_verbs_are_read_in_either_case() -> None:
    assert parse_reply("Track [mug]").action == MetaAction("track", "mug")
    assert parse_reply("COMMIT [done]").action == MetaAction("commit", "done")
