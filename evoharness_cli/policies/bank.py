"""What a policy was trained to recall, as a part of a person's own experience."""

from __future__ import annotations

from ..experience.entries import record_event
from ..experience.exchange.files import ExchangeFile
from ..experience.exchange.importing import Imported
from ..experience.store import Store
from ..models.hashes import compute_sha256
from . import Policy

_BROUGHT = "bank of a policy"
"""The event that a store has taken in a bank."""


def bring(policy: Policy, store: Store) -> Imported | None:
    """Import the bank of a policy into a store; None where it was there already, or there is none.

    What the person drops of it stays dropped: a bank is taken in once. Raises CannotImport.
    """
    if not policy.bank.exists():
        return None
    digest = compute_sha256(policy.bank)
    if store.row("SELECT 1 FROM events WHERE kind = ? AND detail ->> 'sha256' = ?", [_BROUGHT, digest]):
        return None
    file = ExchangeFile(policy.bank)
    with store.transaction():
        done = file.take_into(store)
        record_event(store, _BROUGHT, None, policy=policy.name, sha256=digest)
    return done
