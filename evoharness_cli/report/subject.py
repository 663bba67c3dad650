"""What a report is about: a run, an evaluation, a training run's folder or a store, told apart by what is there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..evaluation.results import results
from ..experience import journal
from ..experience.journal import RunRecord
from ..experience.store import Store
from ..harness import WrongUsage
from .comparison import comparison
from .content import Section
from .experience import experience
from .outcomes import outcomes
from .training import BANKS, LOG, ROLLOUTS, SETTINGS, read_log, training
from .trajectories import Shelf, Shown, Trajectories, parts_of


@dataclass(frozen=True)
class Subject:
    """All that a page shows. `name` is what its file is called unless it is told otherwise."""

    name: str
    title: str
    remarks: Sequence[str]
    sections: Sequence[Section]
    trajectories: Trajectories


@contextmanager
def opened(what: str | None, store: Callable[[], Store]) -> Iterator[Subject]:
    """Yield what a word names, its files open: a run's number, a file, a folder, or nothing for all of the store.

    `store` opens the one that is meant where no file is named. Raises WrongUsage for what is none of these, and what
    a store raises.
    """
    with ExitStack() as files:
        if what is None:
            yield _store(files.enter_context(store()))
        elif re.fullmatch(r"\d+", what):
            yield _run(files.enter_context(store()), int(what))
        elif (path := Path(what)).is_dir() or path.name == LOG:
            yield _training(files, path if path.is_dir() else path.parent)
        elif path.is_file():
            yield _store(files.enter_context(Store.open(path)))
        else:
            raise WrongUsage(
                f"Expected the number of a run, the file of a store or of an evaluation, or the folder of a training "
                f"run; found {what!r}, which is none of these."
            )


def _store(store: Store) -> Subject:
    """Return an evaluation, where the store holds one, else the store."""
    shelf = Shelf(store)
    runs = list(reversed(journal.runs(store, limit=-1)))
    shown = [each for run in runs for each in _episodes(shelf, run)]
    if any(run.settings.get("label") for run in runs):
        methods, pairs = results(store)
        first, title = comparison(methods, pairs), f"Evaluation {store.path.stem}"
    else:
        first, title = outcomes([each.episode for each in shown]), f"Store {store.path.stem}"
    return Subject(
        name=store.path.stem,
        title=title,
        remarks=[f"{len(runs)} runs with {len(shown):,} episodes in {store.path.name}"],
        sections=_with_experience([first], shelf, shown),
        trajectories=Trajectories(shown),
    )


def _run(store: Store, number: int) -> Subject:
    shelf, run = Shelf(store), journal.run(store, number)
    shown = _episodes(shelf, run)
    played = "; ".join(f"{name} {fact}" for name, fact in _played(run).items())
    return Subject(
        name=f"run-{number}",
        title=f"Run {number}",
        remarks=[f"{run.status or 'unfinished'}, started {run.started[:19]} UTC", played],
        sections=[outcomes([each.episode for each in shown])],
        trajectories=Trajectories(shown),
    )


def _training(files: ExitStack, folder: Path) -> Subject:
    """Return a training run: its log, the episodes that its folder still has, and what its latest bank learnt."""
    if not (folder / LOG).exists():
        raise WrongUsage(
            f"Expected a training run in the folder {folder}, found no {LOG} in it. Name the folder that `train sft` "
            "or `train rl` made."
        )
    log = read_log(folder)
    shown: list[Shown] = []
    for path in sorted((folder / ROLLOUTS).glob("*.db")):
        shelf = Shelf(files.enter_context(Store.open(path)), prefix=f"{path.stem}-")
        for run in reversed(journal.runs(shelf.store, limit=-1)):
            # The banks that it began with brought episodes of earlier updates along.
            if run.settings.get("evaluation", {}).get("update") == int(path.stem):
                shown += _episodes(shelf, run)
    sections = [training(log)]
    if banks := sorted((folder / BANKS).glob("*.db")):
        sections = _with_experience(sections, Shelf(files.enter_context(Store.open(banks[-1])), prefix="bank-"), shown)
    return Subject(
        name=folder.resolve().name,
        title=f"Training {folder.resolve().name}",
        remarks=_trained_as(folder),
        sections=sections,
        trajectories=Trajectories(shown),
    )


def _with_experience(sections: Sequence[Section], shelf: Shelf, shown: Sequence[Shown]) -> list[Section]:
    known = {each.key for each in shown}

    def key_of(episode: int) -> str | None:
        key = shelf.key(episode)
        return key if key in known else None

    learnt = experience(shelf.store, shelf.votes, key_of)
    return [*sections, *([learnt] if learnt else [])]


def _episodes(shelf: Shelf, run: RunRecord) -> list[Shown]:
    method, played, parts = _method(run.settings), _played(run), parts_of(run.settings)
    return [Shown(shelf, episode, method, played, parts) for episode in journal.episodes(shelf.store, run.id)]


def _method(settings: Mapping[str, Any]) -> str:
    """Return by what the episodes of a run are told apart: a contender, an update, or a method and its model."""
    if label := settings.get("label"):
        return str(label)
    evaluation = settings.get("evaluation", {})
    if "update" in evaluation:
        return f"update {evaluation['update']}, {evaluation.get('part')}"
    model = settings.get("model")
    return f"{settings.get('method')}, {Path(model).name}" if model else str(settings.get("method"))


def _played(run: RunRecord) -> dict[str, str]:
    """Return how a run was played, each part under its name."""
    settings = run.settings
    named = ("method", "model", "adapter", "temperature", "seed", "experience", "curator")
    facts = {name: str(settings[name]) for name in named if settings.get(name) is not None}
    return {**facts, "version": run.version}


def _trained_as(folder: Path) -> list[str]:
    """Return the settings of a run that are plain values, as far as they can be read; of a file its name."""
    try:
        recorded = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    settings = recorded.get("sft") or recorded.get("rl") or {}
    plain = {name: value for name, value in settings.items() if isinstance(value, str | int | float)}
    return ["; ".join(f"{name.replace('_', ' ')} {Path(str(value)).name}" for name, value in plain.items())]
