"""Which sandbox this machine has."""

from __future__ import annotations

from ....harness import OutsideFault
from .kinds import Kind, works

ORDER = (Kind.BUBBLEWRAP, Kind.NAMESPACES, Kind.LANDLOCK)
"""Those that confine, the best first."""


class NoSandbox(OutsideFault):
    """None of the sandboxes works here."""


def sandboxes() -> dict[Kind, str]:
    """Return what is in the way of each sandbox; empty for those that work."""
    return {kind: works(kind) for kind in ORDER}


def find_sandbox() -> Kind:
    """Return the best sandbox that works here. Raises NoSandbox."""
    for kind in ORDER:
        if not works(kind):
            return kind
    raise NoSandbox(no_sandbox_hint())


def no_sandbox_hint() -> str:
    """Say why there is no sandbox here, and what to do about it."""
    why = "; ".join(f"{kind.value}: {reason}" for kind, reason in sandboxes().items())
    return f"no sandbox works here ({why}); install bubblewrap, or allow unprivileged user namespaces"
