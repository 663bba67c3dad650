"""The bank of an evaluation: what `--bank` means, the store that begins as its copy, and giving it back."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..experience.entries import record_event
from ..experience.errors import StoreError
from ..experience.exchange.banks import NAME, NONE, Bank, close_log, content, existing, replace_content
from ..experience.exchange.export import content_hash
from ..experience.exchange.reducing import reduce
from ..experience.store import Store
from ..harness import WrongUsage
from ..policies import Policy, named
from ..policies.bank import bring
from ..runs.play import recorded_run
from .evolving import blocks, is_learnt

_GIVEN_BACK = "bank updated"
"""The event that the bank has got what the evaluation taught."""


class NoSuchBank(WrongUsage):
    """There is nothing to begin an evaluation with."""


class BankChanged(StoreError):
    """A live bank isn't what the evaluation began with."""


@dataclass(frozen=True)
class Choice:
    """What an evaluation begins with: a bank, another store's file, a policy's bank, or nothing."""

    bank: Bank | None = None
    file: Path | None = None
    policy: Policy | None = None

    @property
    def is_live(self) -> bool:
        """Whether what the evaluation teaches is to reach it."""
        return self.bank is not None and self.bank.version is None


def choose(text: str) -> Choice:
    """Return what `NAME`, `NAME@VERSION`, a policy's name, a file or `none` means. Raises NoSuchBank or BankError."""
    if text == NONE:
        return Choice()
    path = Path(text)
    if policy := named(text):
        return Choice(policy=policy)
    if NAME.fullmatch(text) and not path.is_file():
        return Choice(existing(text))
    if not path.is_file():
        raise NoSuchBank(f"Expected --bank to name a bank, a store's file or `none`; there is no {text}.")
    return Choice(file=path)


@contextmanager
def making(out: Path) -> Iterator[Path]:
    """Yield the file to make an evaluation's store in; it gets its name when the block has ended, whole or not at all.

    Raises WrongUsage where `out` is there and isn't an empty file, and StoreError where it can't be written.
    """
    if out.is_dir() or (out.exists() and out.stat().st_size):
        raise WrongUsage(f"{out} is there already; go on with it by --resume, or name another file.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".evaluation-", dir=out.parent))
    except OSError as error:
        raise StoreError(f"The evaluation can't be written to {out}: {error.strerror or error}.") from error
    try:
        yield folder / "evaluation.db"
        close_log(folder / "evaluation.db")
        (folder / "evaluation.db").rename(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def prepare(out: Path, choice: Choice) -> dict[str, Any]:
    """Make the store of an evaluation, a copy of the bank, and return what a result says of the bank.

    Raises DamagedBank.
    """
    if choice.policy:
        with closing(Store.open(out)) as store:
            bring(choice.policy, store)
            return {"name": choice.policy.name, "version": None, "hash": content_hash(store)}
    source = choice.bank.path if choice.bank else choice.file
    if source is None:
        with closing(Store.open(out)):
            return {"name": NONE, "version": None, "hash": None}
    if choice.bank and choice.bank.version:
        content(choice.bank)  # is it what was frozen?
    with closing(Store.open(source)) as store:
        store.copy_to(out)
    with closing(Store.open(out)) as copy:
        reduce(copy)
        found = content_hash(copy)
    if choice.bank is None:
        return {"name": str(source), "version": None, "hash": found}
    return {"name": choice.bank.name, "version": choice.bank.version, "hash": found}


def give_back(out: Path) -> Bank | None:
    """Give the live bank what an evaluation that has ended taught, once; return it if it was given now.

    Raises BankChanged where it isn't what the evaluation began with, and what the bank raises.
    """
    with closing(Store.open(out)) as store:
        runs = [row["id"] for row in store.rows("SELECT id FROM runs ORDER BY id DESC LIMIT 1")]
        if not runs:
            return None
        tasks, settings, _ = recorded_run(store, runs[0])
        every = int(settings.evaluation.get("evolve_every") or 0)
        done = store.row("SELECT 1 FROM events WHERE kind = ?", [_GIVEN_BACK])
        if not every or done or not all(is_learnt(store, runs[0], block) for block in blocks(len(tasks), every)):
            return None
        began: Mapping[str, Any] = settings.evaluation["bank"]
        bank = existing(began["name"])
        new, found = content_hash(store), content(bank).hash
        if found not in (began["hash"], new):
            raise BankChanged(
                f"The bank {bank.label} has changed since the evaluation began, and was left as it is. What the "
                f"evaluation taught is in {out}: evoharness export --db {out}."
            )
        if found != new:
            replace_content(bank, store)
        record_event(store, _GIVEN_BACK, None, bank=bank.label, hash=new)
        return bank
