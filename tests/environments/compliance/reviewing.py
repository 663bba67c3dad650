"""A small case to be changed, reviews of it, and PDF files written by hand."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path

from evoharness_cli.environments.compliance.case import read_case
from evoharness_cli.environments.compliance.environment import ComplianceEnvironment
from evoharness_cli.harness import Belief, Observation, Progress

SAMPLES = Path(__file__).parents[3] / "sample_tasks" / "compliance"

FILES: Mapping[str, str] = {
    "case.yaml": """
title: A small case
kind: trial
request: decide both checks
as_of: 2026-03-31
checks:
  - {id: cap, question: "Is the amount within the cap?", subject: C-1}
  - {id: sign, question: "Was it signed?", subject: C-1}
""",
    "key.yaml": """
checks:
  cap:
    decision: exception
    rules: [R-2]
    citations: [{document: memo.md, words: "signed on: 2026-03-01"}]
  sign:
    decision: pass
    rules: [R-3]
    citations: [{document: ledger.csv, words: "C-1,"}]
""",
    "rules/rules.yaml": """
rules:
  - {id: R-1, title: Cap, text: At most 100 EUR., valid_from: 2024-01-01}
  - {id: R-2, title: Cap, text: At most 80 EUR., valid_from: 2026-01-01, supersedes: [R-1]}
  - {id: R-3, title: Signature, text: All is signed., valid_from: 2024-01-01}
  - {id: R-4, title: Old, text: Was so., valid_from: 2024-01-01, valid_until: 2025-12-31}
  - {id: R-5, title: New, text: Will be so., valid_from: 2027-01-01}
""",
    "evidence/ledger.csv": "claim,amount,signed\nC-1,90.00,yes\nC-2,50.00,no\n",
    "evidence/memo.md": "# Memo on C-1\n\n- amount: 95 EUR\n- signed on:   2026-03-01\n\nThe night was   long.\n",
}
"""The files of a case with two checks, whose memo and ledger state different amounts."""


class Review:
    """A review that is played as an episode plays it: what an observation shows goes into belief."""

    def __init__(self, folder: Path, reports: Path) -> None:
        self.environment = ComplianceEnvironment(read_case(folder), None, reports, folder.name)
        self.belief = Belief()
        self.progress = Progress(self.environment.brief.goal, self.environment.evidence)
        self.first = self.environment.reset()
        self._step = 0
        self.belief.absorb(self.environment.facts(), 0)

    def observe(self, action: str) -> Observation:
        """Play an action and return the observation."""
        readable = self.environment.read(action)
        assert readable is not None, action
        observation = self.environment.step(readable)
        self._step += 1
        self.belief.absorb(self.environment.facts(), self._step)
        return observation

    def do(self, *actions: str) -> str:
        """Play actions and return the last one's text."""
        return [self.observe(action).text for action in actions][-1]

    def commit(self, argument: str) -> str:
        """Call `commit` on what belief holds."""
        return self.progress.commit(argument, self.belief)


def write_files(folder: Path, files: Mapping[str, str | bytes | None]) -> Path:
    """Write files below a folder; None leaves one out."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def pdf(*pages: str, stream: bytes | None = None) -> bytes:
    """Return a PDF file with these lines of text, or with one page of a content stream that is packed."""
    streams = [b"<< /Length %d >>\nstream\n%s\nendstream" % (len(each), each) for each in map(_drawn, pages)]
    if stream is not None:
        packed = zlib.compress(stream, 1)
        streams = [b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed)]
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(streams)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, content in enumerate(streams):
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * number),
            content,
        ]
    written, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return written + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table, len(objects) + 1, len(written))
    )


def _drawn(text: str) -> bytes:
    lines = "".join(f"({line}) Tj T*\n" for line in text.splitlines())
    return f"BT /F1 11 Tf 72 760 Td 16 TL\n{lines}ET".encode()
