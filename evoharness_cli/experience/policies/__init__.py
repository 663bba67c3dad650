"""Memory policies: what answers `recall` and `note`, and what an episode that ends teaches.

`bpe` is this project's own; the others are there to compare with. A package adds one by an entry point in the group
`evoharness.experience` that names a class as `MemoryPolicy` describes it, called with the curator's model or None.
See docs/memory-policies.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from ...harness.belief import Belief
from ...harness.protocols import Experience, Model, OutsideFault, WrongUsage
from ..store import Store

GROUP = "evoharness.experience"
DEFAULT = "bpe"
STAND_IN = "deterministic stand-in"
"""What results call the rules that take the place of a curator model where none is named."""

_CLASSES = {
    "append": "AppendMemory",
    "bpe": "BpeMemory",
    "expel": "ExpelMemory",
    "none": "NoMemory",
    "reasoningbank": "ReasoningBankMemory",
    "skillos": "SkillosMemory",
    "skillrl": "SkillrlMemory",
}
BUILT_IN = {name: EntryPoint(name, f"{__name__}.{name}:{each}", GROUP) for name, each in _CLASSES.items()}


class MemoryPolicy(Protocol):
    """How past tasks are remembered. One object serves all episodes of a run, in several threads at once.

    What an episode writes by `open`'s Experience has to be takeable back by `withdrawing.withdraw`, and `close` writes
    in one transaction that begins with `journal.require_open`: so a killed process leaves nothing that counts twice.
    """

    name: str
    curated: bool
    """Whether a curator model may be named, to decide what is kept."""

    def open(self, store: Store, episode: int, scope: str, world: str, learn: bool) -> Experience:
        """Return what answers `recall` and `note` in an episode; unless it is to `learn`, others see no change."""
        ...

    def close(self, store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool) -> None:
        """Close an episode: its outcome and, if it is to `learn`, what it teaches.

        Raises EpisodeClosed when it is closed already, NotFound when there is none, and what a curator model raises.
        """
        ...


Factory = Callable[[Model | None], MemoryPolicy]


class UnknownPolicy(WrongUsage):
    """No memory policy has this name."""


class NoCurator(WrongUsage):
    """A curator was named for a policy in which nothing is curated."""

    def __init__(self, policy: str) -> None:
        super().__init__(f"The memory policy {policy} has no curator; leave out --curator.")


class BrokenPolicy(OutsideFault):
    """An installed package's memory policy that can't be imported."""


def names() -> list[str]:
    """Return the names of the memory policies that are installed."""
    return sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def load_policy(name: str, curator: Model | None = None) -> MemoryPolicy:
    """Return a policy whose curator is a model, or else its stand-in.

    Raises UnknownPolicy, NoCurator or BrokenPolicy.
    """
    policy = _factory(name)(curator)
    if curator is not None and not policy.curated:
        raise NoCurator(name)
    return policy


def check_policy(name: str, curated: bool) -> None:
    """Raise what `load_policy` would, before a curator model is loaded."""
    if not _factory(name)(None).curated and curated:
        raise NoCurator(name)


def fingerprint(policy: MemoryPolicy, curator: Model | None) -> Mapping[str, object]:
    """Return what the policy's answers depend on, besides the store, as values that JSON can hold."""
    if not policy.curated:
        return {"experience": policy.name}
    return {"experience": policy.name, "curator": STAND_IN if curator is None else dict(curator.fingerprint)}


def _factory(name: str) -> Factory:
    installed = {point.name: point for point in entry_points(group=GROUP)} | BUILT_IN
    if name not in installed:
        raise UnknownPolicy(f"Expected a memory policy of {', '.join(names())}; found {name!r}.")
    try:
        factory: Factory = installed[name].load()
    except Exception as error:
        raise BrokenPolicy(
            f"The memory policy {name} of {installed[name].value} can't be imported: {error}. "
            "Reinstall or remove the package that brings it."
        ) from error
    return factory
