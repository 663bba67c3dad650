"""The text of PDF files, read by a child process, so that a hostile file costs a sentence and not the run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SECONDS = 60.0
"""How long reading one file may take by the clock; the child limits its processor time and memory itself."""


class UnreadablePdf(Exception):
    """A PDF file without text that can be had; the message says why."""


def read_pdf(path: Path) -> list[str]:
    """Return the text of each page. Raises UnreadablePdf."""
    try:
        ended = subprocess.run(
            # With -P the folder it is started in, which may hold a module of any name, is not imported from.
            [sys.executable, "-P", "-m", f"{__package__}.pdf_worker", str(path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnreadablePdf(f"reading it took more than {SECONDS:.0f} s") from None
    try:
        answer = json.loads(ended.stdout)
    except ValueError:
        raise UnreadablePdf("reading it took too much time or memory") from None
    if "fault" in answer:
        raise UnreadablePdf(answer["fault"])
    pages: list[str] = answer["pages"]
    return pages
