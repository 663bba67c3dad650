"""Task files: what they say, and the sentence with the line for what can't be used."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from evoharness_cli.harness import Decode, Limits
from evoharness_cli.runs.task import TaskFileError, read_task

GOOD = """\
# A task.
environment:
  name: alfworld
  game: game.tw-pddl
goal: warm an egg
scope: alfworld/kitchen
limits:
  steps: 20
  seconds: 1.5
model: smollm2-135m
adapter: lora.gguf
decode: admissible
"""


@pytest.fixture
def write(tmp_path: Path):
    """Write a task file beside a game's file."""
    (tmp_path / "game.tw-pddl").touch()

    def write(text: str) -> Path:
        path = tmp_path / "task.yaml"
        path.write_text(text)
        return path

    return write


def test_every_key_is_read(write, tmp_path: Path) -> None:
    task = read_task(write(GOOD))

    assert (task.name, task.environment, task.goal) == ("task", "alfworld", "warm an egg")
    assert task.needs == {"game": str(tmp_path / "game.tw-pddl")}
    assert (task.scope, task.model, task.decode) == ("alfworld/kitchen", "smollm2-135m", "admissible")
    assert task.adapter == str(tmp_path / "lora.gguf")
    assert task.settled({}).limits == asdict(Limits(steps=20, seconds=1.5))
    settled = task.settled({"steps": 5}, Decode.FREE, "elsewhere")
    assert settled.limits == asdict(Limits(steps=5, seconds=1.5))
    assert (settled.decode, settled.scope) == ("free", "elsewhere")


def test_only_the_environment_has_to_be_said(write) -> None:
    task = read_task(write("environment: {name: alfworld, game: game.tw-pddl}"))

    assert (task.scope, task.goal, task.model, task.decode) == ("alfworld", None, None, None)
    assert task.settled({}).limits == asdict(Limits())
    assert task.settled({}).decode == "grammar"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  steps: 20", "  step: 20", "line 8: unknown key `limits.step`; expected one of steps,"),
        ("  steps: 20", "  step: 20", "did you mean `steps`?"),
        ("  steps: 20", "  steps: many", "line 8: expected `limits.steps` to be a whole number; found 'many'"),
        ("  steps: 20", "  steps: 0", "line 8: expected `limits.steps` to be greater than or equal to 1; found 0"),
        ("goal: warm an egg", "gaol: warm an egg", "line 5: unknown key `gaol`"),
        ("goal: warm an egg", "goal: [1, 2]", "line 5: expected `goal` to be a text; found [1, 2]"),
        ("decode: admissible", "decode: magic", "line 12: expected `decode` to be 'free', 'grammar' or 'admissible'"),
        ("  name: alfworld", "  name: atari", "line 3: unknown environment 'atari'; known: alfworld"),
        ("  name: alfworld", "  nome: alfworld", "line 2: expected `environment.name`, the name of an environment"),
        ("  game: game.tw-pddl", "  gamma: 1", "line 2: expected the key `environment.game`, which is missing"),
        ("  game: game.tw-pddl", "  game: no.tw-pddl", "line 4: expected `environment.game` to name an existing file"),
        ("  game: game.tw-pddl", "  game: game.tw-pddl\n  level: 2", "line 5: unknown key `environment.level`"),
        (
            "  game: game.tw-pddl",
            "  game: {a: b}",
            "line 4: expected `environment.game` to be a path; found {'a': 'b'}",
        ),
        (GOOD, "[" * 20_000, "nested too deep"),
        ("  steps: 20", "  steps: true", "line 8: expected `limits.steps` to be a whole number; found True"),
        ("goal: warm an egg", "scope: a", "line 6: the key `scope` is there twice"),
        ("goal: warm an egg", 'goal: ""', "line 5: expected `goal` to be a text that is not empty; found ''"),
        ("limits:", "limits", "line 8: expected YAML"),
        (GOOD, "", "line 1: expected the keys of a task; found nothing"),
        (GOOD, "- a\n- b\n", "line 1: expected the keys of a task; found ['a', 'b']"),
        (GOOD, "goal: x", "line 1: expected the key `environment`, which is missing"),
        (
            GOOD,
            "environment: alfworld",
            "line 1: expected `environment` to be keys with their values; found 'alfworld'",
        ),
    ],
)
def test_what_cannot_be_used_is_said_with_its_line(write, old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(TaskFileError) as error:
        read_task(write(GOOD.replace(old, new)))

    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_or_not_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match="there is no such file"):
        read_task(tmp_path / "none.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TaskFileError, match="expected a readable text file in UTF-8"):
        read_task(binary)
