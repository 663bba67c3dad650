"""A model whose replies were written beforehand, for tests, examples and replays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..harness import Constraint, OutsideFault, Reply, Transcript

_FORMS = "a list of replies, a mapping from task name to such a list, or what `inspect run --json` prints"


class ScriptError(OutsideFault):
    """A script that can't be read as replies, or has none for the task."""


class ScriptExhausted(OutsideFault):
    """More replies were asked for than the script holds."""


class ScriptedModel:
    """Answers turn n with the n-th reply of a file, so that a resumed episode goes on where it was.

    The file is `.txt` (one reply a line, blank lines don't count), or `.yaml`, `.yml` or `.json` holding a
    list of replies, a mapping from task name to such a list, or what `inspect run --json` prints. Of several
    tasks' replies `session` takes the ones to use. Constraint, length and seed don't change a reply.
    Raises ScriptError.
    """

    def __init__(self, path: Path) -> None:
        self._take(path.stem, str(path), _read(path))

    @classmethod
    def of(cls, replies: Sequence[str] | Mapping[str, Sequence[str]], name: str = "scripted") -> ScriptedModel:
        """Return a model with these replies, or with these for each task."""
        model = cls.__new__(cls)
        scripts = replies if isinstance(replies, Mapping) else {None: replies}
        model._take(name, name, {task: tuple(script) for task, script in scripts.items()})
        return model

    def _take(self, name: str, source: str, scripts: Mapping[str | None, tuple[str, ...]]) -> None:
        self.name = name
        self._source = source
        self._scripts = scripts
        self._task: str | None = None

    @property
    def fingerprint(self) -> dict[str, object]:
        """The script's file name. What it holds is left out, so that a run goes on with a script that was extended."""
        return {"script": Path(self._source).name}

    def session(self, task: str) -> ScriptedModel:
        """Return what answers with this task's replies; a script that is one list serves every task."""
        model = ScriptedModel.__new__(ScriptedModel)
        model._take(self.name, self._source, self._scripts)
        model._task = task
        return model

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Return the script's next reply. Raises ScriptExhausted, ScriptError when the task has no script."""
        del constraint, max_tokens, seed  # They don't change what was written.
        script = self._script()
        if transcript.replies >= len(script):
            task = f" for the task {self._task}" if self._task else ""
            raise ScriptExhausted(
                f"Expected a reply number {transcript.replies + 1} in the script {self._source}{task},"
                f" found {len(script)}: add replies or lower the number of steps."
            )
        return Reply(script[transcript.replies])

    def close(self) -> None:
        """Do nothing: a script holds nothing."""

    def _script(self) -> tuple[str, ...]:
        if None in self._scripts:
            return self._scripts[None]
        if self._task in self._scripts:
            return self._scripts[self._task]
        if self._task is None and len(self._scripts) == 1:
            return next(iter(self._scripts.values()))
        wanted = f"replies for the task {self._task}" if self._task else "a task to be named"
        known = ", ".join(str(task) for task in self._scripts) or "no task"
        raise ScriptError(f"Expected {wanted} in the script {self._source}, found {known}.")


def _read(path: Path) -> Mapping[str | None, tuple[str, ...]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ScriptError(f"The script {path} can't be read: {reason}.") from error
    kind = path.suffix.lower()
    if kind == ".txt":
        return {None: tuple(line for line in text.splitlines() if line.strip())}
    if kind not in (".yaml", ".yml", ".json"):
        raise ScriptError(f"Expected a script that ends in .txt, .yaml, .yml or .json, found {path}.")
    return _scripts(path, _parse(path, text))


def _parse(path: Path, text: str) -> object:
    import yaml

    try:
        return json.loads(text) if path.suffix.lower() == ".json" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ScriptError(f"The script {path} can't be read as {_FORMS}: {reason}.") from error


def _scripts(path: Path, content: object) -> Mapping[str | None, tuple[str, ...]]:
    if isinstance(content, list):
        return {None: _replies(path, "the list", content)}
    if not isinstance(content, dict):
        raise ScriptError(f"Expected {_FORMS} in the script {path}, found {_kind(content)}.")
    if _holds_episodes(content):
        return _episodes(path, content["episodes"])
    return {str(task): _replies(path, f"the task {task}", replies) for task, replies in content.items()}


def _holds_episodes(content: Mapping[object, object]) -> bool:
    episodes = content.get("episodes")
    return isinstance(episodes, list) and all(isinstance(episode, dict) for episode in episodes)


def _episodes(path: Path, episodes: Sequence[Mapping[str, object]]) -> Mapping[str | None, tuple[str, ...]]:
    scripts: dict[str | None, tuple[str, ...]] = {}
    for number, episode in enumerate(episodes, 1):
        task, steps = episode.get("task"), episode.get("steps")
        if not isinstance(task, str) or not isinstance(steps, list):
            raise ScriptError(f"Expected a task and its steps in episode {number} of {path}, found {_keys(episode)}.")
        if task in scripts:
            raise ScriptError(f"Expected one episode a task in {path}, found a second one of {task}: keep one of them.")
        replies = [step.get("reply") if isinstance(step, dict) else step for step in steps]
        scripts[task] = _replies(path, f"the task {task}", replies)
    return scripts


def _replies(path: Path, where: str, replies: object) -> tuple[str, ...]:
    if not isinstance(replies, list):
        raise ScriptError(f"Expected a list of replies as {where} in {path}, found {_kind(replies)}.")
    for number, reply in enumerate(replies, 1):
        if not isinstance(reply, str):
            raise ScriptError(
                f"Expected a text as reply {number} of {where} in {path}, found {_kind(reply)}: put it in quotes."
            )
    return tuple(replies)


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    names = {
        dict: "a mapping",
        list: "a list",
        str: "a text",
        bool: "a yes or no",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), f"a {type(value).__name__}")


def _keys(episode: Mapping[str, object]) -> str:
    return ", ".join(map(str, episode)) or "nothing"
