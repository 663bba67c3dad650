"""Every episode as the page unpacks it: an index of all of them, and their steps in pieces of some hundred kilobytes.

The page reads the index when it opens, and a piece when an episode of it is opened.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..experience.entries import COLUMNS, read_entry
from ..experience.journal import EpisodeRecord
from ..experience.store import Store
from ..harness import VERBS, Part
from ..harness.episode import FORMAT
from ..runs.settings import Method
from .outcomes import outcome_of
from .plans import Replay
from .votes import Vote, votes

PIECE_STEPS = 1_500
"""About how many steps a piece holds; each of them takes some hundred bytes."""
PLAIN_STEPS = 1_500
"""Up to so many steps in all are written as they are, so that any browser reads them; more are compressed."""
STEP_COLUMNS = {
    "number": "number",
    "kind": "kind",
    "action": "action",
    "observation": "observation",
    "reply": f"iif(kind = '{FORMAT}', reply, '')",
    "thought": "thought",
    "remark": "remark",
    "charged": "charged",
    "invalid": "invalid",
    "compacted": "compacted",
    "facts": "json(facts)",
    "recalled": "json(recalled)",
    "prompt": "prompt_tokens",
    "evaluated": "evaluated_tokens",
    "written": "completion_tokens",
    "model": "round(model_seconds, 4)",
    "environment": "round(environment_seconds, 4)",
    "harness": "round(harness_seconds, 4)",
}
"""The parts of a step as the page names them, and what they are in the store."""
_STEPS = f"SELECT json_array({', '.join(STEP_COLUMNS.values())}) FROM steps WHERE episode = ? ORDER BY number"
_CALLS = (
    "SELECT number, kind, action, observation, recalled FROM steps "
    "WHERE episode = ? AND (kind IN ('commit', 'note') OR recalled != '[]') ORDER BY number"
)


class Shelf:
    """A store whose episodes are shown, with what it says about the entries that they recalled."""

    def __init__(self, store: Store, prefix: str = "") -> None:
        self.store = store
        self._prefix = prefix
        self._entries: dict[int, list[str]] = {}

    def key(self, episode: int) -> str:
        """Return what an episode is called in the page, which may show several stores."""
        return f"{self._prefix}{episode}"

    @cached_property
    def votes(self) -> list[Vote]:
        """All votes of its episodes."""
        return votes(self.store)

    @cached_property
    def votes_of(self) -> Mapping[int, Sequence[Vote]]:
        """The votes of each episode."""
        found: dict[int, list[Vote]] = defaultdict(list)
        for vote in self.votes:
            found[vote.episode].append(vote)
        return found

    def entry(self, number: int) -> list[str]:
        """Return kind, text and standing of an entry; no text where it was forgotten."""
        if number not in self._entries:
            row = self.store.row(f"SELECT {COLUMNS} FROM entries WHERE id = ?", [number])
            found = read_entry(row) if row else None
            self._entries[number] = (
                [found.kind, found.said, f"{found.status}, helped {found.helped:.2f}, hurt {found.hurt:.2f}"]
                if found
                else ["", "", "no longer in the store"]
            )
        return self._entries[number]


@dataclass(frozen=True)
class Shown:
    """One episode: where it is, its record, by what it is filtered as a method, and how it was played."""

    shelf: Shelf
    episode: EpisodeRecord
    method: str
    played: Mapping[str, str]
    parts: Sequence[Part] = field(default=tuple(Part))

    @property
    def key(self) -> str:
        """What it is called in the page."""
        return self.shelf.key(self.episode.id)


def parts_of(settings: Mapping[str, Any]) -> Sequence[Part]:
    """Return the parts of the workspace that were on by the recorded settings of a run."""
    try:
        return Method(settings["method"]).parts
    except (KeyError, ValueError):
        return tuple(Part)


class Trajectories:
    """The episodes of a report in their order."""

    def __init__(self, episodes: Sequence[Shown]) -> None:
        self.episodes = episodes
        self.steps = sum(each.episode.steps + 1 for each in episodes)
        self._pieces = list(_divided(episodes))

    @property
    def encoding(self) -> str:
        """How the pieces are written: `plain`, as JSON, or `deflate`, as base64 of its zlib form."""
        return "plain" if self.steps <= PLAIN_STEPS else "deflate"

    def index(self) -> str:
        """Return the index: what the list shows and filters by."""
        methods, kinds, outcomes = (_Names() for _ in range(3))
        rows = [
            [
                each.key,
                each.episode.task,
                methods.number(each.method),
                kinds.number(each.episode.kind),
                outcomes.number(outcome_of(each.episode)),
                each.episode.success,
                each.episode.steps,
                [each.episode.calls.get(verb, 0) for verb in (*VERBS, FORMAT)],
                round(each.episode.seconds, 1),
                piece,
            ]
            for piece, part in enumerate(self._pieces)
            for each in part
        ]
        return self._written(
            {
                "verbs": [*VERBS, FORMAT],
                "columns": list(STEP_COLUMNS),
                "methods": methods.names,
                "kinds": kinds.names,
                "outcomes": outcomes.names,
                "rows": rows,
            }
        )

    def pieces(self, told: Callable[[int], None] = lambda _: None) -> Iterator[str]:
        """Yield the pieces, each an object of episodes by their keys; `told` of the episodes in each."""
        for part in self._pieces:
            said = ",".join(f"{_encode(each.key)}:{_detail(each)}" for each in part)
            yield self._packed(f"{{{said}}}")
            told(len(part))

    def _written(self, value: object) -> str:
        return self._packed(_encode(value))

    def _packed(self, text: str) -> str:
        if self.encoding == "plain":
            return text.replace("<", "\\u003c")  # so that nothing in it can end the element that holds it
        return base64.b64encode(zlib.compress(text.encode(errors="replace"), 6)).decode()


class _Names:
    """Names by number, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        return list(self._numbers)

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))


