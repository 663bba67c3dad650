"""A request is fulfilled with a server's tools: played, judged, recorded and resumed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from ledger import Served

from evoharness_cli.environments.mcp.adapter import McpAdapter, NobodyToAsk
from evoharness_cli.environments.mcp.connection import McpFault, Result
from evoharness_cli.environments.mcp.environment import DONE, LONGEST, NOT_DONE, McpEnvironment
from evoharness_cli.environments.mcp.judge import CheckFault, judge
from evoharness_cli.environments.mcp.needs import McpNeeds, Success
from evoharness_cli.environments.mcp.offers import UnusableTools
from evoharness_cli.harness import Belief, Fact, WrongUsage
from evoharness_cli.samples import sample_folder

HERE = Path(__file__).parent
SAMPLES = sample_folder() / "mcp"
Open = Callable[..., McpEnvironment]


def rude(mode: str, **changed: Any) -> dict[str, Any]:
    """What a task file says below `environment` of a task at a rude server."""
    return {
        "server": {"command": [sys.executable, str(HERE / "rude.py"), mode]},
        "request": "Read it.",
        "success": {"tool": "read", "expect": "ok"},
        **changed,
    }


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens and resets a task."""
    environments: list[McpEnvironment] = []

    def open_task(needs: dict[str, Any]) -> McpEnvironment:
        environments.append(McpAdapter().open(McpNeeds.model_validate({"folder": tmp_path, **needs}), None))
        environments[-1].reset()
        return environments[-1]

    yield open_task
    for environment in environments:
        environment.close()


@pytest.fixture
def desk(opened: Open, served: Served) -> Callable[..., McpEnvironment]:
    """Opens a task at the ledger, with some of its needs changed."""
    needs = {
        "server": {"url": served.url},
        "request": "Enter the stamps.",
        "approve": "none",
        "success": {"tool": "entries", "expect": "stamps"},
    }
    return lambda **changed: opened({**needs, **changed})


def test_a_request_is_fulfilled_and_judged_by_a_tool(desk: Open) -> None:
    environment = desk()

    assert environment.brief.goal == "Enter the stamps."
    assert environment.forms == (
        "entries {}",
        'add {"text": "{text}", "kind": "{kind}"}',
        'note_tool {"text": "{text}"}',
        'account {"name": "{name}"}',
        "submit {answer}",
    )
    assert environment.names() == {"kind": ("credit", "debit")}
    assert "Amounts are in cents." in environment.instructions
    assert "add: Add an entry. Arguments: text (string); kind (string)" in environment.instructions
    assert environment.step('add {"text": "stamps", "kind": "debit"}').text == "entry 1"
    assert environment.facts() == [
        Fact("add", "called", "yes"),
        Fact("stamps", "add", "yes"),
        Fact("debit", "add", "yes"),
    ]
    assert environment.step('note_tool {"text": "x"}').text == "noted x"
    last = environment.step("submit done")
    assert (last.text, last.done, last.success) == (DONE, True, True)


def test_a_request_that_is_not_fulfilled_is_lost(desk: Open) -> None:
    last = desk().step("submit")
    assert (last.text, last.done, last.success) == (NOT_DONE, True, False)


def test_errors_are_observed_and_belief_knows_of_them(desk: Open) -> None:
    environment = desk()

    assert "no such account: petty cash" in environment.step('account {"name": "petty cash"}').text
    assert environment.facts() == [Fact("account", "called", "no"), Fact("petty cash", "account", "no")]
    assert environment.step("account {name: x}").text.startswith("error: expected arguments as JSON; ")
    assert environment.step("account [1]").text == 'error: expected arguments by name, as in {"name": "value"}'
    wrong = environment.step('add {"text": "x", "kind": "gift"}').text
    assert wrong.startswith("error: ")
    assert "credit" in wrong


