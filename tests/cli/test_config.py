"""The configuration as commands see it: the defaults of their options, and `evoharness config`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import ROOT, Command

from evoharness_cli.configuration.keys import KEYS, SECTIONS


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, yet empty; the working folder is a project that has none."""
    for key in KEYS:
        monkeypatch.delenv(key.variable, raising=False)
    path = tmp_path / "own" / "config.yaml"
    path.parent.mkdir()
    path.touch()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("EVOHARNESS_CONFIG", str(path))
    return path


def project(text: str) -> None:
    Path("evoharness.yaml").write_text(text)


def replies(name: str, *said: str) -> None:
    Path(name).write_text(json.dumps(said))


def test_a_command_takes_what_is_configured_and_the_command_line_goes_before_it(
    evoharness: Command, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVOHARNESS_DB")
    replies("configured.json", *["look"] * 3)
    replies("given.json", *["inventory"] * 3)
    project("model: scripted:configured.json\nscope: mine\ndb: kept.db\ntemperature: 0.5")
    own.write_text("temperature: 0.1\ndecode: free")

    played = evoharness("run", "heat-egg", "--max-steps", 1, "--json")
    settings = played.objects[0]["settings"]
    assert (settings["temperature"], settings["decode"]) == (0.5, "free")
    assert Path("kept.db").exists()
    evoharness("run", "heat-egg", "--max-steps", 1, "--json", "--model", "scripted:given.json")
    assert evoharness("note", "eggs are fragile", "--json").code == 0

    (first,) = evoharness("inspect", "run", 1, "--json").objects[0]["episodes"]
    (second,) = evoharness("inspect", "run", 2, "--json").objects[0]["episodes"]
    assert (first["steps"][0]["action"], second["steps"][0]["action"]) == ("look", "inventory")
    assert (first["scope"], evoharness("inspect", "experience", "--json").objects[0]["scope"]) == ("mine", "mine")


def test_a_run_is_resumed_as_it_was_started_whatever_is_configured(evoharness: Command, own: Path) -> None:
    replies("replies.json", "look")
    evoharness("run", "heat-egg", "--max-steps", 2, "--model", "scripted:replies.json", "--temperature", 0.3)
    replies("replies.json", "look", "look")
    own.write_text("model: smollm2-135m\ntemperature: 1\nscope: other")

    resumed = evoharness("run", "--resume", 1, "--json")

    assert resumed.objects[0]["outcome"] == "out of steps"
    assert resumed.objects[0]["settings"]["temperature"] == 0.3


def test_a_profile_is_chosen_before_or_after_the_command(evoharness: Command, own: Path) -> None:
    replies("a.json", "look")
    replies("b.json", "inventory")
    here = Path.cwd()
    own.write_text(
        f"profile: a\nprofiles:\n  a: {{model: 'scripted:{here}/a.json'}}\n  b: {{model: 'scripted:{here}/b.json'}}\n"
    )
    play = ("run", "heat-egg", "--max-steps", 1)

    evoharness(*play)
    evoharness(*play, "--profile", "b")
    evoharness("--profile", "b", *play)
    evoharness(*play, "--profile=b", "--model", "scripted:a.json")

    runs = [evoharness("inspect", "run", number, "--json").objects[0] for number in (1, 2, 3, 4)]
    assert [run["episodes"][0]["steps"][0]["action"] for run in runs] == ["look", "inventory", "inventory", "look"]
    unknown = evoharness(*play, "--profile", "c")
    assert (unknown.code, "found 'c'" in unknown.err) == (2, True)
    assert "leave out --profile" in evoharness("run", "--resume", 1, "--profile", "b").err
    assert "--profile" in evoharness("run", "--help").out


def test_a_broken_file_stops_commands_with_one_sentence_but_neither_help_nor_config(
    evoharness: Command, own: Path
) -> None:
    own.write_text("modle: smollm2-135m")

    stopped = evoharness("run", "heat-egg")

    assert stopped.code == 2
    assert stopped.err.startswith(f"error: {own}, line 1: unknown key `modle`")
    assert len(stopped.err.strip().splitlines()) == 1
    assert evoharness("run", "--help").code == 0
    assert evoharness("config", "path").code == 0


def test_help_shows_the_programs_own_defaults(evoharness: Command, own: Path) -> None:
    own.write_text("temperature: 0.7")

    assert re.search(r"--temperature.*\[default: 0\.0;", " ".join(evoharness("run", "--help").out.split()))


def test_show_says_where_each_value_comes_from(evoharness: Command, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own.write_text("context: 4096\nupkeep: {every: 10}\nprofiles:\n  big: {temperature: 0.4}\n")
    project("scope: mine\nprofile: big")
    monkeypatch.setenv("EVOHARNESS_DECODE", "free")

    shown = {each["key"]: each for each in evoharness("config", "show", "--json").objects}

    expected = {
        "model": ("the task's, else smollm2-135m", "default", None),
        "context": (4096, "user", f"{own}, line 1"),
        "scope": ("mine", "project", f"{Path.cwd() / 'evoharness.yaml'}, line 1"),
        "temperature": (0.4, "profile", f"{own}, line 4"),
        "decode": ("free", "environment", "EVOHARNESS_DECODE"),
        "upkeep.every": (10, "user", f"{own}, line 2"),
        "upkeep.capacity": (2500, "default", None),
    }
    assert {key: (shown[key]["value"], shown[key]["source"], shown[key]["where"]) for key in expected} == expected
    assert set(shown) == {key.name for key in KEYS} | {
        f"upkeep.{name}" for name in ("every", "capacity", "keep_steps", "keep_worlds")
    }
    assert "EVOHARNESS_DECODE" in evoharness("config", "show").out


def test_path_says_which_files_are_read(evoharness: Command, own: Path) -> None:
    assert evoharness("config", "path", "--json").objects == [{"user": str(own), "exists": True, "project": None}]
    project("scope: mine")
    assert str(Path.cwd() / "evoharness.yaml") in evoharness("config", "path").out


def test_check_says_everything_that_is_wrong(evoharness: Command, own: Path) -> None:
    own.write_text("modle: x\ncontext: 0")
    project("base_url: http://evil.example")

    checked = evoharness("config", "check")

    assert checked.code == 2
    assert len(checked.err.strip().splitlines()) == 3
    own.write_text("context: 1")
    project("scope: mine")
    assert evoharness("config", "check").out.count("nothing is wrong") == 2


def test_each_key_is_documented() -> None:
    documented = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")

    for key in KEYS:
        assert f"| `{key.name}` | {key.says} | {key.default} |" in documented
    for name in SECTIONS:
        assert f"`{name}`" in documented
