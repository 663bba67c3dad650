"""One software task behind the harness's Environment Protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...harness import Brief, Condition, Fact, Observation, OutsideFault
from ...harness.belief import AT, NO, SEARCHED, YES
from . import actions, edits
from .checks import Check, Report, SetupFailed, prepare, run_checks
from .evidence import CHANGED, CHECKS, FAILED, IS, PASSED, UNCHANGED, evidence
from .files import Missing, Unusable, relative
from .output import LONGEST, printable, readable, shortened
from .patches import apply, keep
from .sandbox import CannotConfine, Limits, Sandbox
from .searching import MOST, search
from .symbols import definitions
from .working_copy import WorkingCopy, is_protected

_LINES = 200
"""Lines of a file that are shown at once."""
_WIDEST = 400
"""Characters of a line that are shown."""
_LISTED = 100
_LONGEST_COMMAND = 20_000
"""Characters of a command; the kernel takes about this many at least, however they are encoded."""


@dataclass(frozen=True)
class Work:
    """What a task asks, and how far a command may go."""

    request: str
    checks: tuple[Check, ...]
    setup: tuple[str, ...]
    protected: tuple[str, ...]
    limits: Limits


class WorkspaceEnvironment:
    """A repository in which an agent reads, edits and runs commands until it submits what passes the checks.

    `sandbox` is None where commands are refused, for the reason given; `apply_to` are the person's own files where the
    result is to be applied to them.
    """

    instructions = (
        "You are in a copy of a software repository, whose folder is /workspace. Change its files until the checks "
        "pass, then submit. Texts in quotes are written as in JSON; what `replace` takes away has to be in the file "
        "exactly once. Longer edits take an action of several lines between <action> and </action>: `write FILE` with "
        "the content in the lines after it, or `replace FILE` with blocks in the lines after it, each of them\n"
        f"{edits.BLOCK}\n"
        "Commands have no network. The checks run in a clean copy that has your changes."
    )
    example = "read README.md"
    forms: tuple[str, ...] = actions.FORMS

    def __init__(
        self,
        copy: WorkingCopy,
        work: Work,
        sandbox: Sandbox | None,
        refusal: str = "",
        apply_to: Path | None = None,
    ) -> None:
        self.brief = Brief(work.request, copy.name, f"{copy.name}@{copy.commit}")
        self._copy = copy
        self._work = work
        self._sandbox = sandbox
        self._refusal = refusal
        self._apply_to = apply_to
        self._facts: list[Fact] = []
        self._seen: dict[str, None] = {}
        self._folders: dict[str, None] = {".": None}
        self._changed: set[str] = set()

    def reset(self) -> Observation:
        """Fill the copy, run the setup, and show what is at its top. Raises OutsideFault where that fails."""
        try:
            self._copy.begin()
            if self._work.setup:
                prepare(self._copy.files.root, self._work.setup, self._sandboxed(), self._work.limits)
                self._copy.remember()
            text = f"The repository {self._copy.name} at commit {self._copy.commit[:10]}.\n{self._list('')}"
        except (Unusable, SetupFailed, CannotConfine, OSError) as error:
            raise OutsideFault(f"The task can't begin: {error}.") from error
        confined = "" if self._sandbox is None or self._sandbox.confines else "commands run without a sandbox"
        return Observation(printable(text), remark=confined or self._refusal)

    def read(self, action: str) -> str | None:
        """Return the action as it was worded, where it begins like one of the forms."""
        try:
            return action if actions.read_action(action) else None
        except edits.Unclear:
            return action

    def step(self, action: str) -> Observation:
        """Play an action; what can't be done is said, and changes nothing."""
        self._facts = []
        try:
            taken = actions.read_action(action)
            assert taken is not None
            if isinstance(taken, actions.Submit):
                return self._submit()
            text = self._answer(taken)
        except (Unusable, edits.Unclear) as error:
            text = f"not done: {error}"
        except (CannotConfine, OSError) as error:
            raise OutsideFault(f"The repository's copy or its sandbox stopped working: {error}.") from error
        return Observation(printable(text))

    def admissible(self) -> Sequence[str]:
        """Return nothing: what could be done can't be listed."""
        return ()

    def facts(self) -> Sequence[Fact]:
        """Return what the latest observation showed."""
        return self._facts

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the files and folders seen so far."""
        return {"file": list(self._seen), "folder": list(self._folders)}

    def evidence(self, subgoal: str) -> Condition | None:
        """Return when a subgoal is done; see `evidence.evidence`."""
        return evidence(subgoal)

    def close(self) -> None:
        """Remove the copy."""
        self._copy.close()

    def _answer(self, action: actions.Action) -> str:
        match action:
            case actions.List():
                return self._list(relative(action.folder))
            case actions.Read():
                return self._read(relative(action.file), action.first, action.last)
            case actions.Search():
                return self._search(action.text)
            case actions.Replace():
                path = self._writable(action.file)
                return self._write(path, edits.apply(self._copy.files.text(path), action.edits))
            case actions.Write():
                return self._write(self._writable(action.file), action.content)
            case actions.Run():
                return self._run(action.command)
            case actions.Check():
                return self._check()
            case _:
                return self._diff()

    def _list(self, folder: str) -> str:
        found = self._copy.files.listed(folder)
        for name, is_folder in found[:_LISTED]:
            path = f"{folder}/{name}" if folder else name
            if is_folder:
                self._folders.setdefault(path)
            elif path not in self._seen:
                self._seen[path] = None
                self._facts += [Fact(path, SEARCHED, NO)]
        if not found:
            return f"{folder or 'the repository'} is empty"
        names = [f"{name}/" if is_folder else name for name, is_folder in found[:_LISTED]]
        more = f"\n… and {len(found) - _LISTED:,} more" if len(found) > _LISTED else ""
        return "\n".join(names) + more

    def _read(self, file: str, first: int, last: int | None) -> str:
        text = self._copy.files.text(file)
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not lines:
            self._saw(file, {})
            return f"{file} is empty"
        if not 1 <= first <= len(lines) or (last is not None and last < first):
            raise Unusable(f"{file} has lines 1-{len(lines)}; found {first}-{first if last is None else last}")
        last = min(last or len(lines), first + _LINES - 1, len(lines))
        defined = {name: line for name, line in definitions(file, text).items() if first <= line <= last}
        self._saw(file, defined)
        shown = [f"{number:>5}  {_cut(line)}" for number, line in enumerate(lines[first - 1 : last], first)]
        more = f" of {len(lines)}" if (first, last) != (1, len(lines)) else ""
        return f"{file}, lines {first}-{last}{more}:\n" + "\n".join(shown)

    def _saw(self, file: str, defined: Mapping[str, int]) -> None:
        self._seen.setdefault(file)
        self._facts += [Fact(file, SEARCHED, YES)]
        self._facts += [Fact(name, AT, file) for name in defined]

    def _search(self, text: str) -> str:
        hits = search(self._copy.files, text)
        if not hits:
            return f"no line holds {text}"
        shown = hits[:MOST]
        by_file: dict[str, set[int]] = {}
        for hit in shown:
            by_file.setdefault(hit.file, set()).add(hit.line)
        for file, lines in by_file.items():
            if file not in self._seen:
                self._seen[file] = None
                self._facts += [Fact(file, SEARCHED, NO)]
            defined = definitions(file, self._copy.files.text(file))
            self._facts += [Fact(name, AT, file) for name, line in defined.items() if line in lines]
        more = f"\n… and more; the first {MOST} are shown" if len(hits) > MOST else ""
        return "\n".join(f"{hit.file}:{hit.line}: {_cut(hit.text.strip())}" for hit in shown) + more

    def _writable(self, file: str) -> str:
        path = relative(file)
        if is_protected(path, self._work.protected):
            raise Unusable(f"{path} is protected: the checks run with it as it was")
        return path

    def _write(self, path: str, text: str) -> str:
        try:
            content = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise Unusable("the text holds half a character, which no file can") from None
        try:
            before: bytes | None = self._copy.files.read(path)
        except Missing:
            before = None
        self._copy.files.write(path, content)
        self._seen.setdefault(path)
        self._look_for_changes()
        if before == content:
            return f"{path} is as it was"
        return f"{'wrote' if before is None else 'changed'} {path}, {len(text.splitlines())} lines"

    def _run(self, command: str) -> str:
        if len(command) > _LONGEST_COMMAND or "\0" in command or printable(command) != command:
            raise Unusable(f"the command holds what no command can, or more than {_LONGEST_COMMAND:,} characters")
        ended = self._sandboxed().run(command, self._copy.files.root, self._work.limits)
        self._look_for_changes()
        end = f"stopped: {ended.stopped}" if ended.stopped else f"exit code {ended.code}"
        output = shortened(readable(ended.output))
        return f"{output}\n({end})" if output else f"({end})"

    def _check(self) -> str:
        report, left_out, _ = self._checked()
        return f"{report}{_said_left_out(left_out)}"

    def _submit(self) -> Observation:
        try:
            report, left_out, tree = self._checked()
        except Unusable as error:
            return Observation(printable(f"not submitted: {error}"))
        text = f"{report}{_said_left_out(left_out)}"
        if not report.passed:
            return Observation(printable(f"not accepted yet, since a check fails\n{text}"))
        patch = self._copy.patch(tree)
        file = keep(patch, f"{self._copy.name}-{self._copy.commit[:10]}")
        remark = f"patch: {file}"
        if self._apply_to is not None:
            remark += f"; {apply(patch, self._apply_to) if patch else 'there is nothing to apply'}"
        return Observation(printable(f"accepted\n{text}"), done=True, success=True, remark=remark)

    def _checked(self) -> tuple[Report, tuple[str, ...], str]:
        """Run the checks in a clean copy; return what they came to, what was left out of it, and its tree."""
        sandbox, limits = self._sandboxed(), self._work.limits
        snapshot = self._copy.snapshot(self._work.protected)
        with self._copy.clean(snapshot.tree) as folder:
            try:
                prepare(folder, self._work.setup, sandbox, limits)
            except SetupFailed as error:
                raise Unusable(str(error)) from None
            report = run_checks(folder, self._work.checks, sandbox, limits)
        self._facts += [Fact(test, IS, PASSED if passed else FAILED) for test, passed in report.tests.items()]
        self._facts += [Fact(CHECKS, IS, PASSED if report.passed else FAILED)]
        return report, snapshot.left_out, snapshot.tree

    def _diff(self) -> str:
        snapshot = self._copy.snapshot(self._work.protected)
        patch = self._copy.patch(snapshot.tree).decode("utf-8", "replace")
        return f"{shortened(patch, LONGEST) or 'nothing is changed'}{_said_left_out(snapshot.left_out)}"

    def _look_for_changes(self) -> None:
        """Turn what differs from the commit now, or no longer does, into facts."""
        try:
            changed = set(self._copy.snapshot().changed)
        except Unusable:
            return  # The agent is told when it asks for the changes, or submits them.
        self._facts += [Fact(path, IS, CHANGED) for path in sorted(map(printable, changed))]
        self._facts += [Fact(path, IS, UNCHANGED) for path in sorted(map(printable, self._changed - changed))]
        self._changed = changed

    def _sandboxed(self) -> Sandbox:
        if self._sandbox is None:
            raise Unusable(f"commands are refused, since {self._refusal}")
        return self._sandbox


def _said_left_out(paths: Sequence[str]) -> str:
    return f"\nleft out, since protected: {', '.join(paths)}" if paths else ""


def _cut(line: str) -> str:
    return line if len(line) <= _WIDEST else f"{line[:_WIDEST]}…"
