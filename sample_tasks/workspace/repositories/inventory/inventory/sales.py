"""Reads what was sold."""

from typing import NamedTuple


class Sale(NamedTuple):
    """One line: the item, how many, and its customer."""

    item: str
    count: int
    customer: str


def read_sales(text: str) -> list[Sale]:
    """Return the lines of a text that hold something; ValueError, with its number, for one that can't be read."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.partition("#")[0].strip()
        if not stripped:
            continue
        fields = [field.strip() for field in stripped.split(";")]
        if len(fields) != 3:
            raise ValueError(f"line {number}: expected 3 fields; found {len(fields)}")
        item, count, where = fields
        if not item:
            raise ValueError(f"line {number}: the item has no name")
        if not count.isdigit():
            raise ValueError(f"line {number}: expected a count; found {count!r}")
        found.append(Sale(item.lower(), int(count), where))
    return found
