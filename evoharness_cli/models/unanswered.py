"""What is raised where a server was asked in vain, but may have counted tokens."""

from __future__ import annotations

from ..harness import OutsideFault, Reply


class Unanswered(OutsideFault):
    """A server gave no reply that can be used; `spent` holds the tokens that it counted nevertheless."""

    def __init__(self, message: str, spent: Reply) -> None:
        super().__init__(message)
        self.spent = spent
