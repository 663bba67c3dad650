"""Runs SQL scripts statement by statement, in the caller's transaction."""

from __future__ import annotations

import re
from textwrap import dedent

from sqlite_utils import Database

_START = re.compile(r"^(?=(?:ALTER|CREATE|DELETE|DROP|INSERT|UPDATE) )", re.MULTILINE)


def run_script(database: Database, script: str) -> None:
    """Run a script whose statements begin at its margin; what belongs to one is indented further.

    `sqlite3.executescript` would commit the transaction, and `Database.executescript` asks SQLite after each character
    whether a statement ends there, which takes a tenth of a second for a new store.
    """
    for statement in _START.split(dedent(script)):
        if statement.strip():
            database.execute(statement)
