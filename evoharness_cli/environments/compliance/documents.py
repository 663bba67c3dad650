"""The documents of a case: their text in pages, or the sentence that says why one can't be read."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .pdf import UnreadablePdf, read_pdf
from .reading import CaseError

EVIDENCE = (".md", ".txt", ".csv", ".json", ".pdf")
RULES = (".yaml", ".yml", ".md")
LARGEST = 5_000_000
"""The most bytes that a document may have, and the most characters of a text."""
MOST = 1000
"""The most documents in one folder of a case."""
PAGE = 3000
"""The most characters on a page as it is shown."""

_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What a terminal or a reader would obey or not see: control codes, direction overrides, tags, lone surrogates."""


@dataclass(frozen=True)
class Content:
    """What a document holds. Where `fault` says why it can't be read there is no text."""

    text: str = ""
    pages: tuple[str, ...] = ()
    fault: str = ""
    flaw: str = ""
    """What is wrong with a document that can be read all the same."""

    @cached_property
    def words(self) -> str:
        """The text with one blank wherever there is white space: what a quotation is looked for in."""
        return " ".join(self.text.split())

    def page_of(self, words: str) -> int | None:
        """Return the first page, counted from 1, that holds the words; None where they go over its end."""
        return next((number for number, page in enumerate(self.pages, 1) if words in " ".join(page.split())), None)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line with its page, counted from 1."""
        for number, page in enumerate(self.pages, 1):
            yield from ((number, line) for line in page.splitlines())


@dataclass(frozen=True)
class Document:
    """A file of a case, named by its path below the folder `evidence` or `rules`."""

    name: str
    path: Path
    root: Path
    """The folder that it has to be in, links followed."""
    is_rules: bool = False

    @cached_property
    def content(self) -> Content:
        """The text, read when it is first asked for."""
        kinds = RULES if self.is_rules else EVIDENCE
        if not self.path.resolve().is_relative_to(self.root.resolve()):
            return Content(fault="it is a link that leads out of the case")
        if self.path.suffix.lower() not in kinds:
            return Content(fault=f"expected a file that ends in {', '.join(kinds)}")
        try:
            if (size := self.path.stat().st_size) > LARGEST:
                return Content(fault=f"it has {size:,} bytes; at most {LARGEST:,} are read")
            return self._read()
        except OSError as error:
            return Content(fault=f"{error.strerror or error}".lower())
        except UnicodeDecodeError:
            return Content(fault="expected text in UTF-8, or in UTF-16 with its mark; save it as UTF-8")
        except UnreadablePdf as error:
            return Content(fault=str(error))

    def _read(self) -> Content:
        if self.path.suffix.lower() == ".pdf":
            texts = [cleaned(text) for text in read_pdf(self.path)]
            return Content("\n".join(texts), tuple(page for text in texts for page in paged(text)))
        text = cleaned(_decoded(self.path.read_bytes()))
        flaw = _json_flaw(text) if self.path.suffix.lower() == ".json" else ""
        return Content(text, tuple(paged(text)), flaw=flaw)


def find_documents(root: Path, is_rules: bool = False) -> list[Document]:
    """Return the files below a folder in the order of their names, without hidden ones.

    Raises CaseError where the folder is missing or has too many.
    """
    if not root.is_dir():
        raise CaseError(f"{root}: there is no such folder, and a case needs it.")
    found: list[Document] = []
    for path in sorted(root.rglob("*")):
        within = path.relative_to(root)
        if path.is_file() and not any(part.startswith(".") for part in within.parts):
            found.append(Document(" ".join(cleaned(within.as_posix()).split()), path, root, is_rules))
    if len(found) > MOST:
        raise CaseError(f"{root}: expected at most {MOST:,} documents; found {len(found):,}.")
    return found


def fingerprint(documents: Sequence[Document]) -> str:
    """Return `case-` and ten hex digits over names and contents; of what is too large to be read, over its size."""
    digest = hashlib.sha256()
    for document in documents:
        try:
            size = document.path.stat().st_size
            data = document.path.read_bytes() if size <= LARGEST else str(size).encode()
        except OSError:
            data = b""
        digest.update(f"{document.is_rules}\0{document.name}\0{len(data)}\0".encode("utf-8", "replace"))
        digest.update(data)
    return f"case-{digest.hexdigest()[:10]}"


def cleaned(text: str) -> str:
    """Return a text with plain line ends, and a mark in place of each character that hides or commands."""
    return _HIDDEN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n"))


def paged(text: str) -> list[str]:
    """Cut a text into pages of whole lines; only a line that is longer than a page is cut itself."""
    pages: list[str] = []
    page: list[str] = []
    size = 0
    for line in text.splitlines() or [""]:
        for start in range(0, max(len(line), 1), PAGE):
            piece = line[start : start + PAGE]
            if page and size + len(piece) > PAGE:
                pages.append("\n".join(page))
                page, size = [], 0
            page.append(piece)
            size += len(piece) + 1
    return [*pages, "\n".join(page)]


def _decoded(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding)
    return data.decode("utf-8")


def _json_flaw(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"not valid JSON, line {error.lineno}: {error.msg.lower()}"
    except (ValueError, RecursionError):
        return "JSON that is nested too deep or has a number too long to be read"
    return ""
