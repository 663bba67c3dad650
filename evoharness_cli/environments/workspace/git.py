"""Runs git so that nothing but its arguments decides what it does: no hooks, no settings of a person or machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ...harness import OutsideFault

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    # Whatever a repository's files are called here, they can be copied here.
    "core.protectNTFS=false",
    "gc.auto=0",
    "protocol.version=2",
)
_SOMEBODY = {"NAME": "evoharness", "EMAIL": "evoharness@localhost", "DATE": "2000-01-01T00:00:00Z"}
"""Who makes a commit, and when: always the same, so that the same files make the same commit."""
_SECONDS = 300


class GitFault(OutsideFault):
    """Git is not there, or refused."""


def git(
    *arguments: str | Path,
    git_dir: Path | None = None,
    work_tree: Path | None = None,
    cwd: Path | None = None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Run git and return what it printed. Raises GitFault where it fails."""
    done = try_git(*arguments, git_dir=git_dir, work_tree=work_tree, cwd=cwd, stdin=stdin, environment=environment)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        raise GitFault(f"git {arguments[0]} failed: {said[0].removeprefix('fatal: ').removeprefix('error: ')}")
    return done.stdout


def try_git(
    *arguments: str | Path,
    git_dir: Path | None = None,
    work_tree: Path | None = None,
    cwd: Path | None = None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run git and return how it ended. Raises GitFault where there is no git, or where it takes too long."""
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    where = [*([f"--git-dir={git_dir}"] if git_dir else []), *([f"--work-tree={work_tree}"] if work_tree else [])]
    try:
        return subprocess.run(
            ["git", *settings, *where, *arguments],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env={**_environment(), **(environment or {})},
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise GitFault("expected git, which is not installed; install it and try again") from None
    except subprocess.TimeoutExpired:
        raise GitFault(f"git {arguments[0]} took longer than {_SECONDS} seconds") from None


def _environment() -> dict[str, str]:
    people = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _SOMEBODY.items()}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C",
        "HOME": os.devnull,
        "XDG_CONFIG_HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        **people,
    }
