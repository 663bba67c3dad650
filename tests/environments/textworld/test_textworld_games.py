"""TextWorld's games are played with what their description tells, and any other story file by its text alone."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evoharness_cli.environments.process.environment import ProcessEnvironment
from evoharness_cli.environments.process.program import ProgramFault
from evoharness_cli.environments.textworld.adapter import NoTextWorld, TextWorldAdapter, TextWorldNeeds
from evoharness_cli.harness import Fact, WrongUsage
from evoharness_cli.samples import sample_folder

GAME = sample_folder() / "textworld" / "seeds-to-shed.z8"
SOLUTION = GAME.with_suffix(".solution.txt")
COMMANDS = [
    line for line in SOLUTION.read_text().splitlines() if not line.startswith(("recall", "commit", "note", "track"))
]
needs_textworld = pytest.mark.skipif(not importlib.util.find_spec("textworld"), reason="TextWorld is not installed")


@pytest.fixture
def opened() -> Iterator[Callable[[Path], ProcessEnvironment]]:
    """Opens games."""
    environments: list[ProcessEnvironment] = []

    def open_game(path: Path) -> ProcessEnvironment:
        environments.append(TextWorldAdapter().open(TextWorldNeeds(game=path), None))
        return environments[-1]

    yield open_game
    for environment in environments:
        environment.close()


@needs_textworld
def test_the_sample_is_solved_by_its_script(evoharness: Callable[..., Any]) -> None:
    played = evoharness("run", "seeds-to-shed", "--model", f"scripted:{SOLUTION}", "--json")
    steps = evoharness("inspect", "run", "--json").steps

    assert (played.code, played.objects[0]["outcome"]) == (0, "won")
    assert not any(step["invalid"] for step in steps)
    (summed_up,) = [step["observation"] for step in steps if step["action"] == "track []"]
    assert summed_up == (
        "you are at garden, holding packet of seeds, rusty key. searched 6 of 6. not searched: none. "
        "open subgoal: put the seeds on the bench."
    )
    assert steps[-1]["observation"].startswith("You put the packet of seeds on the bench.\n\nYour score")


@needs_textworld
def test_what_is_not_seen_is_not_told(opened: Callable[[Path], ProcessEnvironment]) -> None:
    game = opened(GAME)

    assert game.brief.goal == "Put the packet of seeds on the bench in the shed."
    assert game.reset().text.startswith("-= Hall =-\n")
    assert set(game.facts()) == {
        Fact("you", "at", "hall"),
        Fact("hall", "searched", "yes"),
        Fact("cupboard", "at", "hall"),
        Fact("cupboard", "open", "no"),
        Fact("cupboard", "searched", "no"),
    }
    assert {key: names for key, names in game.names().items() if names} == {
        "container": ["cupboard"],
        "thing": ["cupboard"],
    }
    assert "open cupboard" in game.admissible()
    game.step("open cupboard")
    assert Fact("rusty key", "at", "cupboard") in game.facts()
    assert game.names()["key"] == ["rusty key"]
    game.step("take rusty key from cupboard")
    assert Fact("rusty key", "at", "hand") in game.facts()
    assert "take {object} from {container}" in game.forms
    assert game.read("Take Rusty Key from cupboard") == "Take Rusty Key from cupboard"
    assert game.read("OPEN cupboard") == "OPEN cupboard"
    assert game.read("Drop rusty key") == "drop rusty key"
    assert game.read("dance") is None


@needs_textworld
def test_a_game_without_its_story_file_is_compiled(
    opened: Callable[[Path], ProcessEnvironment], tmp_path: Path
) -> None:
    shutil.copy(GAME.with_suffix(".json"), tmp_path / "game.json")
    game = opened(tmp_path / "game.json")

    for command in COMMANDS[:-1]:
        assert not game.step(command).done
    last = game.step(COMMANDS[-1])
    assert (last.done, last.success) == (True, True)
    assert [path.name for path in tmp_path.iterdir()] == ["game.json"]


@needs_textworld
def test_of_a_story_file_alone_the_text_is_known(opened: Callable[[Path], ProcessEnvironment], tmp_path: Path) -> None:
    shutil.copy(GAME, tmp_path / "story.z8")
    game = opened(tmp_path / "story.z8")

    assert game.brief.goal == "play the game to a good end"
    assert game.forms == ("{command}",)
    assert (game.facts(), game.names(), game.admissible()) == ([], {}, [])
    assert game.read("sing a song") == "sing a song"
    for command in COMMANDS[:-1]:
        assert not game.step(command).done
    last = game.step(COMMANDS[-1])
    assert (last.done, last.success) == (True, True)
    assert last.text.endswith("You scored 1 out of a possible 1, in 12 turns.")


@needs_textworld
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.z8", None, "It last said: No such file or directory"),
        ("broken.json", "{}", "It last said: KeyError: "),
        ("glulx.ulx", "Glul", "glulx.ulx is a Glulx game, which this TextWorld plays only with its .json file"),
        ("odd.sav", "x", "Unsupported game format"),
    ],
)
def test_what_cannot_be_played_is_one_sentence(
    opened: Callable[[Path], ProcessEnvironment], tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(ProgramFault) as caught:
        opened(tmp_path / name)

    assert str(caught.value).startswith(f"TextWorld with the game {tmp_path / name} ended with exit code 1.")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_games_are_recognised_by_their_files(tmp_path: Path) -> None:
    adapter = TextWorldAdapter()
    shutil.copy(GAME, tmp_path / "b.z8")
    shutil.copy(GAME.with_suffix(".json"), tmp_path / "b.json")
    (tmp_path / "a.z5").write_text("")
    (tmp_path / "other.json").write_text('{"world": 1}')

    assert [name for name, _ in adapter.recognise(tmp_path)] == ["a", "b"]
    assert adapter.recognise(tmp_path / "b.json") == [("b", {"game": str(tmp_path / "b.json")})]
    assert adapter.recognise(tmp_path / "other.json") == []
    assert adapter.recognise(tmp_path / "README.md") == []
    with pytest.raises(WrongUsage, match="there is no place textworld:somewhere"):
        adapter.locate("somewhere")


def test_without_textworld_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textworld", None)
    with pytest.raises(NoTextWorld, match="TextWorld is not installed"):
        TextWorldAdapter().open(TextWorldNeeds(game=GAME), None)
    (finding,) = TextWorldAdapter().examine()
    assert "is not installed" in finding.found
