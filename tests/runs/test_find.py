"""What a person types, as tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from evoharness_cli.environments.alfworld.generate import make_games
from evoharness_cli.harness import WrongUsage
from evoharness_cli.runs.find import TaskNotFound, find_tasks, sample_tasks
from evoharness_cli.samples import sample_folder


def names(*arguments: object) -> list[str]:
    return [task.name for task in find_tasks(str(argument) for argument in arguments)]


def test_samples_are_found_by_name_by_path_and_by_folder() -> None:
    assert names("heat-apple") == ["heat-apple"]
    assert names("alfworld/heat-apple", "heat-apple.yaml") == ["heat-apple", "heat-apple"]
    games = [path.stem for path in sample_tasks() if path.parent.name == "alfworld"]
    assert names("alfworld") == games == names(sample_folder() / "alfworld")
    assert len(games) == 12


def test_of_the_yaml_files_in_a_folder_those_that_name_an_environment_are_tasks(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(
        f"# a task\nenvironment:\n  name: alfworld\n  game: {make_games(1, 5, tmp_path)[0]}\n"
    )
    (tmp_path / "solution.yaml").write_text("- go to shelf 1\n")
    (tmp_path / "rules.yaml").write_text("rules:\n  environment: none\n")

    assert names(tmp_path) == ["task"]


def test_games_are_tasks_without_a_file(tmp_path: Path) -> None:
    games = make_games(3, 5, tmp_path)

    (task,) = find_tasks([str(games[0])])
    assert task.needs == {"game": str(games[0])}
    assert (task.environment, task.scope) == ("alfworld", "alfworld")
    assert len(names(tmp_path)) == 3


def test_official_games_are_found_by_split_and_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    games = sorted(make_games(4, 5, tmp_path / "json_2.1.1" / "mine"))

    assert names("alfworld:mine") == ["mine/0", "mine/1", "mine/2", "mine/3"]
    assert names("alfworld:mine/1-2", "alfworld:mine/3") == ["mine/1", "mine/2", "mine/3"]
    assert find_tasks(["alfworld:mine/2"])[0].needs == {"game": str(games[2])}
    for wrong in ("mine/4", "mine/2-1", "other", "mine/x", ""):
        with pytest.raises(WrongUsage):
            find_tasks([f"alfworld:{wrong}"])


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("heat-aple", "Did you mean heat-apple"),
        ("no/such/file.yaml", "it is no file, no folder and no sample task"),
        ("atari:pong", "it is no file, no folder and no sample task"),
    ],
)
def test_what_is_not_there_is_said(argument: str, said: str) -> None:
    with pytest.raises(TaskNotFound, match=said):
        find_tasks([argument])


def test_a_folder_without_tasks_is_said(tmp_path: Path) -> None:
    with pytest.raises(TaskNotFound, match="holds no task"):
        find_tasks([str(tmp_path)])