@pytest.mark.parametrize(
    ("action", "read"),
    [
        ("entries", "entries"),
        ('  add {"text": "a"} ', 'add {"text": "a"}'),
        ('add{"text":\n"a"}', 'add{"text":\n"a"}'),
        ("submit", "submit"),
        ("Entries {}", None),
        ("delete {}", None),
        ("", None),
    ],
)
def test_calls_of_tools_are_read(desk: Open, action: str, read: str | None) -> None:
    assert desk().read(action) == read


def test_a_subgoal_that_names_a_call_has_its_evidence(desk: Open) -> None:
    environment, belief = desk(), Belief()
    called, about = environment.evidence("entries"), environment.evidence("account petty cash")
    assert called
    assert about
    assert environment.evidence("find the account") is None

    assert called(belief) == "no call of entries was answered without an error"
    environment.step('account {"name": "petty cash"}')
    belief.absorb(environment.facts(), 1)
    assert about(belief) == "no call of account petty cash was answered without an error"
    environment.step("entries")
    belief.absorb(environment.facts(), 2)
    assert called(belief) is None


def test_a_long_result_is_cut(opened: Open) -> None:
    text = opened(rude("huge")).step("read").text
    assert text.endswith("\n(… 29,999 characters more)")
    assert len(text) < LONGEST + 50


def test_tools_that_are_denied_are_no_actions_but_can_judge(desk: Open) -> None:
    environment = desk(tools={"allow": ["add", "entries"], "deny": ["entries"]})

    assert environment.read("entries") is None
    environment.step('add {"text": "stamps", "kind": "debit"}')
    assert environment.step("submit").success


@pytest.mark.parametrize("mode", ["newline", "escape", "long", "twice", "many", "none"])
def test_tools_that_no_agent_should_be_shown_are_refused(opened: Open, mode: str) -> None:
    with pytest.raises(UnusableTools) as caught:
        opened(rude(mode))
    assert len(str(caught.value).splitlines()) == 1
    assert "\x1b" not in str(caught.value)


def test_a_tool_that_judges_has_to_be_there(desk: Open) -> None:
    with pytest.raises(UnusableTools, match="The tool 'entires', which is to tell whether the task succeeded"):
        desk(success={"tool": "entires", "expect": "stamps"})


@pytest.mark.parametrize(
    ("command", "answer", "achieved"),
    [
        (["grep", "-qx", "42"], "42", True),
        (["grep", "-qx", "42"], "43", False),
        (["sh", "{task}/check.sh"], "x", True),
        (["sh", "-c", "test -e stamps.txt && ! test -e check.sh"], "x", True),
    ],
)
def test_a_command_judges_in_the_copy_and_is_told_the_answer(
    opened: Open, tmp_path: Path, command: list[str], answer: str, achieved: bool
) -> None:
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "stamps.txt").write_text("ten")
    (tmp_path / "check.sh").write_text("grep -q ten stamps.txt")
    environment = opened(rude("plain", files=str(tmp_path / "desk"), success={"command": command}))

    assert environment.step(f"submit {answer}").success is achieved


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-check"], "The check `no-such-check` can't be run in .*: No such file or directory"),
        (["sleep", "600"], r"The check `sleep 600` didn't end in 0\.2 seconds"),
    ],
)
def test_a_check_that_cannot_be_run_is_a_fault(tmp_path: Path, command: list[str], said: str) -> None:
    with pytest.raises(CheckFault, match=said):
        judge(Success(command=command), "", command, str(tmp_path), lambda *_: Result(""), 0.2)


def test_each_attempt_has_its_own_copy_whose_place_is_not_shown(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "calls").write_text("none\n")
    first, second = (opened(rude("where", files=str(tmp_path / "files"))) for _ in range(2))

    assert first.step("read").text == "./calls: none read"
    assert second.step("read").text == "./calls: none read"
    assert (tmp_path / "files" / "calls").read_text() == "none\n"
    assert first.brief.world == second.brief.world
    place = first._place.folder
    first.close()
    assert not Path(place).exists()


