"""How a case, its documents and what was found are shown to the agent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .case import Case
from .documents import Document
from .papers import Papers, Ruling
from .verdict import Verdict

MOST_NAMES = 100
"""The most documents that are listed."""
MOST_HITS = 20
"""The most lines that a search shows."""
_SNIPPET = 240


def overview(case: Case, papers: Papers, read: Mapping[str, Collection[int]]) -> str:
    """Show the checks, the documents and the quotations; `read` holds the pages of each document that were shown."""
    lines = [f"Case: {case.about.title}, as of {case.about.as_of}", "Checks:"]
    for check in case.about.checks:
        ruling = papers.ruling(check.id)
        lines.append(f"- {check.id} ({check.subject}): {check.question} [{stands(ruling)}]")
    for title, is_rules in (("Rules", True), ("Evidence", False)):
        names = [
            f"{document.name}{_progress(document, read.get(document.name, ()))}"
            for document in case.documents.values()
            if document.is_rules is is_rules
        ]
        lines.append(f"{title}: {listed(names)}")
    if papers.quotations:
        lines.append("Quotations:")
        lines += [f"- {each.id}, {each.document}: {each.words}" for each in papers.quotations]
    return "\n".join(lines)


def listed(names: Sequence[str]) -> str:
    """Return names with commas, and how many more there are than can be shown."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more, which a search finds" if more > 0 else "")


def stands(ruling: Ruling | None) -> str:
    """Say what stands for a check."""
    if ruling is None:
        return "open"
    if ruling.verdict is Verdict.ESCALATED:
        return f"escalated: {ruling.reason}"
    assert ruling.rule is not None
    return f"{ruling.verdict} by {ruling.rule.id} on {', '.join(each.id for each in ruling.quotations)}"


def page(document: Document, number: int) -> str:
    """Show a page of a document that can be read. Each of its lines begins with `|`, so that none passes for ours."""
    content = document.content
    pages = len(content.pages)
    lines = [f"{document.name}, page {number} of {pages}{f', {content.flaw}' if content.flaw else ''}:"]
    lines += [f"| {line}" for line in content.pages[number - 1].splitlines() or [""]]
    if number < pages:
        lines.append(f"It goes on: open {document.name} {number + 1}")
    return "\n".join(lines)


def hits(case: Case, text: str) -> str:
    """Show the lines of all documents that hold every word of a text, and which documents could not be searched."""
    words = text.casefold().split()
    lines: list[str] = []
    unread: list[str] = []
    found = 0
    for document in case.documents.values():
        if document.content.fault:
            unread.append(document.name)
        for number, line in document.content.lines():
            folded = line.casefold()
            if not all(word in folded for word in words):
                continue
            found += 1
            if found <= MOST_HITS:
                start = max(0, folded.find(words[0]) - _SNIPPET // 2)
                lines += [f"{document.name}, page {number}:", f"| {line[start : start + _SNIPPET].strip()}"]
    shown = lines or [f"No line holds {text!r}."]
    if found > MOST_HITS:
        shown.append(f"{found - MOST_HITS} more lines hold it; search for something rarer.")
    if unread:
        shown.append(f"Not searched, for they can't be read: {', '.join(unread)}")
    return "\n".join(shown)


def _progress(document: Document, read: Collection[int]) -> str:
    if not read:
        return ""
    pages = len(document.content.pages)
    return " (read)" if len(read) == pages else f" (read {len(read)} of {pages} pages)"
