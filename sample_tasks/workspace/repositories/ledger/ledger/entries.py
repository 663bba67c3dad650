"""One line of the ledger."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """Who paid how many cents for what."""

    payer: str
    cents: int
    what: str
