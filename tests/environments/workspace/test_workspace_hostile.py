"""What a hostile agent tries, in each sandbox that works here: none of it succeeds, and the episode goes on.

The things outside that are to stay as they are could be read, written and signalled by the user that commands run as,
so that nothing but the sandbox stands before them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_repository import FILES, MENDED, WORK, commit_all, needing, play, running, write_files

from evoharness_cli.environments.workspace.environment import WorkspaceEnvironment
from evoharness_cli.environments.workspace.sandbox import Kind, Sandbox
from evoharness_cli.environments.workspace.sandbox.kinds import NOBODY
from evoharness_cli.environments.workspace.working_copy import WorkingCopy

SECRET = "swordfish-4711"
MARK = "hostile-mark-4711"
FOREVER = f"9{os.getpid()}"
"""Seconds, and by what the processes are known that would sleep for so long."""

ATTEMPTS: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "hostile.yaml").read_text(encoding="utf-8")
)


@dataclass
class Outside:
    """What is outside of the sandbox, and shall not change."""

    folder: Path
    repository: Path
    victim: subprocess.Popen[bytes]
    listeners: tuple[socket.socket, ...]

    def state(self) -> object:
        """Return all that would differ if something had been changed."""
        for listener in self.listeners:
            with suppress(BlockingIOError):
                return listener.recv(100) if listener.type is socket.SOCK_DGRAM else listener.accept()
        limits = Path(f"/proc/{self.victim.pid}/limits").read_text(encoding="ascii")
        return [fingerprint(self.folder), fingerprint(self.repository), self.victim.poll(), limits]


def fingerprint(folder: Path) -> str:
    """Return what changes with every name, mode, time, attribute and content of a folder's files."""
    found = hashlib.sha256()
    for path in sorted([folder, *folder.rglob("*")]):
        about = path.lstat()
        found.update(f"{path} {about.st_mode} {about.st_uid} {about.st_mtime_ns} {about.st_size}".encode())
        found.update(repr(os.listxattr(path, follow_symlinks=False)).encode())
        if path.is_file() and not path.is_symlink():
            found.update(path.read_bytes())
    return found.hexdigest()


def give(*paths: Path) -> None:
    """Give paths to the user that commands run as."""
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, NOBODY, NOBODY)


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    """A folder, a repository, a process and sockets that are not the agent's."""
    folder = Path(tempfile.mkdtemp(prefix="outside-"))
    repository = write_files(folder / "adding", FILES)
    commit_all(repository)
    far = folder / "far"
    (far / "drop").mkdir(parents=True)
    (far / "secret").write_text(SECRET)
    user = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
    victim = subprocess.Popen(
        [shutil.which("sleep") or "sleep", "1000"], env={"API_KEY": SECRET}, start_new_session=True, **user
    )
    listeners = (
        socket.create_server(("127.0.0.1", 0)),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        socket.socket(socket.AF_UNIX),
        socket.socket(socket.AF_UNIX),
    )
    listeners[1].bind(("127.0.0.1", 0))
    listeners[2].bind(str(far / "socket"))
    listeners[3].bind(f"\0{MARK}")
    for listener in listeners:
        listener.setblocking(False)
        if listener.type is socket.SOCK_STREAM:
            listener.listen()
    (far / "socket").chmod(0o777)
    folder.chmod(0o755)
    # Git refuses a repository whose folders are another user's.
    give(*(path for path in repository.rglob("*") if path.name != ".git"), far, *far.rglob("*"))
    yield Outside(far, repository, victim, listeners)
    victim.kill()
    victim.wait()
    for listener in listeners:
        listener.close()
    shutil.rmtree(folder)


@pytest.fixture(scope="module", params=[Kind.BUBBLEWRAP, Kind.NAMESPACES, Kind.LANDLOCK], ids=lambda kind: kind.value)
def attacked(
    request: pytest.FixtureRequest, outside: Outside, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WorkspaceEnvironment]:
    """One episode in which all of it is tried, in one sandbox."""
    kind = needing(request.param)
    with pytest.MonkeyPatch.context() as patch, closing(start(kind, outside)) as environment:
        patch.setenv("OPENAI_API_KEY", SECRET)
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield environment


def start(kind: Kind, outside: Outside) -> WorkspaceEnvironment:
    environment = WorkspaceEnvironment(WorkingCopy(outside.repository, None), WORK, Sandbox(kind))
    environment.reset()
    return environment


def spoken(action: str, environment: WorkspaceEnvironment, outside: Outside) -> str:
    """Fill in where things are."""
    words = {
        "{outside}": str(outside.folder),
        "{repository}": str(outside.repository),
        "{copy}": str(environment._copy.files.root.parent),
        "{ran}": f"touch {outside.folder}/drop/ran",
        "{victim}": str(outside.victim.pid),
        "{tcp}": str(outside.listeners[0].getsockname()[1]),
        "{udp}": str(outside.listeners[1].getsockname()[1]),
        "{home}": str(Path.home()),
        "{abstract}": MARK,
        "{forever}": FOREVER,
    }
    for word, instead in words.items():
        action = action.replace(word, instead)
    return action


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_nothing_hostile_succeeds(attacked: WorkspaceEnvironment, outside: Outside, attempt: str) -> None:
    before = outside.state()

    answers = [play(attacked, spoken(action, attacked, outside)) for action in ATTEMPTS[attempt]["actions"]]

    assert outside.state() == before
    for answer in answers:
        assert SECRET not in answer
        assert "\x1b" not in answer
        assert not answer.startswith("accepted")
    assert not running(FOREVER)
    assert ATTEMPTS[attempt].get("shows", "") in "\n".join(answers)


def test_the_episode_goes_on(attacked: WorkspaceEnvironment) -> None:
    play(attacked, "run rm -rf -- * .git* ; ls -A")
    for name, content in FILES.items():
        if not name.startswith("tests/"):
            path = attacked._copy.files.root / name
            play(attacked, f"write {name} {json.dumps(content)}")
            assert path.read_text() == content
    play(attacked, MENDED)

    ended = attacked.step("submit")

    assert ended.success, ended.text
    assert "left out, since protected: tests/" in ended.text
