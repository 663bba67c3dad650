"""Replies as their tokens, kept beside the steps that they made: what a policy gradient needs of an episode."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..cluster.places import Sampler, SamplerSession
from ..experience.store import Store
from ..harness import Constraint, FreeText, OneOf, Reply, Transcript
from ..models.writing import Written


@dataclass(frozen=True)
class Turn:
    """One reply: the ids before it, its tokens, what ended it, and what it might have been."""

    prompt: tuple[int, ...]
    written: tuple[Written, ...]
    end: Written | None
    constraint: Constraint | None

    @property
    def choices(self) -> tuple[Written, ...]:
        """The tokens, and the one that ended them where one did."""
        return self.written if self.end is None else (*self.written, self.end)


class Recorder:
    """A model whose sessions keep every reply."""

    def __init__(self, model: Sampler) -> None:
        self.model = model
        self.name = model.name

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """The model's."""
        return self.model.fingerprint

    def session(self, task: str) -> Recording:
        """Return what answers in one episode."""
        return Recording(self.model.session(task))

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer without keeping it."""
        return self.model.reply(transcript, constraint, max_tokens, seed)

    def close(self) -> None:
        """Leave the model to who loaded it."""


class Recording:
    """A session that keeps every reply.

    `without` is the number of a step, from 1, and the meta-action that it may not call where decoding is constrained.
    """

    def __init__(self, session: SamplerSession, without: tuple[int, str] | None = None) -> None:
        self.name = session.name
        self.sampler = session
        self.turns: list[Turn] = []
        self._without = without

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """The model's."""
        return self.sampler.fingerprint

    def session(self, task: str) -> Recording:
        """Return another session of the model."""
        return Recording(self.sampler.session(task))

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer as a session does."""
        if self._without and constraint and transcript.replies + 1 == self._without[0]:
            constraint = _leave_out(constraint, self._without[1])
        sampled = self.sampler.sample(transcript, constraint, max_tokens, seed)
        self.turns.append(Turn(sampled.prompt, sampled.tokens, sampled.end, constraint))
        return Reply(sampled.text, len(sampled.prompt), len(sampled.tokens), sampled.evaluated_tokens)

    def close(self) -> None:
        """Leave the slot to others."""
        self.sampler.close()


def make_table(store: Store) -> None:
    """Make the table of turns in a store of rollouts."""
    store.database.execute(
        "CREATE TABLE IF NOT EXISTS turns (episode INTEGER NOT NULL REFERENCES episodes, step INTEGER NOT NULL, "
        "turn BLOB NOT NULL, PRIMARY KEY (episode, step))"
    )


def add_turn(store: Store, episode: int, step: int, turn: Turn) -> None:
    """Keep the reply that made a step."""
    packed = zlib.compress(json.dumps(_plain(turn)).encode(), 1)
    store.write("INSERT INTO turns (episode, step, turn) VALUES (?, ?, ?)", [episode, step, packed])


def read_turns(store: Store, episode: int) -> list[Turn]:
    """Return the replies of an episode in order."""
    rows = store.rows("SELECT turn FROM turns WHERE episode = ? ORDER BY step", [episode])
    return [_turn(json.loads(zlib.decompress(row["turn"]))) for row in rows]


def drop_turns(store: Store, episode: int) -> None:
    """Forget the replies of an episode that begins anew."""
    store.write("DELETE FROM turns WHERE episode = ?", [episode])


def _leave_out(constraint: Constraint, verb: str) -> Constraint:
    return Constraint(tuple(each for each in constraint.patterns if each[0] != f"{verb} ["))


def _plain(turn: Turn) -> dict[str, Any]:
    constraint = turn.constraint and [[_plain_part(part) for part in pattern] for pattern in turn.constraint.patterns]
    return {
        "prompt": turn.prompt,
        "written": [_plain_token(each) for each in turn.written],
        "end": turn.end and _plain_token(turn.end),
        "constraint": constraint,
    }


def _plain_token(written: Written) -> list[float]:
    return [written.token, written.log_probability, written.forced]


def _plain_part(part: str | OneOf | FreeText) -> str | dict[str, Any]:
    return part if isinstance(part, str) else asdict(part)


def _turn(plain: Mapping[str, Any]) -> Turn:
    constraint = plain["constraint"]
    return Turn(
        tuple(plain["prompt"]),
        tuple(_token(each) for each in plain["written"]),
        plain["end"] and _token(plain["end"]),
        constraint and Constraint(tuple(tuple(map(_part, pattern)) for pattern in constraint)),
    )


def _token(plain: Sequence[Any]) -> Written:
    return Written(int(plain[0]), float(plain[1]), bool(plain[2]))


def _part(plain: str | Mapping[str, Any]) -> str | OneOf | FreeText:
    if isinstance(plain, str):
        return plain
    return OneOf(tuple(plain["names"])) if "names" in plain else FreeText(**plain)
