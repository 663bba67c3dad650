"""The copy of a repository in which an agent works, and what it changed there.

The person's repository is only read. One commit is fetched, without history, into a git folder of our own that lies
outside of the copy, where no command of the agent's reaches it. A worktree of the person's repository would be quicker,
but leaves an entry in its `.git` when the process is killed, and its `.git` could be written from the copy.

What the agent leaves behind is not to be trusted, so git never looks at the copy: changed files are found by their
status and their content is handed to git, which can't be led astray by settings, links or repositories in the copy.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .files import Files, Unusable
from .git import GitFault, git, try_git
from .removal import remove
from .sandbox.kinds import own
from .temporary import TemporaryFolder

MOST_CHANGES, MOST_CHANGED_BYTES = 2000, 64 * 2**20
"""How many files of a patch there may be, and how much may be in them."""
_NO_CONVERSION = "* -text -eol -ident -filter !working-tree-encoding\n"
_NEVER_PART = "__pycache__/\n*.pyc\n.pytest_cache/\n.venv/\n"
_REFERENCE = "refs/evoharness/work"

_Signature = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Snapshot:
    """The state of the copy, as git knows it: its tree, the files that differ, and those left out as protected."""

    tree: str
    changed: tuple[str, ...]
    left_out: tuple[str, ...]


class WorkingCopy:
    """A repository at a commit, copied. Raises GitFault where there is no such commit, or no git."""

    def __init__(self, repository: Path, commit: str | None) -> None:
        if shutil.which("git") is None:
            raise GitFault("expected git, which is not installed; install it and try again")
        if not repository.is_dir():
            raise GitFault(f"expected a repository, the folder {repository}, which isn't there")
        self._temporary = TemporaryFolder()
        self._folder = self._temporary.path
        self._git = self._folder / "git"
        self._start: dict[str, _Signature] = {}
        self._tracked: frozenset[str] = frozenset()
        self.name = repository.name.removesuffix(".git") or "repository"
        self.files = Files(self._folder / "copy")
        try:
            git("init", "--quiet", "--bare", self._git)
            self._git.chmod(0o700)
            (self._git / "info" / "attributes").write_text(_NO_CONVERSION, encoding="utf-8")
            (self._git / "info" / "exclude").write_text(_NEVER_PART, encoding="utf-8")
            self.commit = (
                self._fetched(repository, commit) if is_repository(repository) else self._made(repository, commit)
            )
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        """Fill the copy with the files of the commit."""
        self._check_out(self.files.root, self.commit)
        names = git("ls-tree", "-r", "-z", "--name-only", self.commit, git_dir=self._git).split(b"\0")
        self._tracked = frozenset(map(os.fsdecode, names))
        ignoring = [name for name in names if name.rpartition(b"/")[2] == b".gitignore"]
        self._check_out(self._folder / "ignored", self.commit, ignoring)
        self.remember()

    def remember(self) -> None:
        """Take what is in the copy now for unchanged, as after the commands that set it up. Raises Unusable."""
        self._start = {path: _signature(about) for path, about in self.files.all()}

    def touched(self) -> list[str]:
        """Return the paths that were written, added or removed since the beginning. Raises Unusable."""
        now = {path: _signature(about) for path, about in self.files.all()}
        written = [path for path, signature in now.items() if self._start.get(path) != signature]
        added = self._without_ignored([path for path in written if path not in self._tracked])
        removed = [path for path in self._start if path not in now]
        return sorted([*(path for path in written if path in self._tracked), *added, *removed])

    def snapshot(self, protected: Sequence[str] = ()) -> Snapshot:
        """Hand what was changed to git, but for paths that fit a protected pattern.

        Raises Unusable where the agent has left what can't be part of a patch, and says what.
        """
        touched = self.touched()
        left_out = [path for path in touched if is_protected(path, protected)]
        taken = [path for path in touched if path not in left_out]
        if len(taken) > MOST_CHANGES:
            raise Unusable(f"{len(taken):,} files changed; expected {MOST_CHANGES:,} at most. Remove what isn't needed")
        head = f"commit {_REFERENCE}\ncommitter work <work@localhost> 0 +0000\ndata 0\nfrom {self.commit}\n"
        stream = head.encode() + b"".join(self._changes(taken))
        done = try_git("fast-import", "--quiet", "--force", git_dir=self._git, stdin=stream)
        if done.returncode:
            raise Unusable(f"the changes can't be kept: {done.stderr.decode('utf-8', 'replace').splitlines()[0]}")
        tree = git("rev-parse", f"{_REFERENCE}^{{tree}}", git_dir=self._git).decode().strip()
        names = git("diff-tree", "-r", "-z", "--name-only", "--no-renames", self.commit, tree, git_dir=self._git)
        return Snapshot(tree, tuple(os.fsdecode(name) for name in names.split(b"\0") if name), tuple(left_out))

    def patch(self, tree: str) -> bytes:
        """Return what leads from the commit to a tree, as `git apply` takes it."""
        options = ("-p", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv")
        return git("diff-tree", *options, self.commit, tree, git_dir=self._git)

    @contextmanager
    def clean(self, tree: str) -> Iterator[Path]:
        """Yield a folder with the files of a tree, and nothing else. Raises Unusable."""
        folder = Path(tempfile.mkdtemp(prefix="clean-", dir=self._folder))
        try:
            try:
                self._check_out(folder, tree)
            except GitFault as fault:
                raise Unusable(f"the changes can't be copied: {fault}") from None
            yield folder
        finally:
            remove(folder)

    def close(self) -> None:
        """Remove the copy."""
        self._temporary.close()

    def _fetched(self, repository: Path, commit: str | None) -> str:
        wanted = commit or "HEAD"
        found = try_git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}", cwd=repository)
        if found.returncode:
            said = found.stderr.decode("utf-8", "replace").strip().partition("\n")[0].removeprefix("fatal: ")
            raise GitFault(
                f"The repository {repository} has no commit {wanted} that can be read{said and f': {said}'}."
            )
        name = found.stdout.decode().strip()
        git("fetch", "--quiet", "--no-tags", "--depth=1", repository.absolute(), name, git_dir=self._git)
        git("update-ref", "refs/heads/base", name, git_dir=self._git)
        return name

    def _made(self, folder: Path, commit: str | None) -> str:
        """Make a commit of a plain folder; the same files make the same one."""
        if commit is not None:
            raise GitFault(f"{folder} is no git repository, so it has no commit {commit}; leave `commit` out.")
        git("add", "--all", ".", git_dir=self._git, work_tree=folder, cwd=folder)
        tree = git("write-tree", git_dir=self._git).decode().strip()
        name = git("commit-tree", tree, "-m", "the folder as it was", git_dir=self._git).decode().strip()
        git("update-ref", "refs/heads/base", name, git_dir=self._git)
        return name

    def _check_out(self, folder: Path, tree: str, only: Sequence[bytes] | None = None) -> None:
        """Write the files of a tree into a folder, or only some of them."""
        folder.mkdir(exist_ok=True)
        index = {"GIT_INDEX_FILE": str(self._git / f"index-{folder.name}")}
        which = ("--all",) if only is None else ("-z", "--stdin")
        names = b"\0".join(only or [])
        git("read-tree", tree, git_dir=self._git, environment=index)
        git(
            *("checkout-index", "--force", *which),
            git_dir=self._git,
            work_tree=folder,
            cwd=folder,
            stdin=names,
            environment=index,
        )
        folder.chmod(0o700)
        own(folder)

    def _changes(self, paths: Sequence[str]) -> list[bytes]:
        """Return how fast-import is told of changes: removals first, as a folder may have taken a file's place."""
        changes, size = list[bytes](), 0
        for path in paths:
            changes.append(self._change(path))
            size += len(changes[-1])
            if size > MOST_CHANGED_BYTES:
                raise Unusable(f"more than {MOST_CHANGED_BYTES:,} bytes changed. Remove what isn't needed")
        return sorted(changes, key=lambda change: not change.startswith(b"D "))

    def _change(self, path: str) -> bytes:
        """Return how fast-import is told what became of a path."""
        name = b'"' + os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
        try:
            about = (self.files.root / path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            about = None
        if about is None or not (stat.S_ISREG(about.st_mode) or stat.S_ISLNK(about.st_mode)):
            return b"D " + name + b"\n"
        if stat.S_ISLNK(about.st_mode):
            mode, content = b"120000", os.fsencode(self._target(path))
        else:
            mode = b"100755" if about.st_mode & stat.S_IXUSR else b"100644"
            content = self.files.read(path)
        return b"M %s inline %s\ndata %d\n%s\n" % (mode, name, len(content), content)

    def _target(self, path: str) -> str:
        target = str((self.files.root / path).readlink())
        inside = os.path.normpath(PurePosixPath(path).parent / target)
        if target.startswith("/") or inside.split("/")[0] == "..":
            raise Unusable(f"the link {path} leads out of the repository, to {target}; remove it")
        return target

    def _without_ignored(self, paths: list[str]) -> list[str]:
        """Return the paths that the repository's own ignore files don't name."""
        if not paths:
            return []
        done = try_git(
            *("check-ignore", "--no-index", "-z", "--stdin"),
            git_dir=self._git,
            work_tree=self._folder / "ignored",
            cwd=self._folder / "ignored",
            stdin=b"\0".join(map(os.fsencode, paths)),
        )
        ignored = set(done.stdout.split(b"\0"))
        return [path for path in paths if os.fsencode(path) not in ignored]


def is_repository(folder: Path) -> bool:
    """Tell whether a folder is a git repository, with files beside it or bare."""
    return (folder / ".git").exists() or all((folder / part).exists() for part in ("HEAD", "objects", "refs"))


def is_protected(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path fits one of the patterns: `tests/**` is all below tests, `*.cfg` those at the top."""
    return any(_fits(PurePosixPath(path).parts, PurePosixPath(pattern).parts) for pattern in patterns)


def _fits(path: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_fits(path[skipped:], pattern[1:]) for skipped in range(len(path) + 1))
    return bool(path) and PurePosixPath(path[0]).match(pattern[0]) and _fits(path[1:], pattern[1:])


def _signature(about: os.stat_result) -> _Signature:
    """Return what changes whenever a file does; the time of its status can't be set back."""
    return about.st_mode, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino
