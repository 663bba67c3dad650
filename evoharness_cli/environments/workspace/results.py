"""Test by test, what a check reported: from JUnit XML, or from what unittest and pytest print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

LARGEST = 8 * 2**20
"""Bytes of the largest report that is read."""

_DECLARATION = b"<!DOCTYPE"
# Between a test's name and its result stand its description, and what it printed.
_UNITTEST = re.compile(
    r"^(test\w*) \(([\w.]+)\)(?:\n(?!test\w* \().*)?? \.\.\. "
    r"(?:(?!test\w* \().*\n)*?.*?(ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b",
    re.MULTILINE,
)
_PYTEST = re.compile(
    r"^(?:(\S+::\S+) (PASSED|FAILED|ERROR|XFAIL|XPASS)\b|(PASSED|FAILED|ERROR) (\S+::\S+))", re.MULTILINE
)
_PASSED = ("ok", "expected failure", "PASSED", "XFAIL")


class UnreadableReport(Exception):
    """A report that is no JUnit XML; the message says why."""


def read_junit(report: bytes) -> dict[str, bool]:
    """Return whether each test passed; those that were skipped are left out. Raises UnreadableReport."""
    # What declares entities could grow without end when it is read; no test program writes it, nor UTF-16.
    if len(report) > LARGEST or _DECLARATION in report or b"\0" in report:
        raise UnreadableReport("it is too large, declares a document type, or is not in UTF-8")
    try:
        root = ElementTree.fromstring(report)
    except ElementTree.ParseError as error:
        raise UnreadableReport(f"it is no XML: {error}") from None
    found: dict[str, bool] = {}
    for case in root.iter("testcase"):
        parts = {child.tag.rpartition("}")[2] for child in case}
        if "skipped" not in parts:
            name = short_name(case.get("classname", ""), case.get("name", ""))
            # A test may be reported once for its body and once for what cleans up after it.
            found[name] = found.get(name, True) and not parts & {"failure", "error"}
    return found


def read_printed(text: str) -> dict[str, bool]:
    """Return whether each test passed, as `python -m unittest -v` and `pytest -v` or `-rA` print it."""
    found: dict[str, bool] = {}
    for name, where, result in _UNITTEST.findall(text):
        if result != "skipped":
            path = where.removesuffix(f".{name}")
            _add(found, short_name(path, name), result in _PASSED)
    for before, result, verdict, after in _PYTEST.findall(text):
        path, _, name = (before or after).rpartition("::")
        place = path.replace("::", ".").removesuffix(".py").replace("/", ".").replace(".py.", ".")
        _add(found, short_name(place, name), (result or verdict) in _PASSED)
    return found


def short_name(place: str, name: str) -> str:
    """Return a test's name with the class or module it is in: `TestPrice.test_rounds`."""
    return f"{place.rpartition('.')[2]}.{name}" if place else name


def is_called(test: str, wanted: str) -> bool:
    """Tell whether a test is the one that is meant, with or without the class it is in."""
    return wanted in (test, test.rpartition(".")[2]) or test.endswith(f".{wanted}")


def missing(results: Mapping[str, bool], wanted: tuple[str, ...]) -> list[str]:
    """Return the wanted tests of which none was reported as passed."""
    return [each for each in wanted if not any(passed and is_called(test, each) for test, passed in results.items())]


def _add(found: dict[str, bool], name: str, passed: bool) -> None:
    found[name] = found.get(name, True) and passed
