"""What can go wrong with the store; each message is a sentence for a person."""

from __future__ import annotations

from ..harness.protocols import OutsideFault, WrongUsage


class StoreError(OutsideFault):
    """The store cannot do what was asked."""


class NotAStore(StoreError):
    """The path holds something other than an experience store."""


class SchemaTooNew(StoreError):
    """The file was written by a newer version of this program."""


class NotFound(WrongUsage):
    """There is no row of that number."""


class FrozenBank(WrongUsage):
    """A frozen bank was to be written."""
