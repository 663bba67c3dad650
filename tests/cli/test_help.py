"""Every command has help with an example, is light to start, and what is installed is complete."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from commands import ORACLE, ROOT, Command

from evoharness_cli import __version__
from evoharness_cli.cli.app import app

HEAVY = (
    *("llama_cpp", "numpy", "sqlite_utils", "pydantic", "yaml", "alfworld", "textworld", "jinja2"),
    *("openai", "huggingface_hub", "httpx2", "mcp", "torch"),
)


def commands() -> Iterator[list[str]]:
    """Yield every command as it is typed."""
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        yield [name]
        yield from ([name, inner] for inner in getattr(command, "commands", {}))


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_every_command_has_help(evoharness: Command, command: list[str]) -> None:
    shown = evoharness(*command, "--help")

    assert shown.code == 0
    assert f"Example: evoharness {' '.join(command)}" in shown.out


def test_the_version(evoharness: Command) -> None:
    assert evoharness("--version").out == f"evoharness {__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['evoharness', '--help']\n"
        "from evoharness_cli.cli import main\n"
        "try: main()\n"
        f"finally: print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)

    assert done.stderr.strip() == "[]"


def test_the_wheel_holds_the_package_and_the_sample_tasks(tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], capture_output=True, text=True, cwd=ROOT, check=True
    )
    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        names = set(wheel.namelist())

    samples = {path.relative_to(ROOT).as_posix() for path in (ROOT / "sample_tasks").rglob("*") if path.is_file()}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "evoharness_cli").rglob("*.py")}
    assert {f"evoharness_cli/{sample}" for sample in samples} | modules <= names


def test_the_samples_are_listed(evoharness: Command) -> None:
    listed = evoharness("tasks", "--json").objects

    assert {each["environment"] for each in listed} == {
        *("alfworld", "compliance", "mcp", "process", "textworld", "workspace")
    }
    assert all(each["what"] for each in listed)
    assert {"name": "heat-apple", "environment": "alfworld"}.items() <= listed[4].items()
    assert "Heat an apple" in evoharness("tasks").out


@pytest.mark.official_engine
def test_games_are_made_and_checked(evoharness: Command, tmp_path: Path) -> None:
    made = evoharness("games", "make", tmp_path, "--count", 2, "--seed", 3, "--type", "look_at_obj_in_light", "--json")
    assert len(made.objects) == 2

    checked = evoharness("games", "check", tmp_path)
    assert (checked.code, checked.out.splitlines()[-1]) == (0, "2 of 2 games solved by their walkthroughs")

    game = Path(made.objects[0]["game"])
    data = json.loads(game.read_text())
    game.write_text(json.dumps({**data, "walkthrough": ["look", "open sesame 1"]}))
    failed = evoharness("games", "check", game, "--json")
    assert failed.code == 1
    assert failed.objects[0]["fault"] == "step 2, 'open sesame 1', is not admissible"

    assert evoharness("games", "make", tmp_path, "--room", "attic").code == 2
    (tmp_path / "empty").mkdir()
    assert evoharness("games", "check", tmp_path / "empty").code == 2


def test_without_the_official_engine_games_are_checked_on_the_simulator(
    evoharness: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "alfworld", None)
    evoharness("games", "make", tmp_path, "--count", 2)

    checked = evoharness("games", "check", tmp_path)
    refused = evoharness("run", "heat-egg", "--engine", "textworld", "--model", f"scripted:{ORACLE}")

    assert checked.code == 0
    assert "The simulator replays the walkthroughs." in checked.err
    assert refused.code == 3
    assert "ALFWorld's own engine is not" in refused.err


def test_the_doctor_finds_what_is_there_and_what_is_wrong(
    evoharness: Command, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "none"))
    evoharness("note", "heat food in the microwave")
    found = {each["what"]: each for each in evoharness("doctor", "--json").objects}
    assert "played a game in" in found["simulator"]["found"]
    assert "SmolLM2-135M-Instruct" in found["embedded model"]["found"]
    assert f"{db}, whole, schema" in found["store"]["found"]
    assert found["ALFWorld train"]["remedy"] is not None

    broken = tmp_path / "broken.db"
    broken.write_text("no store at all" * 100)
    ended = evoharness("doctor", "--db", broken)
    assert ended.code == 3
    assert "remedy: name another file with --db" in ended.out
