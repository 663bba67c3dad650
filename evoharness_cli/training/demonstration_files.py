"""The file of demonstrations: made chapter by chapter beside it, and put together when all are there.

While they are made, `FILE.parts/` holds `settings.json` and one file a chapter, each written whole, so that what was
interrupted goes on with the first chapter that isn't there. `FILE.card.json` says what the demonstrations are.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Generic, Protocol, TypeVar

from ..harness import Message, WrongUsage
from .demonstrations import Demonstration, chapters
from .examples import Reply, Tokeniser


class Unfinished(WrongUsage):
    """A file of demonstrations is there already, in part or whole, or can't be gone on with."""


Item = TypeVar("Item")
Made = TypeVar("Made", contravariant=True)


class Maker(Protocol[Made]):
    """What makes demonstrations, one of each item."""

    def chapter(self, number: int, items: Sequence[Made], /) -> Iterator[Demonstration]:
        """Yield what came of each item of a chapter, lost ones too. Raises OutsideFault."""
        ...


@dataclass(frozen=True)
class Making(Generic[Item]):
    """Demonstrations that are being made into a file."""

    out: Path
    maker: Maker[Item]
    items: Sequence[Item]
    settings: Mapping[str, Any]
    """All that decides what they are; what goes on has to have the same."""

    @property
    def parts(self) -> Path:
        """The folder of the chapters."""
        return self.out.with_name(f"{self.out.name}.parts")

    @property
    def card(self) -> Path:
        """The file that says what the demonstrations are."""
        return self.out.with_name(f"{self.out.name}.card.json")

    def begin(self, resume: bool) -> None:
        """Make the folder of the chapters, or check that it belongs to these settings. Raises Unfinished."""
        stated, file = json.loads(json.dumps(self.settings)), self.parts / "settings.json"
        if not resume:
            if self.out.exists():
                raise Unfinished(f"There is a file {self.out} already; name another one or remove it.")
            if self.parts.exists():
                raise Unfinished(f"{self.parts} holds demonstrations begun before: go on with --resume, or remove it.")
            self.parts.mkdir(parents=True)
            _write(file, [json.dumps(stated, indent=1)])
            return
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise Unfinished(f"There is nothing to go on with in {self.parts}; leave out --resume.") from None
        except ValueError as error:
            raise Unfinished(f"Expected settings in {file}, found {error}; remove {self.parts}.") from None
        if changed := [key for key in {**known, **stated} if known.get(key) != stated.get(key)]:
            raise Unfinished(
                f"{self.parts} was begun with other settings: expected {changed[0]} {known.get(changed[0])}, "
                f"found {stated.get(changed[0])}. Give the same, or remove it and leave out --resume."
            )

    def make(self) -> Iterator[bool]:
        """Make the chapters that aren't there, and yield for each item whether its episode was won."""
        for number, items in enumerate(chapters(self.items)):
            part = self._part(number)
            if part.exists():
                yield from (each["success"] for each in _read(part))
                continue
            lines = []
            for made in self.maker.chapter(number, items):
                lines.append(json.dumps(made.line(), ensure_ascii=False))
                yield made.success
            _write(part, lines)

    def finish(self, tokeniser: Tokeniser) -> dict[str, Any]:
        """Put what was won together, write the card and return it."""
        every = list(range(len(chapters(self.items))))
        _write(self.out, (json.dumps(each, ensure_ascii=False) for each in self._won(every)))
        played = (each for number in every for each in _read(self._part(number)))
        card = {**self.settings, **describe(played, tokeniser), "sha256": _sha256(self.out)}
        _write(self.card, [json.dumps(card, indent=1)])
        shutil.rmtree(self.parts)
        return card

    def _won(self, numbers: Iterable[int]) -> Iterator[dict[str, Any]]:
        return (each for number in numbers for each in _read(self._part(number)) if each["success"])

    def _part(self, number: int) -> Path:
        return self.parts / f"chapter-{number:03}.jsonl"


def describe(played: Iterable[Mapping[str, Any]], tokeniser: Tokeniser) -> dict[str, Any]:
    """Return what a card says of episodes that were played: how they went, and what those that were won hold."""
    by_kind: dict[str, list[bool]] = {}
    won: list[Mapping[str, Any]] = []
    verbs, slips, banks = Counter[str](), Counter[str](), Counter[str]()
    tokens = on_loss = 0
    for each in played:
        by_kind.setdefault(each["kind"], []).append(each["success"])
        if not each["success"]:
            continue
        # Only sums are kept: the messages of thousands of episodes are large.
        won.append({"steps": each["steps"], "calls": sum(each["verbs"].values()), "kind": each["kind"]})
        verbs.update(each["verbs"])
        slips.update(each["slips"].values())
        banks[each["bank"]] += 1
        turns = [Reply(Message(turn["role"], turn["text"]), turn.get("loss", False)) for turn in each["messages"]]
        if example := tokeniser.example(turns):
            tokens += len(example.ids)
            on_loss += len(example.labels)
    return {
        "demonstrations": len(won),
        "success": {kind: f"{sum(each)} of {len(each)}" for kind, each in sorted(by_kind.items())},
        "steps": {kind: _mean(won, "steps", kind) for kind in ["all", *sorted(by_kind)]},
        "calls": {kind: _mean(won, "calls", kind) for kind in ["all", *sorted(by_kind)]},
        "verbs": dict(sorted(verbs.items())),
        "slips": dict(sorted(slips.items())),
        "banks": dict(sorted(banks.items())),
        "tokens": tokens,
        "tokens_on_loss": on_loss,
    }


def _mean(won: Sequence[Mapping[str, Any]], key: str, kind: str) -> float:
    values = [each[key] for each in won if kind in ("all", each["kind"])]
    return round(fmean(values), 2) if values else 0.0


def _read(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
