"""The memory policy of a run, and the model that curates it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ..experience.entries import is_private
from ..experience.policies import MemoryPolicy, check_policy, fingerprint, load_policy
from ..harness import WrongUsage
from ..models import load_model
from .settings import RunSettings
from .task import Task


class PrivateScope(WrongUsage):
    """A task is to be played in a scope that belongs to a memory policy."""


@dataclass(frozen=True)
class Memory:
    """A memory policy, and what its answers depend on."""

    policy: MemoryPolicy
    fingerprint: Mapping[str, object]


def check_memory(settings: RunSettings, tasks: Sequence[Task] = ()) -> None:
    """Raise WrongUsage where the memory policy of the settings can't be had, or isn't for the scopes of the tasks."""
    check_policy(settings.experience, curated=settings.curator is not None)
    for task in tasks:
        if is_private(task.scope):
            raise PrivateScope(
                f"The scope {task.scope} of the task {task.name} is where a memory policy keeps what it learns in "
                f"{task.scope.partition('/')[2] or 'the general scope'}; leave out its first part."
            )


@contextmanager
def opened_memory(settings: RunSettings) -> Iterator[Memory]:
    """Yield the memory policy of the settings, its curator loaded where they name one."""
    if settings.curator is None:
        policy = load_policy(settings.experience)
        yield Memory(policy, fingerprint(policy, None))
        return
    curator = load_model(settings.curator)
    try:
        policy = load_policy(settings.experience, curator)
        yield Memory(policy, fingerprint(policy, curator))
    finally:
        curator.close()