def test_the_state_of_the_files_is_the_world(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    needs = rude("plain", files=str(tmp_path / "files"))
    before = opened(needs).brief.world
    (tmp_path / "files" / "new").write_text("")
    assert opened(needs).brief.world != before


def test_recorded_calls_are_taken_up_without_being_made(desk: Open, served: Served) -> None:
    environment = desk()

    taken = environment.take_up('add {"text": "stamps", "kind": "debit"}', "entry 1")
    assert taken is not None
    assert (taken.text, taken.done) == ("entry 1", False)
    assert Fact("stamps", "add", "yes") in environment.facts()
    environment.take_up('account {"name": "x"}', "error: no such account: x")
    assert Fact("x", "account", "no") in environment.facts()
    environment.take_up('add {"text": "ink"}', "not called: a person refused add")
    assert environment.facts() == []
    gone = environment.take_up('tool_of_before {"text": "a"}', "it was there")
    assert gone is not None
    assert (gone.text, gone.done) == ("it was there", False)
    done, not_done = environment.take_up("submit it", DONE), environment.take_up("submit it", NOT_DONE)
    assert done
    assert not_done
    assert (done.done, done.success, not_done.done, not_done.success) == (True, True, True, False)
    assert not served.entries.exists()


def test_calls_in_a_fresh_copy_are_made_again(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    assert opened(rude("plain", files=str(tmp_path / "files"))).take_up("read", "ok") is None


def test_a_server_that_dies_is_a_fault_and_the_resumed_run_repeats_no_call(
    evoharness: Callable[..., Any], tmp_path: Path
) -> None:
    server = tmp_path / "server.sh"
    command = f'exec "{sys.executable}" "{HERE / "rude.py"}" plain'
    server.write_text(command)
    needs = rude("plain", server={"command": ["sh", "server.sh"]})
    (tmp_path / "task.yaml").write_text(yaml.safe_dump({"environment": {"name": "mcp", **needs}}))
    replies = ['read {"path": "stamps"}', "track [stamps]", 'read {"path": "ink"}', "submit done"]
    script = tmp_path / "script.json"
    script.write_text(json.dumps(replies[:2]))
    stopped = evoharness("run", tmp_path / "task.yaml", "--model", f"scripted:{script}", "--json")
    assert (stopped.code, stopped.objects[0]["steps"]) == (3, 2)

    script.write_text(json.dumps(replies))
    server.write_text("echo 'the disk is full' >&2; exit 1")
    failed = evoharness("run", "--resume", 1, "--json")
    assert failed.code == 3
    assert "it ended the connection. It last said: the disk is full" in failed.objects[0]["fault"]
    server.write_text(command)
    resumed = evoharness("run", "--resume", 1, "--json")

    assert (resumed.code, resumed.objects[0]["outcome"]) == (0, "won")
    steps = evoharness("inspect", "run", "--json").steps
    assert [step["action"] for step in steps] == replies
    assert steps[1]["observation"] == "stamps read (step 1)"
    # The two calls of the agent, and the one of the check.
    assert (tmp_path / "calls").read_text().split() == ["read"] * 3


def test_a_resumed_run_makes_the_calls_again_in_a_fresh_copy(evoharness: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "calls").write_text("none\n")
    needs = rude("where", files="files", success={"command": ["grep", "-q", "^read$", "calls"]})
    (tmp_path / "task.yaml").write_text(yaml.safe_dump({"environment": {"name": "mcp", **needs}}))
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["read"]))
    assert evoharness("run", tmp_path / "task.yaml", "--model", f"scripted:{script}").code == 3

    script.write_text(json.dumps(["read", "read", "submit"]))
    assert evoharness("run", "--resume", 1, "--json").objects[0]["outcome"] == "won"

    steps = evoharness("inspect", "run", "--json").steps
    assert [step["observation"] for step in steps[:2]] == ["./calls: none read", "./calls: none read read"]


