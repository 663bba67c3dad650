"""The copy of a repository: what is in it, what becomes part of a patch, and that the person's own stays as it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from small_repository import FILES, commit_all, in_git, write_files

from evoharness_cli.environments.workspace.files import Unusable
from evoharness_cli.environments.workspace.git import GitFault
from evoharness_cli.environments.workspace.patches import apply
from evoharness_cli.environments.workspace.working_copy import WorkingCopy, is_protected

Copied = Callable[..., WorkingCopy]


@pytest.fixture
def copied() -> Iterator[Copied]:
    """Copy a repository."""
    copies: list[WorkingCopy] = []

    def copied(repository: Path, commit: str | None = None) -> WorkingCopy:
        copies.append(WorkingCopy(repository, commit))
        copies[-1].begin()
        return copies[-1]

    yield copied
    for copy in copies:
        copy.close()


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file of a folder, git's included, with its time and content."""
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def test_a_plain_folder_is_copied_and_the_same_files_are_the_same_commit(
    repository: Path, tmp_path: Path, copied: Copied
) -> None:
    (repository / "adding" / "__pycache__").mkdir()
    (repository / "adding" / "__pycache__" / "add.pyc").write_bytes(b"\0")
    (repository / "run.sh").write_text("#!/bin/sh\n")
    (repository / "run.sh").chmod(0o755)
    (repository / "to").symlink_to("run.sh")
    other = write_files(tmp_path / "other" / "adding", FILES)

    copy = copied(repository)

    assert {path for path, _ in copy.files.all()} == {*FILES, "run.sh", "to"}
    assert os.access(copy.files.root / "run.sh", os.X_OK)
    assert (copy.files.root / "to").readlink() == Path("run.sh")
    assert copied(other).commit == "f252680c1ab5e71bc6e2b90dc8ae0f04480e258c"
    assert copied(other).commit != copy.commit


def test_a_commit_is_copied_without_its_history_and_the_repository_is_only_read(
    repository: Path, copied: Copied
) -> None:
    first = commit_all(repository)
    (repository / "README.md").write_text("later\n")
    second = commit_all(repository)
    (repository / "README.md").write_text("not committed\n")
    before = state(repository)

    assert copied(repository, first).files.text("README.md") == FILES["README.md"]
    copy = copied(repository)

    assert (copy.files.text("README.md"), copy.commit) == ("later\n", second)
    assert in_git(copy._git, "rev-list", "--count", "--all") == "1"
    assert state(repository) == before


def test_a_bare_repository_and_a_branch_can_be_copied(repository: Path, tmp_path: Path, copied: Copied) -> None:
    commit_all(repository)
    in_git(repository, "branch", "side")
    in_git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")

    copy = copied(tmp_path / "bare.git", "side")

    assert copy.name == "bare"
    assert copy.files.text("README.md") == FILES["README.md"]


@pytest.mark.parametrize("commit", ["none", "--help", "HEAD:README.md"])
def test_what_is_no_commit_is_a_sentence(repository: Path, commit: str) -> None:
    commit_all(repository)

    with pytest.raises(GitFault, match=f"has no commit {commit}"):
        WorkingCopy(repository, commit)


def test_a_plain_folder_has_no_commit_to_choose(repository: Path) -> None:
    with pytest.raises(GitFault, match="is no git repository"):
        WorkingCopy(repository, "HEAD")


def test_the_patch_leads_from_the_commit_to_what_was_done(repository: Path, copied: Copied) -> None:
    (repository / "data.bin").write_bytes(bytes(range(256)))
    (repository / "kept").write_text("a folder comes here\n")
    copy = copied(repository)
    root = copy.files.root
    copy.files.write("adding/add.py", b"def add(a, b):\n    return a + b\n")
    copy.files.write('new/n\u00e4me "quoted".txt', b"new\n")
    (root / "data.bin").write_bytes(bytes(reversed(range(256))))
    (root / "README.md").unlink()
    (root / "kept").unlink()
    copy.files.write("kept/inside", b"in\n")
    (root / "tests" / "test_add.py").chmod(0o755)
    (root / "link").symlink_to("adding/add.py")

    snapshot = copy.snapshot()
    said = apply(copy.patch(snapshot.tree), repository)

    assert said == f"applied to {repository}"
    with copy.clean(snapshot.tree) as clean:
        for folder in (repository, clean):
            assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()} == {
                path for path, _ in copy.files.all()
            }
            for path, about in copy.files.all():
                assert (folder / path).lstat().st_mode & 0o100 == about.st_mode & 0o100
                if not (folder / path).is_symlink():
                    assert (folder / path).read_bytes() == (root / path).read_bytes()
    assert snapshot.changed == (
        *("README.md", "adding/add.py", "data.bin", "kept", "kept/inside", "link"),
        *('new/n\u00e4me "quoted".txt', "tests/test_add.py"),
    )


