from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evoharness_cli.harness.constraint import Constraint, FreeText, OneOf
from evoharness_cli.models import LlamaModel, resolve

SMALL = "smollm2-135m"


@pytest.fixture(scope="session")
def model_file() -> Path:
    return resolve(SMALL)


@pytest.fixture(scope="session")
def model(model_file: Path) -> Iterator[LlamaModel]:
    """One greedy model for all tests; a reply depends on its transcript only."""
    with LlamaModel(model_file, context=2048) as model:
        yield model


@pytest.fixture
def meets() -> Callable[[Constraint, str], bool]:
    """Tell whether a reply is one of a constraint's patterns, by regular expressions."""

    def tell(constraint: Constraint, reply: str) -> bool:
        return any(re.fullmatch("".join(map(_regex, pattern)), reply) for pattern in constraint.patterns)

    return tell


def _regex(part: str | OneOf | FreeText) -> str:
    if isinstance(part, str):
        return re.escape(part)
    if isinstance(part, OneOf):
        return f"(?:{'|'.join(map(re.escape, part.names))})"
    return rf"[^\[\]\n]{{{part.shortest},{part.longest}}}"
