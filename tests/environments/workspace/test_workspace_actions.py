"""How replies are read as actions, and how edits are made."""

from __future__ import annotations

import pytest

from evoharness_cli.environments.workspace import actions
from evoharness_cli.environments.workspace.actions import read_action
from evoharness_cli.environments.workspace.edits import BLOCK, Edit, Unclear, apply, read_blocks


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("list", actions.List(".")),
        ("LIST src/lib", actions.List("src/lib")),
        ("read a b.py", actions.Read("a b.py")),
        ("read a.py 3-5", actions.Read("a.py", 3, 5)),
        ("read a.py 7", actions.Read("a.py", 7, 7)),
        ("search def f(", actions.Search("def f(")),
        ("run ls | wc -l", actions.Run("ls | wc -l")),
        ("run cat <<E\nx\nE", actions.Run("cat <<E\nx\nE")),
        ("write a.py \"x = 'é'\\n\"", actions.Write("a.py", "x = 'é'\n")),
        ("write a.py\nx = 1\n\ny = 2", actions.Write("a.py", "x = 1\n\ny = 2\n")),
        ('replace a.py "a \\"b\\"" with "c"', actions.Replace("a.py", (Edit('a "b"', "c"),))),
        (f"replace a.py\n{BLOCK}", actions.Replace("a.py", (Edit("old lines\n", "new lines\n"),))),
        ("check", actions.Check()),
        ("diff", actions.Diff()),
        ("submit", actions.Submit()),
    ],
)
def test_actions_are_read(text: str, action: actions.Action) -> None:
    assert read_action(text) == action


@pytest.mark.parametrize(
    "text", ["", "go north", "submit now", "read", "run ", "search", "read a.py\nb.py", "list a\nb"]
)
def test_what_is_no_action_is_none(text: str) -> None:
    assert read_action(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("write a.py x = 1", 'expected write FILE "content"'),
        ('replace a.py "x" by "y"', 'expected replace FILE "old" with "new"'),
        ('write a.py "\\q"', "expected a text as in JSON"),
        ("replace a.py\nx = 1", "line 2 of the action is in no block"),
        ("replace a.py\n<<<<<<< SEARCH\nx\n=======\ny", "the last block has no end"),
        ("replace a.py", "expected replace FILE"),
    ],
)
def test_an_edit_that_is_unclear_says_what_was_expected(text: str, why: str) -> None:
    with pytest.raises(Unclear, match=why):
        read_action(text)


def test_blocks_are_read_one_after_another_and_keep_their_spaces() -> None:
    text = "<<<<<<< SEARCH\n  a\n\n=======\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nb\n=======\n\tc\n>>>>>>> REPLACE\n"

    assert read_blocks(text) == (Edit("  a\n\n", ""), Edit("b\n", "\tc\n"))


@pytest.mark.parametrize(
    ("text", "edit", "after"),
    [
        ("a\nb\nc\n", Edit("b\n", "B\n"), "a\nB\nc\n"),
        ("a\nb", Edit("b\n", "B\n"), "a\nB"),
        ("x = 1; y = 1\n", Edit("y = 1", "y = 2"), "x = 1; y = 2\n"),
        ("a\nb\n", Edit("b\n", ""), "a\n"),
    ],
)
def test_an_edit_replaces_what_is_there_once(text: str, edit: Edit, after: str) -> None:
    assert apply(text, [edit]) == after


@pytest.mark.parametrize(
    ("text", "edit", "why"),
    [
        ("a\na\n", Edit("a\n", "b\n"), "is there 2 times"),
        ("a\n", Edit("b\n", "c\n"), "is not in the file"),
        ("def f():\n    return 1\n", Edit("def f():\n  return 1\n", ""), "line 1 on is the same but for its spaces"),
        ("a\n", Edit("", "b\n"), "is empty"),
    ],
)
def test_an_edit_that_fits_nowhere_or_twice_is_refused(text: str, edit: Edit, why: str) -> None:
    with pytest.raises(Unclear, match=why):
        apply(text, [edit])


def test_of_several_edits_the_one_that_fails_is_named() -> None:
    with pytest.raises(Unclear, match="the text of block 2"):
        apply("a\nb\n", [Edit("a", "c"), Edit("a", "d")])
