"""Reads the ledger's CSV file."""

import csv
import io

from ledger.entries import Entry
from ledger.money import parse


def read_entries(text: str) -> list[Entry]:
    """Return the entries of a CSV text with the columns payer, amount and what."""
    rows = csv.DictReader(io.StringIO(text))
    return [Entry(row["payer"], parse(row["amount"]), row["what"]) for row in rows]
