"""The child process that reads one PDF file: prints `{"pages": [...]}`, or `{"fault": "..."}` where it can't.

Started as `python -m evoharness_cli.environments.compliance.pdf_worker FILE`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MOST_PAGES = 300
MOST_CHARACTERS = 2_000_000
PROCESSOR_SECONDS = 20
MEMORY = 1 << 30
"""Bytes of address space."""


class _Refused(Exception):
    """The file is more than is read."""


def _limit() -> None:
    """Have the system end this process where a file makes it compute or allocate without end."""
    with suppress(ImportError):  # There is no such module on Windows, where the parent's clock is the only limit.
        import resource

        for kind, most in ((resource.RLIMIT_CPU, PROCESSOR_SECONDS), (resource.RLIMIT_AS, MEMORY)):
            with suppress(ValueError, OSError):  # Some systems don't let all of them be set.
                resource.setrlimit(kind, (most, most))


def _pages(path: Path) -> Iterator[str]:
    from pypdf import PdfReader

    reader = PdfReader(path)
    if len(reader.pages) > MOST_PAGES:
        raise _Refused(f"it has {len(reader.pages)} pages; at most {MOST_PAGES} are read")
    characters = 0
    for page in reader.pages:
        text = page.extract_text()
        characters += len(text)
        if characters > MOST_CHARACTERS:
            raise _Refused(f"it holds more than {MOST_CHARACTERS:,} characters of text")
        yield text


def _answer(path: Path) -> dict[str, object]:
    try:
        from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError
    except ImportError:
        return {"fault": "the package pypdf is not installed"}
    try:
        pages = list(_pages(path))
    except _Refused as error:
        return {"fault": str(error)}
    except (FileNotDecryptedError, DependencyError):
        return {"fault": "it is encrypted"}
    except (LimitReachedError, MemoryError):
        return {"fault": "it unpacks to more than is read"}
    except Exception:
        # Damaged files make the library fail in any way; this process has nothing else to lose.
        return {"fault": "it is damaged"}
    if not any(page.strip() for page in pages):
        return {"fault": "it holds no text; it may be a scan"}
    return {"pages": pages}


if __name__ == "__main__":
    _limit()
    print(json.dumps(_answer(Path(sys.argv[1]))))
