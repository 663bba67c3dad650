"""Trained policies that come along: each a folder with its card, its adapter and what it was trained to recall."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
CARD, ADAPTER, BANK = "card.yaml", "adapter.gguf", "bank.jsonl"


@dataclass(frozen=True)
class Policy:
    """A policy that ships."""

    name: str
    environment: str
    """The environment that it was trained for."""
    model: str
    """The model that its adapter belongs to, as the catalogue knows it."""
    card: Mapping[str, Any]
    """All that its card says."""

    @property
    def text(self) -> str:
        """The card as it is written."""
        return (FOLDER / self.name / CARD).read_text(encoding="utf-8")

    @property
    def adapter(self) -> Path:
        """The adapter, a GGUF file."""
        return FOLDER / self.name / ADAPTER

    @property
    def bank(self) -> Path:
        """What it may recall, as `evoharness export` writes it."""
        return FOLDER / self.name / BANK


def policies() -> list[Policy]:
    """Return the policies that ship, by name."""
    import yaml

    found = []
    for path in sorted(FOLDER.glob(f"*/{CARD}")):
        card = yaml.safe_load(path.read_text(encoding="utf-8"))
        found.append(Policy(path.parent.name, card["environment"], card["model"], card))
    return found


def named(name: str) -> Policy | None:
    """Return the policy of that name."""
    return next((each for each in policies() if each.name == name), None) if (FOLDER / name).is_dir() else None


def made_for(model: str, environments: Collection[str]) -> Policy | None:
    """Return the policy that was trained for a model and for these environments, all of them the same one."""
    return next((each for each in policies() if each.model == model and {each.environment} == set(environments)), None)


def of_adapter(adapter: str | None) -> Policy | None:
    """Return the policy whose adapter a file is."""
    if adapter is None or Path(adapter).parent.parent != FOLDER:
        return None
    return named(Path(adapter).parent.name)
