"""What is printed about a ledger."""

from collections.abc import Iterable

from ledger.entries import Entry
from ledger.money import show


def paid_by(entries: Iterable[Entry]) -> dict[str, int]:
    """Return how many cents each person paid, in the order of their names."""
    paid: dict[str, int] = {}
    for entry in entries:
        paid[entry.payer] = paid.get(entry.payer, 0) + entry.cents
    return dict(sorted(paid.items()))


def lines(entries: Iterable[Entry]) -> list[str]:
    """Return the report, a line for each person."""
    return [f"{payer}: {show(cents)}" for payer, cents in paid_by(entries).items()]
