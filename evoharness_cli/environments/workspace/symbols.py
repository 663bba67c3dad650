"""Where a source file defines what."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

LARGEST = 500_000
"""Characters of the largest file that is looked at."""
_BEFORE = "export|default|public|private|protected|static|final|abstract|async|pub|unsafe"
_KINDS = "function|func|fn|class|struct|enum|trait|interface|type|module|def"
# In Go, what a method belongs to stands between the two.
_DEFINED = re.compile(
    rf"^[ \t]*(?:(?:{_BEFORE})[ \t]+)*(?:{_KINDS})[ \t]+(?:\([^)\n]*\)[ \t]*)?([A-Za-z_$][\w$]*)", re.M
)
_SOURCES = (
    ".js",
    ".jsx",
    ".ts",
    ".tsx",
    ".mjs",
    ".go",
    ".rs",
    ".java",
    ".kt",
    ".rb",
    ".php",
    ".cs",
    ".swift",
    ".scala",
)


def definitions(path: str, text: str) -> dict[str, int]:
    """Return the functions and classes of a file with the line, from 1, where each begins.

    A method is named with its class, as in `Cart.total`. Only Python is really read; in the other languages that are
    known by the file's ending, lines that look like definitions count. Other files define nothing.
    """
    if len(text) > LARGEST:
        return {}
    if path.endswith((".py", ".pyi")):
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        return dict(_python(tree.body, ""))
    if path.endswith(_SOURCES):
        lines = enumerate(text.split("\n"), 1)
        return {match[1]: number for number, line in lines if (match := _DEFINED.match(line))}
    return {}


def _python(body: list[ast.stmt], within: str) -> Iterator[tuple[str, int]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield within + node.name, node.lineno
        if isinstance(node, ast.ClassDef):
            yield from _python(node.body, f"{within}{node.name}.")
