"""A name for the form in which an agent is shown everything: what learnt one form isn't to be played on another."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from ..experience.entries import Entry
from ..experience.places import PlaceCount, Whereabouts
from ..experience.shown import RECALL_FORMAT, answer, lay_out
from ..experience.vocabulary import EntryStatus, Kind, Trust
from ..harness import (
    Answer,
    Brief,
    Condition,
    Constraint,
    Decode,
    Episode,
    Fact,
    Observation,
    Reply,
    Settings,
    Transcript,
    Workspace,
)
from ..harness.belief import AT, HAND, NO, SEARCHED, YES, YOU
from ..models.chat import ChatTemplate

_REPLIES = (
    "recall [cup]",
    "commit [take cup | hold cup | put cup]",
    "go shelf 1",
    "commit [done]",
    "track [cup]",
    "track [lamp]",
    "track []",
    "note [cups are on shelves]",
    "note [fact: cup 1 | is | red]",
    "note [fact: red]",
    "commit [blocked: no hands]",
    "commit []",
    "dance",
    "go away\nat once",
    "take cup 1",
    "commit [done]",
    "commit [done]",
    "go home",
)


def transcript_format() -> str:
    """Return 16 hex digits over a small episode that the harness plays and the chat template renders.

    It changes with the wording of the system prompt and of every kind of answer, with the layout of a transcript and
    of a recall, and with how `ChatTemplate` puts messages together. What an environment words is not part of it, nor
    is a model's own template, which belongs to the model's file.
    """
    environment = _Shelf()
    workspace = Workspace(environment.brief.goal, environment.evidence, _Remembered())
    episode = Episode(environment, _Speaker(), workspace, Settings(decode=Decode.FREE))
    for _ in episode.play():
        pass
    assert episode.transcript is not None
    text = "".join(piece.text for piece in ChatTemplate(None).pieces(episode.transcript.messages))
    return hashlib.sha256(f"{RECALL_FORMAT}\n{text}".encode()).hexdigest()[:16]


class _Shelf:
    """A shelf with a cup: an environment for one episode."""

    brief = Brief(goal="bring a cup home", kind="bring", world="shelf")
    instructions = "You are at a shelf."
    forms: tuple[str, ...] = ("go {place}", "take {thing}")
    example = "go shelf 1"

    def __init__(self) -> None:
        self._facts: tuple[Fact, ...] = ()

    def reset(self) -> Observation:
        self._facts = (Fact("shelf 1", SEARCHED, NO), Fact("shelf 2", SEARCHED, NO))
        return Observation("You see a shelf 1 and a shelf 2.")

    def read(self, action: str) -> str | None:
        return action if action.startswith(("go ", "take ")) else None

    def step(self, action: str) -> Observation:
        shown = {
            "go shelf 1": (Fact(YOU, AT, "shelf 1"), Fact("shelf 1", SEARCHED, YES), Fact("cup 1", AT, "shelf 1")),
            "take cup 1": (Fact("cup 1", AT, HAND),),
        }
        self._facts = shown.get(action, ())
        return Observation(f"You {action}.", done=action == "go home", success=action == "go home")

    def admissible(self) -> Sequence[str]:
        return ()

    def facts(self) -> Sequence[Fact]:
        return self._facts

    def names(self) -> Mapping[str, Sequence[str]]:
        return {}

    def evidence(self, subgoal: str) -> Condition | None:
        if subgoal not in ("take cup", "hold cup"):
            return None
        return lambda belief: None if belief.subjects(AT, HAND) else "you hold nothing"

    def close(self) -> None:
        pass


class _Remembered:
    """Experience that knows a place, a claim and a skill."""

    def recall(self, query: str, step: int) -> Answer:
        del step
        places = Whereabouts(query, ("shelf 1",), (PlaceCount("shelf", 2, 3), PlaceCount("sink", 1, 3, imported=True)))
        claim = _entry(1, Kind.NOTE, "the cup is on shelf 1", None)
        skill = _entry(2, Kind.SKILL, "take X, put X", "the task is bring")
        return answer(lay_out([claim, skill], (places,)))

    def note(self, insight: str, step: int, because: str) -> str:
        del step, because
        return f"noted: {insight}"


class _Speaker:
    """Says the replies one after the other."""

    name = "speaker"
    fingerprint: Mapping[str, object] = {}

    def session(self, task: str) -> _Speaker:
        del task
        return self

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        del constraint, max_tokens, seed
        return Reply(_REPLIES[transcript.replies])

    def close(self) -> None:
        pass


def _entry(number: int, kind: Kind, text: str, when: str | None) -> Entry:
    return Entry(
        id=number, kind=kind, scope="", world=None, text=text, when=when, subject=None, relation=None, object=None,
        trust=Trust.AGENT, status=EntryStatus.ACTIVE, strength=1, recalled=0, helped=0, hurt=0, created="",
        confirmed="", last_recalled=None, episode=None, step=None, because="", superseded_by=None,
    )  # fmt: skip