@cache
def npx_has_the_server() -> str | None:
    """Return why the npm registry's server can't be tried, None where it can."""
    if shutil.which("npx") is None:
        return "npx is not installed"
    package = yaml.safe_load((SAMPLES / "sort-letters.yaml").read_text())["environment"]["server"]["command"][2]
    try:
        tried = subprocess.run(
            ["npx", "-y", package, "/nonexistent"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=180,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{package} didn't come in time"
    # It was fetched where it complains about the folder itself.
    said = tried.stderr.decode(errors="replace")
    return None if "npm" not in said.lower() else f"{package} can't be fetched: {said.splitlines()[-1]}"


@pytest.mark.parametrize("name", ["sort-letters", "highest-meter"])
def test_a_sample_is_solved_with_the_npm_registry_s_server(evoharness: Callable[..., Any], name: str) -> None:
    if missing := npx_has_the_server():
        pytest.skip(missing)
    played = evoharness("run", name, "--model", f"scripted:{SAMPLES / name}.solution.txt", "--json")
    steps = evoharness("inspect", "run", "--json").steps

    assert (played.code, played.objects[0]["outcome"]) == (0, "won"), steps
    assert not any(step["invalid"] or step["observation"].startswith(("error", "not called")) for step in steps)
    assert [path.name for path in (SAMPLES / "mailroom" / "inbox").iterdir()] != []
    if name == "sort-letters":
        proven = [step["observation"] for step in steps if step["action"] == "commit [done]"]
        assert all(each.startswith("done: read_text_file") for each in proven)


def test_what_needs_a_person_is_refused_where_there_is_none(desk: Open, served: Served, tmp_path: Path) -> None:
    environment = desk(approve="writing")
    refused = environment.step('add {"text": "stamps", "kind": "debit"}')

    assert refused.text.startswith("not called: add has to be allowed by a person, and there is no terminal")
    assert not served.entries.exists()
    assert environment.step("entries").text == "no entries"
    assert desk(approve="all").step("entries").text.startswith("not called: entries")
    with pytest.raises(NobodyToAsk, match="there is no terminal to ask one at"):
        McpAdapter().open(McpNeeds.model_validate(rude("plain", success="person", folder=tmp_path)), None)


def test_a_server_that_cannot_be_used_is_said_by_reset(tmp_path: Path) -> None:
    needs = McpNeeds.model_validate(rude("plain", server={"command": ["false"]}, folder=tmp_path))
    environment = McpAdapter().open(needs, "Do it.")
    assert environment.brief.goal == "Do it."
    with pytest.raises(McpFault, match="The MCP server `false` can't be used: "):
        environment.reset()
    environment.close()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"server": {}}, "`environment.server` to be keys with either `command` or `url` among them"),
        ({"server": {"command": ["x"], "url": "y"}}, "keys with either `command` or `url`"),
        ({"server": {"comand": ["x"]}}, "unknown key `environment.server.comand`"),
        ({"success": {}}, "`environment.success` to be `person`, or keys with either `command` or `tool`"),
        ({"success": {"tool": "x"}}, "keys with either `expect` or `matches` beside `tool`"),
        ({"success": {"tool": "x", "matches": "("}}, "keys with a regular expression as `matches`"),
        ({"approve": "some"}, "`environment.approve` to be 'writing', 'none' or 'all'"),
        ({"files": "nowhere"}, "`environment.files` to name an existing file"),
        ({"request": ""}, "`environment.request` to be a text that is not empty"),
        ({"tools": {"allows": []}}, "unknown key `environment.tools.allows`; expected one of allow, deny"),
    ],
)
def test_what_a_task_file_says_wrong_is_one_sentence(
    evoharness: Callable[..., Any], tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(yaml.safe_dump({"environment": {"name": "mcp", **rude("plain", **changed)}}))
    refused = evoharness("run", file)

    assert refused.code == 2
    assert said in refused.err
    assert len(refused.err.strip().splitlines()) == 1


def test_there_are_no_places_at_a_server() -> None:
    with pytest.raises(WrongUsage, match="there is no place mcp:files"):
        McpAdapter().locate("files")