def test_what_is_ignored_or_as_before_is_no_change(repository: Path, copied: Copied) -> None:
    copy = copied(repository)
    for path in ("build/out.o", "x.log", "adding/__pycache__/add.pyc", ".venv/bin/python", "deep/build/y"):
        copy.files.write(path, b"x")
    copy.files.write("README.md", FILES["README.md"].encode())
    copy.files.write(".gitignore", b"adding/\n")

    assert copy.snapshot().changed == (".gitignore",)


def test_what_the_setup_made_is_no_change(repository: Path, copied: Copied) -> None:
    copy = copied(repository)
    copy.files.write("generated.txt", b"1")
    copy.remember()
    copy.files.write("adding/more.py", b"x = 1\n")

    assert copy.snapshot().changed == ("adding/more.py",)


def test_protected_paths_are_left_out_and_named(repository: Path, copied: Copied) -> None:
    copy = copied(repository)
    copy.files.write("tests/test_add.py", b"")
    copy.files.write("tests/more/x.py", b"")
    copy.files.write("adding/add.py", b"x = 1\n")

    snapshot = copy.snapshot(["tests/**"])

    assert snapshot.changed == ("adding/add.py",)
    assert snapshot.left_out == ("tests/more/x.py", "tests/test_add.py")


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "a/../../x"])
def test_links_that_lead_out_are_no_part_of_a_patch(repository: Path, copied: Copied, target: str) -> None:
    copy = copied(repository)
    (copy.files.root / "link").symlink_to(target)

    with pytest.raises(Unusable, match="leads out of the repository"):
        copy.snapshot()


def test_too_many_changes_are_refused(repository: Path, copied: Copied) -> None:
    copy = copied(repository)
    for number in range(2001):
        (copy.files.root / f"{number}.txt").touch()

    with pytest.raises(Unusable, match="2,001 files changed"):
        copy.snapshot()


def test_a_patch_that_doesnt_fit_changes_nothing_and_says_why(repository: Path, copied: Copied) -> None:
    copy = copied(repository)
    copy.files.write("adding/add.py", b"def add(a, b):\n    return a + b\n")
    copy.files.write("new.txt", b"new\n")
    patch = copy.patch(copy.snapshot().tree)
    mine = "def add(one, other):\n    return one\n"
    (repository / "adding" / "add.py").write_text(mine)

    assert apply(patch, repository) == (
        f"not applied to {repository}, where it doesn't fit: patch failed: adding/add.py:1"
    )
    assert (repository / "adding" / "add.py").read_text() == mine
    assert not (repository / "new.txt").exists()


def test_a_patch_is_applied_once_within_another_repository_too(
    repository: Path, tmp_path: Path, copied: Copied
) -> None:
    in_git(tmp_path, "init", "--quiet")
    copy = copied(repository)
    copy.files.write("adding/add.py", b"x = 1\n")
    patch = copy.patch(copy.snapshot().tree)

    assert apply(patch, repository) == f"applied to {repository}"
    assert (repository / "adding" / "add.py").read_text() == "x = 1\n"
    assert apply(patch, repository) == f"{repository} has these changes already"


@pytest.mark.parametrize(
    ("path", "patterns", "protected"),
    [
        ("tests/a/b.py", ["tests/**"], True),
        ("src/tests/b.py", ["tests/**"], False),
        ("src/test_b.py", ["**/test_*.py"], True),
        ("test_b.py", ["**/test_*.py"], True),
        ("a/setup.cfg", ["*.cfg"], False),
        ("setup.cfg", ["*.txt", "*.cfg"], True),
        ("tests", [], False),
    ],
)
def test_patterns_protect_paths(path: str, patterns: list[str], protected: bool) -> None:
    assert is_protected(path, patterns) is protected


def test_what_a_killed_process_left_is_removed_and_what_lives_stays(
    repository: Path, copied: Copied, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    living = copied(repository).files.root.parent
    killed = write_files(tmp_path / "evoharness-workspace-killed", {"copy/a.txt": "left"})
    made = write_files(tmp_path / "evoharness-workspace-made", {"copy/a.txt": "just made"})
    for folder in (living, killed):
        os.utime(folder, (0, 0))

    copied(repository)

    assert (living.exists(), killed.exists(), made.exists()) == (True, False, True)


def test_nothing_is_left_of_a_copy(repository: Path) -> None:
    with closing(WorkingCopy(repository, None)) as copy:
        copy.begin()
        (copy.files.root / "adding").chmod(0)
        folder = copy.files.root.parent

    assert not folder.exists()
