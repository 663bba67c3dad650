"""The page: one file that a browser opens, made of a template, a style sheet, scripts and the packed episodes."""

from __future__ import annotations

import base64
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from .. import __version__
from ..harness import OutsideFault, WrongUsage
from .subject import Subject

MARK = "<!-- evoharness report -->"
"""In the first line of every report, so that nothing else is ever written over."""
_PARTS = files(__package__) / "browser"
_SCRIPTS = ("unpack.js", "belief.js", "list.js", "episode.js", "page.js")


def write_report(subject: Subject, out: Path, told: Callable[[int], None] = lambda _: None) -> None:
    """Write a report in one go: whoever opens `out` finds the old or the new one, whole.

    `told` of so many more episodes that are in it. Raises WrongUsage where `out` is something else than a report, and
    OutsideFault where it can't be written.
    """
    _check(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=out.parent, suffix=".tmp", delete=False, encoding="utf-8", errors="replace", newline="\n"
        ) as file:
            written = Path(file.name)
            try:
                for part in _rendered(subject, told):
                    file.write(part)
                file.close()
                written.replace(out)
            finally:
                written.unlink(missing_ok=True)
    except OSError as error:
        raise OutsideFault(f"The report can't be written to {out}: {error.strerror or error}.") from error


def _rendered(subject: Subject, told: Callable[[int], None]) -> Iterator[str]:
    from jinja2 import Environment, StrictUndefined

    style = _read("page.css")
    script = "\n".join(map(_read, _SCRIPTS))
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_read("page.html")).generate(
        mark=MARK,
        policy=_policy(script, style),
        style=style,
        script=script,
        subject=subject,
        trajectories=subject.trajectories,
        pieces=subject.trajectories.pieces(told),
        written=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        version=__version__,
    )


def _policy(script: str, style: str) -> str:
    """Return the page's Content Security Policy: its own script and style run, and nothing is ever fetched."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")


def _check(out: Path) -> None:
    """Raise WrongUsage where a file is there that isn't a report."""
    if out.is_dir():
        raise WrongUsage(f"{out} is a folder. Name a file in it, such as {out / 'report.html'}.")
    if out.exists():
        with out.open("rb") as file:
            if MARK.encode() not in file.read(200):
                raise WrongUsage(f"{out} is there already and isn't a report; name another file with --out.")
