"""`teacher:ENVIRONMENT` as a model: what shows how an environment's tasks are done plays them."""

from __future__ import annotations

from ..harness import WrongUsage
from . import Teacher, Teaches, load_adapter


class NoTeacher(WrongUsage):
    """An environment that brings no teacher, or an option that a teacher has no use for."""


def teacher(environment: str, **options: object) -> Teacher:
    """Return the teacher of an environment, who makes no mistakes. Raises NoTeacher, UnknownEnvironment."""
    given = [name for name in ("adapter", "context") if options.get(name) is not None]
    if given:
        raise NoTeacher(f"A teacher is no language model and takes no {given[0]}: leave the {given[0]} out.")
    adapter = load_adapter(environment)
    if not isinstance(adapter, Teaches):
        raise NoTeacher(f"The environment {environment} brings no teacher: name a model.")
    return adapter.teacher(0, 0.0)
