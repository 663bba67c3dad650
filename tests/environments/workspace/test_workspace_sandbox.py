"""What the sandboxes let commands do, and what ends them."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from small_repository import LIMITS, best_kind, needing, running

from evoharness_cli.environments.workspace.removal import remove
from evoharness_cli.environments.workspace.sandbox import CannotConfine, Kind, NoSandbox, Sandbox, find_sandbox, search
from evoharness_cli.environments.workspace.sandbox.kinds import own
from evoharness_cli.environments.workspace.sandbox.launcher.plan import Plan, read_plan, written
from evoharness_cli.environments.workspace.sandbox.limits import MIB

QUICK = replace(LIMITS, seconds=1)


@pytest.fixture(params=list(Kind), ids=lambda kind: kind.value)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return Sandbox(needing(request.param))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that whom commands run as can reach; pytest's own are closed to all others."""
    folder = Path(tempfile.mkdtemp())
    own(folder)
    yield folder
    remove(folder)


def test_a_command_works_as_in_any_folder(sandbox: Sandbox, folder: Path) -> None:
    ended = sandbox.run(
        "pwd; echo out; echo err >&2; mkdir -p a/b && echo made > a/b/c; python3 -c 'print(6 * 7)'; cat; exit 3",
        folder,
        LIMITS,
    )

    assert ended.output == b"/workspace\nout\nerr\n42\n"
    assert (ended.code, ended.stopped) == (3, "")
    assert (folder / "a" / "b" / "c").read_text() == "made\n"


def test_tools_can_be_read_and_come_first(sandbox: Sandbox, folder: Path) -> None:
    tools = Path(tempfile.mkdtemp())
    (tools / "bin").mkdir()
    (tools / "bin" / "ls").write_text("#!/bin/sh\necho mine\n")
    for path in (tools, tools / "bin", tools / "bin" / "ls"):
        path.chmod(0o755)

    ended = replace(sandbox, tools=tools).run(f"ls; echo x > {tools}/new", folder, LIMITS)
    written = (tools / "new").exists()
    remove(tools)

    assert ended.output.startswith(b"mine\n")
    assert not (sandbox.confines and written)


def test_what_a_signal_ended_has_its_number(sandbox: Sandbox, folder: Path) -> None:
    assert sandbox.run("kill -SEGV $$", folder, LIMITS).code == 128 + 11


def test_writing_to_whom_nobody_reads_ends_a_command_quietly(sandbox: Sandbox, folder: Path) -> None:
    assert sandbox.run("yes | head -n 1; echo end", folder, LIMITS).output == b"y\nend\n"


def test_a_command_that_isnt_there_says_so(sandbox: Sandbox, folder: Path) -> None:
    ended = sandbox.run("no-such-program", folder, LIMITS)

    assert ended.code == 127
    assert b"not found" in ended.output


def test_one_that_waits_is_stopped(sandbox: Sandbox, folder: Path) -> None:
    ended = sandbox.run("echo began; sleep 1000", folder, QUICK)

    assert ended.output == b"began\n"
    assert ended.stopped == "it ran longer than 1 seconds"


def test_one_that_closed_its_output_is_stopped_as_well(folder: Path) -> None:
    assert Sandbox(best_kind()).run("exec >&- 2>&-; sleep 1000", folder, QUICK).stopped


def test_one_that_counts_without_end_is_stopped(folder: Path) -> None:
    ended = Sandbox(best_kind()).run("while :; do :; done", folder, QUICK)

    assert ended.stopped or ended.code > 128


def test_what_is_printed_is_kept_up_to_the_limit(folder: Path) -> None:
    ended = Sandbox(best_kind()).run("yes; echo never", folder, replace(LIMITS, output=1000))

    assert ended.output == b"y\n" * 500
    assert ended.stopped == "it printed more than 0 MiB"


def test_all_processes_together_have_one_memory(folder: Path) -> None:
    greedy = 'python3 -c "import time; taken = bytearray(48 * 2**20); time.sleep(1000)"'
    ended = Sandbox(best_kind()).run(" & ".join([greedy] * 4), folder, replace(LIMITS, memory=128 * MIB))

    assert ended.stopped == "it took more than 128 MiB of memory"


def test_the_disk_isnt_filled(folder: Path) -> None:
    endless = "n=0; while :; do n=$((n + 1)); head -c 1000000 /dev/urandom > $n; done"
    ended = Sandbox(best_kind()).run(endless, folder, replace(LIMITS, disk=8 * MIB))

    assert ended.stopped == "it wrote more than 8 MiB"


def test_a_command_ends_with_whom_it_was_run_for(sandbox: Sandbox, folder: Path) -> None:
    forever = f"7{os.getpid()}"
    os.mkfifo(folder / "began")
    own(folder)
    runs = (
        "import sys; from pathlib import Path\n"
        "from evoharness_cli.environments.workspace.sandbox import Kind, Limits, Sandbox\n"
        "Sandbox(Kind(sys.argv[1])).run(sys.argv[2], Path(sys.argv[3]), Limits())"
    )
    command = f"(setsid sleep {forever} &) ; echo yes > began; sleep {forever}"
    with subprocess.Popen([sys.executable, "-c", runs, sandbox.kind.value, command, str(folder)]) as process:
        assert (folder / "began").read_text() == "yes\n"
        assert running(forever)
        process.kill()

    for left in running(forever):
        with suppress(ProcessLookupError):
            select.select([os.pidfd_open(left)], [], [], 20)
    assert not running(forever)


def test_no_descriptor_is_handed_on(folder: Path, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        ended = Sandbox(best_kind()).run("echo x >&%d" % file.fileno(), folder, LIMITS)  # noqa: UP031

    assert ended.code != 0
    assert (tmp_path / "open").read_text() == ""


def test_what_cannot_be_confined_is_not_started(folder: Path) -> None:
    sandbox = Sandbox(needing(Kind.NAMESPACES))

    with pytest.raises(CannotConfine, match="mount /tmp: Invalid argument"):
        sandbox.run("touch made", folder, replace(LIMITS, scratch=-1))

    assert not (folder / "made").exists()


def test_without_any_sandbox_there_is_a_reason_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "works", lambda kind: f"no {kind.value} here")

    with pytest.raises(NoSandbox, match=r"bubblewrap: no bubblewrap here; .*; install bubblewrap"):
        find_sandbox()


def test_a_plan_comes_back_as_it_was_written() -> None:
    plan = Plan("landlock", ("sh", "-c", "é\n"), "/f", "/s", ("/usr",), {"PATH": "/bin"}, {"seconds": 1}, None)

    assert read_plan(written(plan)) == plan
