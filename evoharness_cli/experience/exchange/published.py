"""Reads banks in the layout in which skill banks are published: one object of skills, mistakes, notes and priorities.

`general_skills` and `task_specific_skills` (a mapping from task type) hold skills of `title`, `principle` and
`when_to_apply`; `common_mistakes` hold `description`, `why_it_happens` and `how_to_avoid`; `search_priorities` map a
thing to the places where to look for it, likeliest first; `notes` are texts.

A task type becomes a scope below that of the import. `usage_count` says how often something was retrieved, not that it
helped, so it counts as recalled and never as a vote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from ..drafts import LONGEST, InvalidEntry
from .lines import Count, EntryLine, Line, OriginLine, PriorLine, content_id
from .origins import LONGEST as LONGEST_OBSERVATION

SECTIONS = ("general_skills", "task_specific_skills", "common_mistakes", "search_priorities", "notes")
LONGEST_FIELD = 20_000
"""Characters of one field; what is longer than an entry may be is cut."""

Words = Annotated[str, StringConstraints(max_length=LONGEST_FIELD)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class _Skill(_Part):
    principle: Words
    title: Words = ""
    when_to_apply: Words | None = None
    skill_id: Words = ""
    usage_count: Count = 0


class _Mistake(_Part):
    description: Words
    why_it_happens: Words | None = None
    how_to_avoid: Words | None = None
    mistake_id: Words = ""
    usage_count: Count = 0


class _Bank(_Part):
    general_skills: list[_Skill] = []
    task_specific_skills: dict[Key, list[_Skill]] = {}
    common_mistakes: list[_Mistake] = []
    search_priorities: dict[Key, Annotated[list[Key], Field(max_length=1000)]] = {}
    notes: list[Words] = []


def lines_of(found: Mapping[str, Any]) -> Iterator[Line]:
    """Yield what a published bank holds, as an export would. Raises InvalidEntry."""
    if not any(section in found for section in SECTIONS):
        keys = ", ".join(ascii(key)[:40] for key in list(found)[:5]) or "nothing"
        raise InvalidEntry(f"expected an export or a published bank with one of {', '.join(SECTIONS)}; found {keys}.")
    try:
        bank = _Bank.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InvalidEntry(f"{'.'.join(map(str, first['loc']))[:120]}: {first['msg']}.") from None
    for skill in bank.general_skills:
        yield _skill(skill, "")
    for task_type, skills in bank.task_specific_skills.items():
        for skill in skills:
            yield _skill(skill, task_type)
    for mistake in bank.common_mistakes:
        avoid = f" Instead: {mistake.how_to_avoid}" if mistake.how_to_avoid else ""
        text = f"{mistake.description.rstrip('. ')}.{avoid}"
        why = mistake.why_it_happens or ""
        yield _line("mistake", "", text, None, why, mistake.mistake_id, mistake.usage_count)
    for note in bank.notes:
        yield _line("note", "", note, None, "", "", 0)
    for thing, places in bank.search_priorities.items():
        for rank, place in enumerate(dict.fromkeys(places), 1):
            yield PriorLine(record="prior", scope="", object=_name(thing), place=_name(place), rank=rank)


def _skill(skill: _Skill, task_type: str) -> EntryLine:
    text = f"{skill.title}: {skill.principle}" if skill.title else skill.principle
    return _line("skill", task_type, text, skill.when_to_apply, "", skill.skill_id, skill.usage_count)


def _line(kind: str, scope: str, text: str, when: str | None, because: str, identity: str, recalled: int) -> EntryLine:
    when = _cut(when or "", LONGEST // 2) or None
    text = _cut(text, LONGEST - len(when or ""))
    origin = OriginLine(because=because[:LONGEST_OBSERVATION] or None, id=identity[:200] or None)
    return EntryLine.model_validate(
        {
            "record": "entry",
            "id": content_id(kind, scope, None, text, when),
            "kind": kind,
            "scope": scope,
            "world": None,
            "text": text,
            "when": when,
            "slots": None,
            "trust": "imported",
            "strength": 1,
            "recalled": recalled,
            "helped": 0,
            "hurt": 0,
            "created": None,
            "confirmed": None,
            "last_recalled": None,
            "because": because[:LONGEST_OBSERVATION],
            "origins": [origin],
        }
    )


def _name(name: str) -> str:
    """Return a name as places and things are known: in lower case, words apart by one space."""
    return " ".join(name.replace("_", " ").lower().split())


def _cut(text: str, longest: int) -> str:
    """Return a text on one line, cut between words where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rsplit(' ', 1)[0]}…"
