"""A case folder: what is asked, the rules, the evidence, and the key where there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pydantic import Field

from .documents import Document, find_documents, fingerprint
from .reading import CaseError, Identifier, Line, Section, read_yaml
from .rules import RuleBook, read_rules
from .verdict import Key

CASE, KEY, RULES, EVIDENCE = "case.yaml", "key.yaml", "rules", "evidence"


class Check(Section):
    """One thing that is to be decided."""

    id: Identifier
    question: Line
    subject: Line
    """What or who it is about, as the evidence names it."""


class PassMark(Section):
    """What a review has to reach to count as done right; shares are of all checks."""

    decisions: float = Field(1.0, ge=0, le=1)
    citations: float = Field(1.0, ge=0, le=1)
    missed_exceptions: int = Field(0, ge=0)


class CaseFile(Section):
    """The keys of `case.yaml`."""

    title: Line
    kind: Line
    """What other cases are of the same kind."""
    request: Line
    as_of: date
    """The day on which rules have to be in force."""
    checks: tuple[Check, ...] = Field(min_length=1)
    pass_mark: PassMark = PassMark()


@dataclass(frozen=True)
class Case:
    """All that is known about a case before anything is done."""

    about: CaseFile
    documents: Mapping[str, Document]
    """Rules and evidence by name, the rules first."""
    rules: RuleBook
    key: Key | None
    """None where nobody wrote down what is right, as in a review that is not an exercise."""
    world: str

    def find_check(self, name: str) -> Check | None:
        """Return the check of an id, however it is capitalised."""
        return next((check for check in self.about.checks if check.id.casefold() == name.casefold()), None)

    def find_document(self, name: str) -> Document | None:
        """Return the document of a name; where none is spelt so, the one that differs in capitals only."""
        if found := self.documents.get(name):
            return found
        alike = [document for known, document in self.documents.items() if known.casefold() == name.casefold()]
        return alike[0] if len(alike) == 1 else None


def read_case(folder: Path) -> Case:
    """Read a case folder, but for the text of the evidence. Raises CaseError."""
    about = read_yaml(folder / CASE, CaseFile)
    _refuse_twice(folder / CASE, "check", [check.id.casefold() for check in about.checks])
    found = [*find_documents(folder / RULES, is_rules=True), *find_documents(folder / EVIDENCE)]
    _refuse_twice(folder, "document", [document.name for document in found])
    rules = read_rules([document for document in found if document.is_rules], about.as_of)
    if not rules.all():
        raise CaseError(f"{folder / RULES}: expected at least one rule; found none.")
    documents = {document.name: document for document in found}
    key = _read_key(folder / KEY, about, documents, rules) if (folder / KEY).exists() else None
    return Case(about, documents, rules, key, fingerprint(found))


def _read_key(path: Path, about: CaseFile, documents: Mapping[str, Document], rules: RuleBook) -> Key:
    key = read_yaml(path, Key)
    wanted, known = {check.id for check in about.checks}, {rule.id for rule in rules.all()}
    if wrong := sorted(wanted ^ set(key.checks)):
        raise CaseError(f"{path}: expected the checks of {CASE}, each once; {wrong[0]} is in one of the two only.")
    for name, expected in key.checks.items():
        for rule in expected.rules:
            if rule not in known:
                raise CaseError(f"{path}: {name} expects the rule {rule}, which the case doesn't have.")
        for citation in expected.citations:
            if citation.document not in documents:
                raise CaseError(f"{path}: {name} expects {citation.document}, which the case doesn't have.")
    return key


def _refuse_twice(path: Path, what: str, names: list[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise CaseError(f"{path}: expected every {what} to have a name of its own; {name} is there {times} times.")
