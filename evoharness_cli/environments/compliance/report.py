"""The report of a review in Markdown: each decision with its rule, its quotations and the actions that led to it."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ...harness import OutsideFault
from .case import Case, Check
from .papers import Papers, Quotation, Ruling
from .score import Score
from .verdict import Verdict

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def report_folder() -> Path:
    """Return where reports are kept: `reports` in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("evoharness") / "reports"


def write_report(folder: Path, name: str, text: str) -> Path:
    """Write a report in one go and return its path, which carries a hash of the text.

    So the same review has one report, and no other report is replaced. Raises OutsideFault.
    """
    path = folder / f"{name}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}.md"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False, encoding="utf-8") as file:
            unfinished = Path(file.name)
            try:
                file.write(text)
                file.close()
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise OutsideFault(f"The report {path} can't be written: {error.strerror or error}.") from error
    return path


def render_report(case: Case, papers: Papers, score: Score | None) -> str:
    """Return the report. Actions are numbered from 1, without the calls of the harness between them."""
    return "\n".join(_lines(case, papers, score)) + "\n"


def _lines(case: Case, papers: Papers, score: Score | None) -> Iterator[str]:
    about = case.about
    yield f"# {_plain(about.title)}"
    yield ""
    yield f"Rules as of {about.as_of}. Documents: `{case.world}`. Actions are numbered from 1."
    yield ""
    yield f"Asked: {_plain(about.request)}"
    yield ""
    yield "| check | subject | decision | rule |"
    yield "|---|---|---|---|"
    for check in about.checks:
        ruling = papers.ruling(check.id)
        rule = ruling.rule.id if ruling and ruling.rule else ""
        yield f"| {_plain(check.id)} | {_plain(check.subject)} | {ruling.verdict if ruling else 'open'} | {rule} |"
    for check in about.checks:
        yield from _trail(case, check, papers)
    if score:
        yield from _marks(score)


def _trail(case: Case, check: Check, papers: Papers) -> Iterator[str]:
    rulings, now = papers.rulings(check.id), papers.ruling(check.id)
    yield ""
    yield f"## {_plain(check.id)}: {now.verdict if now else 'open'}"
    yield ""
    yield f"{_plain(check.question)} ({_plain(check.subject)})"
    if now is None:
        return
    yield ""
    if now.verdict is Verdict.ESCALATED:
        yield f"Escalated at action {now.action}: {_plain(now.reason)}"
    else:
        yield from _grounds(case, now)
    for earlier in rulings[:-1]:
        yield ""
        yield f"Before, at action {earlier.action}: {_summary(earlier)}"


def _grounds(case: Case, ruling: Ruling) -> Iterator[str]:
    rule = ruling.rule
    assert rule is not None
    yield f"Decided at action {ruling.action} by the rule {rule.id}, {_plain(rule.title)}"
    yield f"({_plain(case.rules.document_of(rule))}, in force {rule.period}): {_plain(rule.text)}"
    yield ""
    for quotation in ruling.quotations:
        yield f"- {_source(quotation)}: {_code(quotation.words)}"


def _summary(ruling: Ruling) -> str:
    if ruling.rule is None:
        return f"{ruling.verdict}: {_plain(ruling.reason)}"
    return f"{ruling.verdict} by {ruling.rule.id} on {', '.join(each.id for each in ruling.quotations)}"


def _source(quotation: Quotation) -> str:
    page = f", page {quotation.page}" if quotation.page else ""
    return f"{quotation.id}, {_plain(quotation.document)}{page}, quoted at action {quotation.action}"


def _marks(score: Score) -> Iterator[str]:
    yield ""
    yield "## Against the key"
    yield ""
    yield f"{str(score)[:1].upper()}{str(score)[1:]}."
    yield ""
    yield "| check | decision | citation |"
    yield "|---|---|---|"
    for check, mark in score.marks.items():
        decided = "right" if mark.decided_right else "missed exception" if mark.is_missed_exception else "wrong"
        yield f"| {_plain(check)} | {decided} | {'right' if mark.cited_right else 'wrong'} |"


def _plain(text: str) -> str:
    """Return a text on one line in which nothing is read as Markdown or HTML."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _code(words: str) -> str:
    """Return words as they are, in more backticks than they hold."""
    longest = max((len(run) for run in re.findall(r"`+", words)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {words} {fence}" if "`" in words else f"{fence}{words}{fence}"
