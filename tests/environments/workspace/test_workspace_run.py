"""`evoharness run` on software tasks: what a person allows, what task files may not say, and runs that were killed."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_repository import CHECK, MENDED, best_kind, commit_all, in_git, running
from typer.testing import CliRunner, Result

from evoharness_cli.cli.app import app


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store and the data folder of the test's own."""
    best_kind()
    monkeypatch.setenv("EVOHARNESS_DB", str(tmp_path / "experience.db"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def task(repository: Path, tmp_path: Path) -> Path:
    return task_file(tmp_path / "mend.yaml", repository=repository.name)


def task_file(path: Path, **needs: Any) -> Path:
    """Write a task file about the small repository."""
    environment = {"name": "workspace", "request": "mend add", "checks": [{"command": CHECK}], **needs}
    path.write_text(yaml.safe_dump({"environment": environment, "decode": "free"}))
    return path


def script(path: Path, *replies: str) -> str:
    path.write_text(yaml.safe_dump(list(replies)))
    return f"scripted:{path}"


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["run", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_persons_files_stay_as_they_are_unless_they_say_apply(task: Path, repository: Path, tmp_path: Path) -> None:
    commit_all(repository)
    model = script(tmp_path / "script.yaml", MENDED, "submit")

    assert run(task, "--model", model).exit_code == 0
    assert in_git(repository, "status", "--porcelain") == ""

    applied = run(task, "--model", model, "--apply")
    assert applied.exit_code == 0
    assert f"applied to {repository}" in applied.stdout.replace("\n", "")
    assert in_git(repository, "status", "--porcelain") == "M adding/add.py"


def test_apply_and_unsafe_are_refused_where_no_task_has_use_for_them() -> None:
    refused = run("heat-apple", "--apply", "--unsafe-no-sandbox")

    assert refused.exit_code == 2
    assert refused.stderr == (
        "error: Only tasks of the environment workspace take --apply and --unsafe-no-sandbox; there is none.\n"
    )


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ({"apply": True}, "unknown key `environment.apply`"),
        ({"unsafe_no_sandbox": True}, "unknown key `environment.unsafe_no_sandbox`"),
        ({"repository": "none"}, "expected `environment.repository` to name an existing file"),
        ({"checks": []}, "expected `environment.checks`"),
        ({"command_limits": {"seconds": 0}}, "expected `environment.command_limits.seconds`"),
        ({"checks": [{"comand": "x"}]}, "environment.checks.0"),
    ],
)
def test_a_task_file_that_asks_for_what_it_may_not_is_refused(
    repository: Path, tmp_path: Path, needs: dict[str, Any], said: str
) -> None:
    refused = run(task_file(tmp_path / "wrong.yaml", **{"repository": repository.name, **needs}))

    assert refused.exit_code == 2
    assert said in refused.stderr


def test_a_commit_that_isnt_there_is_a_sentence(repository: Path, tmp_path: Path) -> None:
    commit_all(repository)
    task = task_file(tmp_path / "task.yaml", repository=repository.name, commit="none")

    ended = run(task, "--model", script(tmp_path / "script.yaml", "submit"))

    assert ended.exit_code == 3
    assert "has no commit none" in ended.stdout + ended.stderr


def test_a_killed_run_leaves_no_command_and_goes_on(task: Path, tmp_path: Path) -> None:
    forever = f"8{os.getpid()}"
    replies = ["commit [change adding/add.py]", MENDED, "run ls; python3 -c 'print(object())'"]
    model = script(tmp_path / "script.yaml", *replies, f"run sleep {forever}")
    with subprocess.Popen(
        [sys.executable, "-m", "evoharness_cli", "run", task, "--model", model], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert any("run ls" in line for line in process.stdout)
        process.send_signal(signal.SIGKILL)
    for left in running(forever):
        with suppress(ProcessLookupError):
            select.select([os.pidfd_open(left)], [], [], 20)
    assert not running(forever)
    script(tmp_path / "script.yaml", *replies, "commit [done]", "submit")

    resumed = run("--resume", 1, "--json")

    assert resumed.exit_code == 0, resumed.output
    played = [json.loads(line) for line in resumed.stdout.splitlines()]
    assert (played[-1]["outcome"], played[-1]["steps"]) == ("won", 5)
