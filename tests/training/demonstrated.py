"""Episodes of the sample tasks, played by their script in the harness, as demonstrations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Episode, Step, Transcript
from evoharness_cli.models.scripted import ScriptedModel
from evoharness_cli.runs.find import find_tasks
from evoharness_cli.runs.play import Run, Unwatched, start
from evoharness_cli.runs.settings import RunSettings
from evoharness_cli.runs.task import Task

ORACLE = Path(__file__).parents[1] / "scripts" / "alfworld-oracle.yaml"


class _Keeps(Unwatched):
    def __init__(self) -> None:
        self.episodes: list[Episode] = []

    def began(self, number: int, task: Task, episode: Episode, recorded: Sequence[Step]) -> None:
        del number, task, recorded
        self.episodes.append(episode)


def transcripts(folder: Path, names: Sequence[str]) -> list[Transcript]:
    """Return the transcripts of sample tasks."""
    tasks = [task.settled({}) for task in find_tasks(names)]
    model, kept = ScriptedModel(ORACLE), _Keeps()
    settings = RunSettings(model=f"scripted:{ORACLE}")
    with Store.open(folder / "store.db") as store:
        results = Run(store, start(store, tasks, settings, model.fingerprint), settings, model, kept).play(tasks)
    assert all(result.success for result in results)
    return [episode.transcript for episode in kept.episodes if episode.transcript]


def line(transcript: Transcript, unlearnt: Sequence[int] = ()) -> dict[str, Any]:
    """Return a transcript as a demonstration, of which some replies, counted from 0, are not to be learnt."""
    messages: list[dict[str, Any]] = []
    for number, message in enumerate(transcript.messages):
        loss = {"loss": number // 2 - 1 not in unlearnt} if message.role == "assistant" else {}
        messages.append({"role": message.role, "text": message.text, **loss})
    return {"task": "sample", "kind": "sample", "format": "a", "messages": messages}


def short(count: int) -> list[dict[str, Any]]:
    """Return small demonstrations that share their system message."""
    things = ["mug", "pen", "apple", "book", "lamp", "knife"]
    return [
        {
            "format": "a",
            "messages": [
                {"role": "system", "text": "Reply with one action."},
                {"role": "user", "text": f"You see a desk 1. Your task is to: find a {thing}."},
                {"role": "assistant", "text": f"recall [{thing}]", "loss": True},
                {"role": "user", "text": "nothing relevant"},
                {"role": "assistant", "text": f"take {thing} 1 from desk 1", "loss": True},
            ],
        }
        for thing in things[:count]
    ]


def write(path: Path, demonstrations: Sequence[dict[str, Any]]) -> Path:
    """Write demonstrations as a file."""
    path.write_text("".join(json.dumps(each) + "\n" for each in demonstrations), encoding="utf-8")
    return path
