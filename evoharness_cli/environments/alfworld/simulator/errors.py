"""What the simulator says of a game that it leaves to the official engine."""

from __future__ import annotations

from ....harness import OutsideFault


class CannotCompile(OutsideFault):
    """A game whose domain, problem or grammar uses something that the simulator doesn't know."""
