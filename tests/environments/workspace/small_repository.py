"""A small repository whose tests fail, and what the tests of the environment share."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from evoharness_cli.environments.workspace.checks import Check
from evoharness_cli.environments.workspace.environment import Work, WorkspaceEnvironment
from evoharness_cli.environments.workspace.sandbox import Kind, Limits, NoSandbox, find_sandbox, works
from evoharness_cli.environments.workspace.sandbox.limits import MIB
from evoharness_cli.harness import EnvironmentAction, parse_reply

CHECK = "python3 -P -m unittest discover -v -s tests -t ."
FILES = {
    "README.md": "# adding\n",
    ".gitignore": "build/\n*.log\n",
    "adding/__init__.py": "",
    "adding/add.py": 'def add(a, b):\n    """Return the sum."""\n    return a - b\n',
    "tests/__init__.py": "",
    "tests/test_add.py": (
        "import unittest\n\nfrom adding.add import add\n\n\nclass TestAdd(unittest.TestCase):\n"
        "    def test_nothing(self):\n        self.assertEqual(add(3, 0), 3)\n\n"
        "    def test_sum(self):\n        self.assertEqual(add(1, 2), 3)\n"
    ),
}
MENDED = 'replace adding/add.py "a - b" with "a + b"'
LIMITS = Limits(seconds=30, memory=256 * MIB, processes=32, file=4 * MIB, disk=64 * MIB, scratch=4 * MIB, output=MIB)
WORK = Work("mend add", (Check(command=CHECK, tests=("test_nothing", "test_sum")),), (), ("tests/**",), LIMITS)


def write_files(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a folder and return it."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def in_git(folder: Path, *arguments: str) -> str:
    """Run git in a person's repository."""
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit_all(folder: Path) -> str:
    """Make a folder a git repository, or add to the one that it is; return the commit."""
    in_git(folder, "init", "--quiet")
    in_git(folder, "add", "--all")
    in_git(folder, "commit", "--quiet", "--message", "a state")
    return in_git(folder, "rev-parse", "HEAD")


def needing(kind: Kind) -> Kind:
    """Return a kind of sandbox, or skip the test where it doesn't work here."""
    if reason := works(kind):
        pytest.skip(f"{kind.value}: {reason}")
    return kind


def play(environment: WorkspaceEnvironment, reply: str) -> str:
    """Play the action of a reply and return what the agent is shown."""
    action = parse_reply(reply).action
    assert isinstance(action, EnvironmentAction), action
    readable = environment.read(action.text)
    assert readable is not None, action
    return environment.step(readable).text


def best_kind() -> Kind:
    """Return the sandbox that commands run in here, or skip the test where there is none."""
    try:
        return find_sandbox()
    except NoSandbox as error:
        pytest.skip(str(error))


def running(mark: str) -> list[int]:
    """Return the processes of this machine whose command lines hold a mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                if mark.encode() in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
    return found
