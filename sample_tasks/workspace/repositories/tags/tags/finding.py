"""Finds tags in a note."""

import re

_TAG = re.compile(r"(?<!\w)#(\w+)")


def find_tags(note: str) -> list[str]:
    """Return each tag of a note once, in lower case, in the order in which they come first."""
    return list({tag.lower() for tag in _TAG.findall(note)})