def _divided(episodes: Sequence[Shown]) -> Iterator[list[Shown]]:
    part: list[Shown] = []
    steps = 0
    for each in episodes:
        part.append(each)
        steps += each.episode.steps + 1
        if steps >= PIECE_STEPS:
            yield part
            part, steps = [], 0
    if part:
        yield part


def _detail(shown: Shown) -> str:
    """Return an episode as JSON; its steps are written by SQLite."""
    episode, store = shown.episode, shown.shelf.store
    said_of = shown.shelf.votes_of.get(episode.id, [])
    entries = {vote.entry: shown.shelf.entry(vote.entry) for vote in said_of}
    replay, plans, noted = Replay(episode.goal, shown.parts), {}, {}
    for row in store.rows(_CALLS, [episode.id]):
        replay.apply(row["number"], row["action"], row["observation"])
        if row["kind"] == "commit":
            plans[row["number"]] = replay.plan()
        elif facts := replay.noted(row["number"]):
            noted[row["number"]] = facts
        entries |= {number: shown.shelf.entry(number) for number in json.loads(row["recalled"])}
    said = {
        "facts": _facts(shown),
        "goal": episode.goal,
        "fault": episode.fault if episode.outcome is None else None,
        "parts": [part.value for part in shown.parts],
        "plans": plans,
        "noted": noted,
        "entries": entries,
        "votes": [[vote.entry, vote.value, vote.words] for vote in said_of],
    }
    steps = ",".join(row[0] for row in store.rows(_STEPS, [episode.id]))
    return f'{_encode(said)[:-1]},"steps":[{steps}]}}'


def _facts(shown: Shown) -> dict[str, str]:
    """Return what is to be said of an episode besides its steps, each under its name."""
    episode = shown.episode
    limits = [
        f"{value} {name.replace('_', ' ')}" for name, value in episode.settings.get("limits", {}).items() if value
    ]
    facts = {
        **shown.played,
        "decode": str(episode.settings.get("decode", "")),
        "limits": ", ".join(limits),
        "episode": f"{episode.id}, of run {episode.run}",
        "from": episode.source,
        "world": episode.world,
        "scope": episode.scope,
        "started": f"{episode.started[:19]} UTC",
        "tokens": f"{episode.prompt_tokens:,} of prompts, of which {episode.evaluated_tokens:,} evaluated; "
        f"{episode.completion_tokens:,} written",
        "seconds": f"{episode.seconds:.1f}: model {episode.model_seconds:.1f}, environment "
        f"{episode.environment_seconds:.1f}, harness {episode.harness_seconds:.1f}",
    }
    return {name: fact for name, fact in facts.items() if fact}


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
