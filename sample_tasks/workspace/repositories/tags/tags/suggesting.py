"""Suggests tags for a note."""

from collections import Counter
from collections.abc import Iterable

from tags.finding import find_tags


def suggest(note: str, others: Iterable[str], most: int = 3) -> list[str]:
    """Return the tags that most often stand in other notes beside those of this one.

    Of those that stand there equally often, the one that comes first in the alphabet goes first.
    """
    own = set(find_tags(note))
    beside = Counter(tag for other in others if own & set(find_tags(other)) for tag in set(find_tags(other)) - own)
    return [tag for tag, _ in beside.most_common(most)]
