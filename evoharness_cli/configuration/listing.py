"""Every key with what counts for it, for a person to see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from ..experience.store import default_path
from ..experience.upkeep.schedule import Schedule
from .keys import KEYS, OF_UPKEEP, UPKEEP
from .layers import Configuration, Source, Value


def listed(configuration: Configuration) -> Iterator[tuple[str, str, Value]]:
    """Yield every key, what it sets, and what counts, which is its default where nobody set it."""
    for key in KEYS:
        default = str(default_path()) if key.name == "db" else key.default
        yield key.name, key.says, configuration.values.get(key.name, Value(default, Source.DEFAULT))
    for name, value in asdict(Schedule()).items():
        yield f"{UPKEEP}.{name}", OF_UPKEEP[name], configuration.upkeep.get(name, Value(value, Source.DEFAULT))
