"""What a program may answer, as docs/environments.md describes it, and how a wrong answer is said."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ...harness import VERBS
from .program import ProgramFault


def _one_line(text: str) -> str:
    if not text.strip() or len(text.splitlines()) > 1:
        raise ValueError("expected a text on one line")
    return text


def _no_verb(form: str) -> str:
    first = form.split("[")[0].split()[:1]
    if first and first[0].lower() in VERBS:
        raise ValueError(f"an action can't begin with {first[0]}, which calls the harness")
    return form


Line = Annotated[str, AfterValidator(_one_line)]
Form = Annotated[Line, AfterValidator(_no_verb)]


class Shown(BaseModel):
    """What an answer shows: the observation, and what the harness makes use of where the program tells it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    observation: str
    facts: list[Annotated[list[Line], Field(min_length=3, max_length=3)]] = []
    """What the observation shows, each a subject, a relation and an object."""
    names: dict[str, list[Line]] = {}
    """The names seen so far that a placeholder of the forms may take; what isn't mentioned stays as it was."""
    admissible: list[Line] = []
    """The actions that would do something now; none where the program doesn't say."""
    remark: str = ""
    """What the person who looks on is told, and not the agent."""


class Opening(Shown):
    """The answer to `reset`."""

    goal: Line
    forms: Annotated[list[Form], Field(min_length=1)]
    """The actions, as templates such as `go to {place}`."""
    instructions: str = "You act on a program."
    example: Line | None = None
    kind: Line = "process"
    """Tasks of one kind are compared with each other."""
    world: Line | None = None
    """Names the initial state, so that two tasks that start from the same one are known to."""


class Stepped(Shown):
    """The answer to `step`."""

    done: bool = False
    success: bool = False


Answer = TypeVar("Answer", Opening, Stepped)


def read_answer(kind: type[Answer], answer: dict[str, Any], name: str) -> Answer:
    """Return what a program answered. Raises ProgramFault, which calls it by its name."""
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = ", ".join(kind.model_fields)
            raise ProgramFault(f"{name} answered with an unknown key `{key}`; expected some of {known}.") from None
        if first["type"] == "missing":
            raise ProgramFault(f"{name} answered without the key `{key}`.") from None
        said = first["msg"].removeprefix("Value error, ")
        raise ProgramFault(f"{name} answered with a wrong `{key}`: {said[0].lower()}{said[1:]}.") from None
