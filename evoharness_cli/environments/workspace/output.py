"""What commands print, as an agent is shown it: cleaned, shortened, and the same when it is printed again."""

from __future__ import annotations

import re

LONGEST = 6000
"""Characters of one observation's text; what is over is left out in the middle."""
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_VARYING = (
    # When a file was written, as `ls -l` says it: the copy is made anew for a run that goes on.
    (
        re.compile(r"^([bcdlps-][-rwxsStT]{9}[.+@]? .*? )[A-Z][a-z]{2} +\d{1,2} +\d[\d:]{3,4}(?= )", re.MULTILINE),
        r"\1_",
    ),
    # How long something took, where something is in memory, and names made up for temporary files.
    (re.compile(r"\b\d+\.\d+ ?(s|ms|secs?|seconds?)\b"), r"_\1"),
    (re.compile(r"\b0x[0-9a-f]{8,16}\b"), "0x_"),
    (re.compile(r"/tmp/tmp\w{8}\b"), "/tmp/tmp_"),
)


def readable(output: bytes) -> str:
    """Return what was printed without what only a terminal obeys, and without what differs from run to run."""
    text = _ESCAPE.sub("", output.decode("utf-8", "replace")).replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("\ufffd", text)
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return text.rstrip()


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text with its middle left out where it is too long, and say how much that is."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def printable(text: str) -> str:
    """Return a text that can be stored and shown: bytes that were no UTF-8 become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
