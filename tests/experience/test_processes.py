"""Several processes share a file, and one that is killed loses no step that it was told is recorded."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from evoharness_cli.experience import journal
from evoharness_cli.experience.claim import RunClaimed, playing
from evoharness_cli.experience.entries import entries
from evoharness_cli.experience.overview import health
from evoharness_cli.experience.store import Store

WRITER = """
import sys
from pathlib import Path
from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Brief, Step
store = Store.open(Path(sys.argv[1]))
run = journal.begin_run(store, {})
brief = Brief("goal", "kind", "world")
episode = journal.begin_episode(store, run, 0, "task", "source", "alfworld", brief, "alfworld", {})
print(episode, flush=True)
for number in range(1_000_000):
    journal.add_step(store, episode, Step(number, "environment", "You see a kettle. " * 50))
    print(number, flush=True)
"""

PLAYER = """
import sys
from pathlib import Path
from evoharness_cli.experience import journal
from evoharness_cli.experience.claim import playing
from evoharness_cli.experience.store import Store
store = Store.open(Path(sys.argv[1]))
run = journal.begin_run(store, {})
with playing(store, run):
    print(run, flush=True)
    sys.stdin.readline()
"""

CREATOR = """
import sys
from pathlib import Path
sys.stdin.readline()
from evoharness_cli.experience.noting import add_entry
from evoharness_cli.experience.store import Store
with Store.open(Path(sys.argv[1])) as store:
    for number in range(5):
        add_entry(store, "skill", "open the fridge first", "alfworld")
        add_entry(store, "note", f"process {sys.argv[2]} saw room {number}", "alfworld")
"""


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_process_loses_no_acknowledged_step(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "x.db"
    with start(WRITER, str(path)) as writer:
        assert writer.stdout is not None
        episode = int(writer.stdout.readline())
        wanted = random.Random(seed).randrange(1, 300)
        for number in range(wanted):
            assert writer.stdout.readline() == f"{number}\n"
        writer.kill()
        acknowledged = wanted + len([line for line in writer.stdout.readlines() if line.endswith("\n")])

    with Store.open(path) as store:
        recorded = [step.number for step in journal.steps(store, episode)]
        assert recorded == list(range(len(recorded)))
        assert acknowledged <= len(recorded) <= acknowledged + 1
        assert health(store).sound


def test_a_run_is_played_by_one_process_until_that_dies(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with start(PLAYER, str(path)) as player, Store.open(path) as store:
        assert player.stdout is not None
        run = int(player.stdout.readline())
        with pytest.raises(RunClaimed, match=f"Run {run} is being played already, by process {player.pid}"):
            playing(store, run).__enter__()
        player.kill()
        player.wait()
        assert (tmp_path / f"x.db.run-{run}.lock").exists()

        with playing(store, run):
            assert journal.run(store, run).pid == os.getpid()

    assert sorted(each.name for each in tmp_path.iterdir()) == ["x.db"]


def test_eight_processes_create_one_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.db"
    processes = [start(CREATOR, str(path), str(number)) for number in range(8)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    failures = [errors for process in processes if (errors := process.communicate()[1])]

    assert failures == []
    with Store.open(path) as store:
        assert len(entries(store, kind="note", limit=100)) == 40
        assert [each.strength for each in entries(store, kind="skill")] == [40]
        assert health(store).sound
    assert [each.name for each in path.parent.iterdir()] == ["x.db"]
