"""What tasks are is told by what their files hold, single ones and lists of them."""

from __future__ import annotations

from pathlib import Path

from evoharness_cli.evaluation.fingerprints import shared_needs, tasks_sha256
from evoharness_cli.runs.task import Task


def task(**needs: object) -> Task:
    return Task("name", "source", "some", needs)


def test_files_count_by_what_they_hold_wherever_they_lie(tmp_path: Path) -> None:
    one, same, other = (tmp_path / name for name in ("one", "same", "other"))
    one.write_text("a")
    same.write_text("a")
    other.write_text("b")

    assert tasks_sha256([task(game=str(one))]) == tasks_sha256([task(game=str(same))])
    assert tasks_sha256([task(game=str(one))]) != tasks_sha256([task(game=str(other))])
    assert tasks_sha256([task(then=[str(one), str(other)])]) == tasks_sha256([task(then=[str(same), str(other)])])
    assert tasks_sha256([task(then=[str(one), str(other)])]) != tasks_sha256([task(then=[str(other), str(one)])])
    # A command is what it says, whatever file it begins with.
    assert tasks_sha256([task(command=[str(one), "go"])]) != tasks_sha256([task(command=[str(same), "go"])])


def test_what_tasks_need_besides_files_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "game").touch()
    game = str(tmp_path / "game")

    assert shared_needs([task(game=game, then=[], engine="native"), task(game=game, then=[game], engine="native")]) == {
        "engine": "native"
    }
    assert shared_needs([task(command=["a", game]), task(command=["b"])]) == {"command": [["a", game], ["b"]]}
