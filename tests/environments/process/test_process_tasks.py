"""Programs in shell and JavaScript are played, recorded and resumed, and what they may answer is checked."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evoharness_cli.environments.process.adapter import ProcessAdapter, ProcessNeeds
from evoharness_cli.environments.process.environment import ProcessEnvironment
from evoharness_cli.environments.process.program import ProgramFault
from evoharness_cli.harness import Fact, WrongUsage
from evoharness_cli.samples import sample_folder

SAMPLES = sample_folder() / "process"
OPENING = {"observation": "A door.", "goal": "leave", "forms": ["open {thing}", "leave"]}
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., ProcessEnvironment]:
    """Opens a program that gives these answers, one a request, whatever it is asked."""

    def open_program(*answers: dict[str, Any], goal: str | None = None) -> ProcessEnvironment:
        (tmp_path / "answers").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        script = "exec 3<answers; while read -r line; do read -r answer <&3 || exit 9; printf '%s\\n' \"$answer\"; done"
        needs = ProcessNeeds.model_validate({"command": ["sh", "-c", script], "folder": tmp_path})
        return ProcessAdapter().open(needs, goal)

    return open_program


@pytest.mark.parametrize("task", ["ferry", pytest.param("towers", marks=needs_node)])
def test_a_sample_is_solved_by_its_script(evoharness: Callable[..., Any], task: str) -> None:
    played = evoharness("run", task, "--model", f"scripted:{SAMPLES / task}.solution.txt", "--json")
    steps = evoharness("inspect", "run", "--json").steps

    assert (played.code, played.objects[0]["outcome"]) == (0, "won")
    assert not any(step["invalid"] for step in steps)
    tracked = next(step for step in steps if step["action"].startswith("track"))
    # The step that showed it is the answer's evidence.
    expected = {"ferry": "wolf at right bank (step 8)", "towers": "disk 3 at left (step 4)"}
    assert tracked["observation"] == expected[task]


def test_the_shell_example_is_as_short_as_the_documents_say() -> None:
    assert len((SAMPLES / "ferry.sh").read_text().splitlines()) <= 30


def test_a_lost_game_is_lost(evoharness: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "script.txt"
    script.write_text("cross with cabbage\n")
    played = evoharness("run", "ferry", "--model", f"scripted:{script}", "--json")

    assert (played.code, played.objects[0]["outcome"]) == (1, "lost")


def test_a_program_that_ends_is_a_fault_and_the_run_goes_on_where_it_was(
    evoharness: Callable[..., Any], tmp_path: Path
) -> None:
    shutil.copy(SAMPLES / "ferry.sh", tmp_path)
    whole = (tmp_path / "ferry.sh").read_text()
    (tmp_path / "ferry.sh").write_text(whole.replace("; esac\n    [", "; esac\n    [ $thing = wolf ] && exit 7\n    ["))
    task = tmp_path / "task.yaml"
    task.write_text("environment: {name: process, command: [sh, ferry.sh]}")
    failed = evoharness("run", task, "--model", f"scripted:{SAMPLES}/ferry.solution.txt", "--json")
    assert failed.code == 3
    assert failed.objects[0]["fault"] == "The program `sh ferry.sh` ended with exit code 7."
    done = failed.objects[0]["steps"]

    (tmp_path / "ferry.sh").write_text(whole)
    resumed = evoharness("run", "--resume", 1, "--json")

    assert (resumed.code, resumed.objects[0]["outcome"]) == (0, "won")
    replies = (SAMPLES / "ferry.solution.txt").read_text().splitlines()
    assert done == replies.index("cross with wolf")
    assert [step["action"] for step in evoharness("inspect", "run", "--json").steps] == replies


def test_what_a_program_says_is_what_the_harness_is_told(opened: Callable[..., ProcessEnvironment]) -> None:
    opening = {
        **OPENING,
        "instructions": "Doors.",
        "example": "leave",
        "kind": "doors",
        "world": "house-1",
        "names": {"thing": ["red door"]},
        "facts": [["red door", "open", "no"]],
        "admissible": ["open red door"],
        "remark": "hello",
    }
    stepped = {"observation": "It is open.", "names": {"other": ["x"]}, "done": True, "success": True, "remark": "so"}
    environment = opened(opening, stepped)

    assert (environment.brief.goal, environment.brief.kind, environment.brief.world) == ("leave", "doors", "house-1")
    assert (environment.instructions, environment.example) == ("Doors.", "leave")
    first = environment.reset()
    assert (first.text, first.done, first.remark) == ("A door.", False, "hello")
    assert environment.facts() == [Fact("red door", "open", "no")]
    assert environment.admissible() == ["open red door"]
    last = environment.step("open red door")
    assert (last.text, last.done, last.success, last.remark) == ("It is open.", True, True, "so")
    assert environment.names() == {"thing": ["red door"], "other": ["x"]}
    assert (environment.facts(), environment.admissible()) == ([], [])
    environment.close()


def test_what_a_program_leaves_out_has_a_default(opened: Callable[..., ProcessEnvironment]) -> None:
    environment = opened(OPENING, goal="get out")

    assert environment.brief.goal == "get out"
    assert re.fullmatch(r"process-[0-9a-f]{10}", environment.brief.world)
    assert environment.example == "open {thing}"
    environment.close()


@pytest.mark.parametrize(
    ("action", "read"),
    [
        ("open red door", "open red door"),
        ("  leave ", "leave"),
        ("open two\nlines", "open two\nlines"),
        ("open ", None),
        ("Leave", "Leave"),
        ("OPEN Red Door", "open red door"),
        ("leave now", None),
    ],
)
def test_only_what_a_form_matches_is_an_action(
    opened: Callable[..., ProcessEnvironment], action: str, read: str | None
) -> None:
    environment = opened({**OPENING, "admissible": ["open red door"]})
    assert environment.read(action) == read
    environment.close()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"goal": None}, "a wrong `goal`: input should be a valid string"),
        ({"goals": "leave"}, "an unknown key `goals`; expected some of observation, facts, names"),
        ({"forms": []}, "a wrong `forms`: list should have at least 1 item"),
        ({"forms": ["note {thing}"]}, "a wrong `forms.0`: an action can't begin with note, which calls the harness"),
        ({"forms": ["two\nlines"]}, "a wrong `forms.0`: expected a text on one line"),
        ({"facts": [["door", "open"]]}, "a wrong `facts.0`: list should have at least 3 items"),
        ({"names": {"thing": ["\x0b"]}}, "a wrong `names.thing.0`: expected a text on one line"),
        ({"admissible": "leave"}, "a wrong `admissible`: input should be a valid list"),
        ({"done": True}, "an unknown key `done`"),
    ],
)
def test_a_wrong_answer_names_the_key(
    opened: Callable[..., ProcessEnvironment], changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(ProgramFault, match=f"^The program `sh .*answered with {re.escape(said)}"):
        opened({**OPENING, **changed})


def test_a_missing_key_is_named(opened: Callable[..., ProcessEnvironment]) -> None:
    with pytest.raises(ProgramFault, match="answered without the key `goal`"):
        opened({"observation": "A door.", "forms": ["leave"]})


def test_needs_are_checked_and_there_are_no_places(tmp_path: Path, evoharness: Callable[..., Any]) -> None:
    with pytest.raises(WrongUsage, match="there is no place process:somewhere"):
        ProcessAdapter().locate("somewhere")
    for wrong in ({}, {"command": []}, {"command": "sh x"}, {"command": ["sh"], "timeout": 0}, {"comand": ["sh"]}):
        with pytest.raises(ValidationError):
            ProcessNeeds.model_validate(wrong)
    task = tmp_path / "task.yaml"
    task.write_text("environment:\n  name: process\n  comand: [sh]\n")
    refused = evoharness("run", task)
    assert refused.code == 2
    assert "task.yaml, line" in refused.err


def test_a_program_is_started_in_the_folder_of_its_task(evoharness: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "where.sh").write_text(
        'read -r line; printf \'{"observation": "%s", "goal": "leave", "forms": ["leave"]}\\n\' "$(pwd)"\n'
        'read -r line; printf \'{"observation": "out", "done": true, "success": true}\\n\'\n'
    )
    (tmp_path / "task.yaml").write_text("environment: {name: process, command: [sh, where.sh]}")
    (tmp_path / "inner.yaml").write_text("environment: {name: process, command: [sh, ../where.sh], folder: inner}")
    script = tmp_path / "script.txt"
    script.write_text("leave\n")

    for task, folder in (("task", tmp_path), ("inner", tmp_path / "inner")):
        assert evoharness("run", tmp_path / f"{task}.yaml", "--model", f"scripted:{script}").code == 0
        assert str(folder) in evoharness("inspect", "run").out
