"""What an export says, line by line: a header, then entries and where things are. Read strictly."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

from .origins import LONGEST as LONGEST_OBSERVATION

FORMAT = "evoharness-experience"
VERSION = 1

Count = Annotated[int, Field(ge=0, le=10**9)]
Votes = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Text = Annotated[str, StringConstraints(max_length=1000)]
Observation = Annotated[str, StringConstraints(max_length=LONGEST_OBSERVATION)]


def _utc(text: str) -> str:
    """Refuse what isn't written as the store writes times, since they are compared as texts."""
    time = datetime.fromisoformat(text)
    if time.utcoffset() != timedelta() or time.isoformat(timespec="milliseconds") != text:
        raise ValueError("expected a time in UTC such as 2026-01-31T12:00:00.000+00:00")
    return text


Time = Annotated[Text, AfterValidator(_utc)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Header(_Line):
    """The first line; its counts tell whether the file is whole."""

    format: Literal["evoharness-experience"]
    version: Literal[1]
    entries: Count
    places: Count
    """How many lines are not entries."""


class OriginLine(_Line):
    """One time that an entry was noted, readable without the episode."""

    because: Observation | None = None
    environment: Text | None = None
    episode: Count | None = None
    id: Text | None = None
    note: Count | None = None
    """Tells what a person noted in one store apart."""
    outcome: Text | None = None
    started: Text | None = None
    step: Count | None = None
    store: Text | None = None
    task: Text | None = None


class ItemLine(_Line):
    """What a memory policy knows of the entry besides."""

    role: Text
    task_kind: Text
    title: Text
    importance: Annotated[int, Field(ge=-(10**9), le=10**9)]


class EntryLine(_Line):
    """An entry of experience. Times are ISO-8601 in UTC."""

    record: Literal["entry"]
    id: Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]
    """What it says, hashed: the same wherever it is kept."""
    kind: Literal["skill", "mistake", "note"]
    scope: Text
    world: Text | None
    text: Text
    when: Text | None
    slots: tuple[Text, Text, Text] | None = Field(strict=False)
    """Subject, relation and object, where it claims a place."""
    trust: Literal["agent", "person", "distilled", "imported"]
    """Who it comes from where it was first kept."""
    strength: Annotated[int, Field(ge=1, le=10**9)]
    recalled: Count
    helped: Votes
    hurt: Votes
    created: Time | None
    confirmed: Time | None
    """Not known where it was published without; then it counts from the import on."""
    last_recalled: Time | None
    because: str = Field(max_length=LONGEST_OBSERVATION)
    origins: list[OriginLine]
    item: ItemLine | None = None


class CountLine(_Line):
    """How often a type of place was searched (`object` is empty), or a type of thing was found in it, by one store."""

    record: Literal["count"]
    origin: Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
    scope: Text
    object: Text
    place: Text
    count: Annotated[int, Field(ge=1, le=10**9)]


class PriorLine(_Line):
    """That a thing is said to be often at a place: the first one likeliest."""

    record: Literal["prior"]
    scope: Text
    object: Text
    place: Text
    rank: Annotated[int, Field(ge=1, le=1000)]


class SightingLine(_Line):
    """Where a thing was first seen in one world."""

    record: Literal["sighting"]
    scope: Text
    world: Text
    object: Text
    place: Text
    at: Time


PlaceLine = CountLine | PriorLine | SightingLine
Line = EntryLine | PlaceLine
LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="record")])


def content_id(kind: str, scope: str, world: str | None, text: str, when: str | None) -> str:
    """Return what makes an entry the same wherever it is kept: a hash of what it says, where and when it applies."""
    said = json.dumps([kind, scope, world, text, when])
    return hashlib.sha256(said.encode()).hexdigest()[:32]
