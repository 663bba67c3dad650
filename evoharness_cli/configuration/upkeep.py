"""How stores that are made from now on tend themselves."""

from __future__ import annotations

from ..experience.store import Store
from ..experience.upkeep.schedule import set_schedule
from .files import read_user_file


def set_up(store: Store) -> None:
    """Have a store that was just made tend itself as the user's own file says. Raises ConfigurationError."""
    file = read_user_file()
    if file and file.upkeep:
        set_schedule(store, **{name: said.value for name, said in file.upkeep.items()})
