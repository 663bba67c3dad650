"""The configuration's files: what they say, and the sentence with the line for what can't be used."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from evoharness_cli.configuration.files import (
    ConfigurationError,
    examine,
    project_path,
    read_project_file,
    read_user_file,
    user_path,
)
from evoharness_cli.configuration.keys import KEYS, OF_UPKEEP, SECTIONS
from evoharness_cli.configuration.schema import ConfigurationFile, Upkeep
from evoharness_cli.configuration.upkeep import set_up
from evoharness_cli.experience.store import Store
from evoharness_cli.experience.upkeep.schedule import Schedule, schedule

GOOD = """\
# Mine.
model: models/mine.gguf
adapter: lora.gguf
decode: free
temperature: 0.7
context: 4096
db: kept/experience.db
scope: household
experience: append
profile: big
upkeep:
  every: 20
  keep_steps: 0
profiles:
  big:
    model: openai:qwen3-32b
    base_url: http://localhost:8000/v1
    key_variable: VLLM_KEY
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, good as it is."""
    path = tmp_path / "own" / "config.yaml"
    path.parent.mkdir()
    path.write_text(GOOD)
    monkeypatch.setenv("EVOHARNESS_CONFIG", str(path))
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's file, yet empty."""
    path = tmp_path / "project" / "evoharness.yaml"
    path.parent.mkdir()
    path.touch()
    return path


def test_every_key_is_read_with_its_line_and_paths_from_the_folder_of_the_file(own: Path) -> None:
    read = read_user_file()

    assert read is not None
    folder = own.parent.resolve()
    assert {name: (said.value, said.line) for name, said in read.keys.items()} == {
        "model": (str(folder / "models" / "mine.gguf"), 2),
        "adapter": (str(folder / "lora.gguf"), 3),
        "decode": ("free", 4),
        "temperature": (0.7, 5),
        "context": (4096, 6),
        "db": (str(folder / "kept" / "experience.db"), 7),
        "scope": ("household", 8),
        "experience": ("append", 9),
        "profile": ("big", 10),
    }
    assert {name: (said.value, said.line) for name, said in read.upkeep.items()} == {
        "every": (20, 12),
        "keep_steps": (0, 13),
    }
    assert {name: (said.value, said.line) for name, said in read.profiles["big"].items()} == {
        "model": ("openai:qwen3-32b", 16),
        "base_url": ("http://localhost:8000/v1", 17),
        "key_variable": ("VLLM_KEY", 18),
    }


def test_the_keys_that_are_documented_are_those_that_are_read() -> None:
    names = {key.name for key in KEYS}

    assert names | set(SECTIONS) == set(ConfigurationFile.model_fields)
    assert list(Upkeep.model_fields) == list(OF_UPKEEP) == list(Schedule.__dataclass_fields__)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("model: models", "modle: models", "line 2: unknown key `modle`; expected one of model, adapter,"),
        ("model: models", "modle: models", "did you mean `model`?"),
        ("    base_url:", "    base_ulr:", "line 17: unknown key `profiles.big.base_ulr`; expected one of model,"),
        ("  every: 20", "  evry: 20", "line 12: unknown key `upkeep.evry`; expected one of every, capacity,"),
        ("context: 4096", "context: many", "line 6: expected `context` to be a whole number; found 'many'"),
        ("context: 4096", "context: 0", "line 6: expected `context` to be greater than or equal to 1; found 0"),
        ("temperature: 0.7", "temperature: 9", "line 5: expected `temperature` to be less than or equal to 5; found 9"),
        ("decode: free", "decode: magic", "line 4: expected `decode` to be 'free', 'grammar' or 'admissible'"),
        ("http://localhost", "ftp://localhost", "line 17: expected `profiles.big.base_url` to be an address"),
        (
            "key_variable: VLLM_KEY",
            "key_variable: sk-1",
            "line 18: expected `profiles.big.key_variable` to be the name of",
        ),
        ("  every: 20", "  every: -1", "line 12: expected `upkeep.every` to be greater than or equal to 0; found -1"),
        ("scope: household", "scope: [a]", "line 8: expected `scope` to be a text; found ['a']"),
        ("scope: household", "model: other", "line 8: the key `model` is there twice"),
        ("adapter: lora.gguf", "adapter: ~nobody-here/lora.gguf", "line 3: expected `adapter` to begin with a home"),
        ("scope: household", "scope: 'household", "expected YAML"),
        ("    model: openai:qwen3-32b\n", "", "line 16: expected `model` beside `profiles.big.base_url`, which"),
        (GOOD, "- model", "line 1: expected the keys of a configuration; found ['model']"),
    ],
)
def test_what_cant_be_used_is_said_with_its_line(own: Path, old: str, new: str, said: str) -> None:
    own.write_text(GOOD.replace(old, new, 1))

    with pytest.raises(ConfigurationError) as error:
        read_user_file()

    assert str(error.value).startswith(str(own))
    assert said in str(error.value)


