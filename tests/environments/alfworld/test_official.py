"""The engine's process ends when it should, and its faults are sentences that leave it usable."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evoharness_cli.environments.alfworld.games import GameFile
from evoharness_cli.environments.alfworld.official import EngineFault, OfficialEngine
from evoharness_cli.harness import OutsideFault

Sample = Callable[[str], GameFile]
Changed = Callable[..., GameFile]


def test_a_scene_is_text_admissible_commands_and_whether_it_is_won(engine: OfficialEngine, sample: Sample) -> None:
    scene = engine.load(sample("Cloth").path)

    assert "Your task is to: " in scene.text
    assert "go to countertop 1" in scene.admissible
    assert not scene.won
    assert engine.step("go to countertop 1").text.startswith(
        "You arrive at countertop 1. On the countertop 1, you see "
    )


def test_the_truth_is_told_in_the_names_that_are_shown(engine: OfficialEngine, sample: Sample) -> None:
    engine.load(sample("Cloth").path)
    assert ("inreceptacle", "cloth 3", "countertop 1") in engine.truth()

    engine.step("go to countertop 1")
    engine.step("take cloth 3 from countertop 1")

    assert ("holds", "agent1", "cloth 3") in engine.truth()
    assert ("inreceptacle", "cloth 3", "countertop 1") not in engine.truth()


@pytest.mark.parametrize(
    "change",
    [
        ("pddl_problem", "(:init", "(:init (nonsense"),
        ("pddl_domain", "(:action GotoLocation", "(:action"),
        ("grammar", "action OpenObject {", "action {"),
    ],
)
def test_a_game_that_cannot_be_played_is_one_sentence_and_the_next_game_is_played(
    engine: OfficialEngine, sample: Sample, changed: Changed, change: tuple[str, str, str]
) -> None:
    bad = changed(sample("Cloth"), change).path

    with pytest.raises(EngineFault) as caught:
        engine.load(bad)
    assert str(caught.value).startswith(f"the ALFWorld engine could not load {bad}: ")
    assert "\n" not in str(caught.value)
    with pytest.raises(EngineFault, match="failed on 'look': no game is loaded"):
        engine.step("look")
    assert "countertop 1" in engine.load(sample("Cloth").path).text


def test_a_missing_game_is_named(engine: OfficialEngine, tmp_path: Path) -> None:
    with pytest.raises(OutsideFault, match=r"could not load .*nowhere.*No such file"):
        engine.load(tmp_path / "nowhere")


@pytest.mark.official_engine
def test_python_files_of_the_folder_it_is_started_in_are_not_run(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("textworld", "tempfile", "json", "evoharness_cli"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger was imported')")
    game = sample("Cloth").path
    monkeypatch.chdir(tmp_path)
    with OfficialEngine() as engine:
        assert "countertop 1" in engine.load(game).text


@pytest.mark.official_engine
def test_closing_ends_the_process_and_may_be_repeated(sample: Sample) -> None:
    with OfficialEngine() as engine:
        engine.load(sample("Cloth").path)
        process = engine._process
        assert process is not None
        assert process.poll() is None

    assert process.returncode == 0
    engine.close()


def test_an_engine_that_never_played_closes() -> None:
    OfficialEngine().close()


@pytest.mark.official_engine
def test_a_process_that_died_is_a_fault_and_the_next_game_starts_another(sample: Sample) -> None:
    with OfficialEngine() as engine:
        engine.load(sample("Cloth").path)
        process = engine._process
        assert process is not None
        process.kill()
        process.wait()

        with pytest.raises(EngineFault, match="failed on 'look': its process ended"):
            engine.step("look")
        assert "countertop 1" in engine.load(sample("Cloth").path).text


@pytest.mark.official_engine
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the end of a process that isn't a child is told by a pidfd")
def test_the_engine_ends_when_its_parent_is_killed(sample: Sample) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from evoharness_cli.environments.alfworld.official import OfficialEngine\n"
        "engine = OfficialEngine(); engine.load(Path(sys.argv[1]))\n"
        "print(engine._process.pid, flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(sample("Cloth").path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        ends = os.pidfd_open(int(parent.stdout.readline()))
        try:
            parent.send_signal(signal.SIGKILL)
            ended, _, _ = select.select([ends], [], [], 60)
        finally:
            os.close(ends)

    assert ended