def test_a_key_that_stands_where_its_variable_should_is_not_shown(own: Path) -> None:
    own.write_text(GOOD.replace("VLLM_KEY", "sk-secret"))

    _, (problem,) = examine(own, is_project=False)

    assert problem.endswith(
        "to be the name of an environment variable; found what isn't shown here, in case it is a key itself"
    )


def test_everything_that_is_wrong_is_found_at_once(own: Path) -> None:
    own.write_text("modle: x\ncontext: 0\n")

    _, problems = examine(own, is_project=False)

    assert [problem.split(":")[0] for problem in problems] == [f"{own}, line 2", f"{own}, line 1"]


def test_a_project_sets_what_harms_nobody_and_names_files_of_its_own(project: Path) -> None:
    (project.parent / "replies.txt").write_text("look")
    project.write_text("model: scripted:replies.txt\nadapter: loras/a.gguf\ndb: kept/experience.db\nscope: mine\n")

    read = read_project_file(project.parent)

    assert read is not None
    folder = project.parent.resolve()
    assert {name: said.value for name, said in read.keys.items()} == {
        "model": f"scripted:{folder / 'replies.txt'}",
        "adapter": str(folder / "loras" / "a.gguf"),
        "db": str(folder / "kept" / "experience.db"),
        "scope": "mine",
    }
    for value in ("model: smollm2-135m", "adapter: none", "profile: big"):
        project.write_text(value)
        assert read_project_file(project.parent) is not None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("base_url: http://evil.example/v1", "line 2: `base_url` can't be set by a project's file"),
        ("key_variable: AWS_SECRET_ACCESS_KEY", "line 2: `key_variable` can't be set by a project's file"),
        ("profiles: {big: {base_url: 'http://evil.example'}}", "line 2: `profiles.big.base_url` can't be set by"),
        ("upkeep: {keep_steps: 1}", "line 2: `upkeep.keep_steps` can't be set by a project's file"),
        ("db: ../elsewhere.db", "line 2: expected `db` to name something inside the project's folder"),
        ("db: ~/experience.db", "line 2: expected `db` to name something inside the project's folder"),
        ("db: /tmp/experience.db", "line 2: expected `db` to name something inside the project's folder"),
        ("db: link/experience.db", "line 2: expected `db` to name something inside the project's folder"),
        ("adapter: ../lora.gguf", "line 2: expected `adapter` to name something inside the project's folder"),
        ("model: ../mine.gguf", "line 2: expected `model` to name something inside the project's folder"),
        ("model: ~/mine.gguf", "line 2: expected `model` to name something inside the project's folder"),
        ("model: scripted:../replies.txt", "line 2: expected `model` to name something inside the project's folder"),
        ("model: openai:gpt-5", "line 2: expected `model` to name something inside the project's folder"),
        ("model: mine:anything", "line 2: expected `model` to name something inside the project's folder"),
    ],
)
def test_a_project_cant_send_keys_elsewhere_or_reach_out_of_its_folder(
    own: Path, project: Path, line: str, said: str
) -> None:
    (project.parent / "link").symlink_to(own.parent)
    project.write_text(f"scope: mine\n{line}\n")

    with pytest.raises(ConfigurationError) as error:
        read_project_file(project.parent)

    assert str(error.value).startswith(f"{project}, {said}")
    assert str(own) in str(error.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_file_that_somebody_put_into_a_folder_of_others_is_not_read(project: Path) -> None:
    os.chown(project, 54321, -1)
    with pytest.raises(ConfigurationError, match="belongs neither to you nor to whom its folder belongs"):
        read_project_file(project.parent)

    os.chown(project.parent, 54321, -1)
    assert read_project_file(project.parent) is not None


def test_the_documented_files_are_read(own: Path, project: Path) -> None:
    document = Path(__file__).parents[2] / "docs" / "configuration.md"
    first, second = re.findall(r"^```yaml\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    own.write_text(first)
    project.write_text(second)

    mine, ours = read_user_file(), read_project_file(project.parent)

    assert mine is not None
    assert ours is not None
    assert (mine.profiles["work"]["context"].value, ours.keys["scope"].value) == (32000, "shop/backend")


def test_a_new_store_tends_itself_as_the_users_file_says(own: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "new.db") as store:
        set_up(store)
        assert schedule(store) == Schedule(every=20, keep_steps=0)
        own.write_text("")
        set_up(store)
        assert schedule(store).every == 20


def test_the_files_are_found(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = project.parent / "a" / "b"
    below.mkdir(parents=True)
    assert project_path(below) == project_path(project.parent) == project
    assert project_path(tmp_path) is None

    monkeypatch.setenv("EVOHARNESS_CONFIG", str(tmp_path / "none.yaml"))
    with pytest.raises(ConfigurationError, match=r"none\.yaml: there is no such file"):
        read_user_file()
    monkeypatch.delenv("EVOHARNESS_CONFIG")
    assert user_path().parts[-2:] == ("evoharness", "config.yaml")
