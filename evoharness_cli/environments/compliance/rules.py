"""The rules of a case: read from YAML or Markdown, and which of them are in force."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pydantic import Field, ValidationError, model_validator

from .documents import RULES, Document
from .reading import CaseError, Identifier, Line, Section, explained, read_yaml

_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<words>.*?)[ \t]*#*$", re.MULTILINE)
_TITLE = re.compile(r"(?=\S*\d)(?P<id>[A-Za-z][\w.-]*\w)[.:]?\s+(?:[\u2013\u2014-]\s+)?(?P<title>\S.*)")
_PROPERTY = re.compile(r"^[*\s-]*(?P<key>valid from|valid until|supersedes)\s*:[*\s]*(?P<value>\S.*)$", re.IGNORECASE)


class Rule(Section):
    """What a rule says, and from when until when, both days included."""

    id: Identifier
    title: Line
    text: Line
    valid_from: date
    valid_until: date | None = None
    supersedes: tuple[Identifier, ...] = ()
    """The rules in whose place it stands from its first day."""

    @model_validator(mode="after")
    def _is_valid_at_all(self) -> Rule:
        if self.valid_until and self.valid_until < self.valid_from:
            raise ValueError(f"the rule {self.id} ends before it begins")
        return self

    @property
    def period(self) -> str:
        """From when until when it is valid, as a phrase."""
        return f"from {self.valid_from}" + (f" until {self.valid_until}" if self.valid_until else "")

    def is_named_in(self, text: str) -> bool:
        """Tell whether a text holds its id, as a word."""
        return re.search(rf"(?<![\w.-]){re.escape(self.id)}(?![\w-])", text) is not None


class RulesFile(Section):
    """The keys of a YAML file of rules."""

    rules: tuple[Rule, ...] = Field(min_length=1)


@dataclass(frozen=True)
class RuleBook:
    """All rules of a case, by the document that they stand in, as they are on one day."""

    by_document: Mapping[str, Sequence[Rule]]
    as_of: date

    def all(self) -> list[Rule]:
        """Return every rule, in force or not."""
        return [rule for rules in self.by_document.values() for rule in rules]

    def find(self, name: str) -> Rule | None:
        """Return the rule of an id, however it is capitalised."""
        return next((rule for rule in self.all() if rule.id.casefold() == name.casefold()), None)

    def document_of(self, rule: Rule) -> str:
        """Return the name of the document that a rule stands in."""
        return next(name for name, rules in self.by_document.items() if rule in rules)

    def successor(self, rule: Rule) -> Rule | None:
        """Return the rule that stands in the place of another by now, if there is one."""
        for other in self.all():
            if rule.id in other.supersedes and other.valid_from <= self.as_of:
                return other
        return None

    def lapsed(self, rule: Rule) -> str | None:
        """Say why a rule is not in force; None where it is."""
        if rule.valid_from > self.as_of:
            return f"it is valid {rule.period}"
        if successor := self.successor(rule):
            return f"superseded by {successor.id} from {successor.valid_from}"
        if rule.valid_until and rule.valid_until < self.as_of:
            return f"it was valid {rule.period}"
        return None


def read_rules(documents: Sequence[Document], as_of: date) -> RuleBook:
    """Read the rules of all documents. Raises CaseError."""
    by_document: dict[str, Sequence[Rule]] = {}
    known: dict[str, str] = {}
    for document in documents:
        by_document[document.name] = _read(document)
        for rule in by_document[document.name]:
            if before := known.get(rule.id.casefold()):
                raise CaseError(f"{document.path}: the rule {rule.id} stands in {before} already.")
            known[rule.id.casefold()] = document.name
    return RuleBook(by_document, as_of)


def _read(document: Document) -> Sequence[Rule]:
    suffix = document.path.suffix.lower()
    if suffix not in RULES:
        raise CaseError(f"{document.path}: expected rules in a file that ends in {', '.join(RULES)}.")
    if document.content.fault:
        raise CaseError(f"{document.path}: {document.content.fault}.")
    if suffix == ".md":
        return _from_markdown(document.path, document.content.text)
    return read_yaml(document.path, RulesFile).rules


def _from_markdown(path: Path, text: str) -> list[Rule]:
    """Read each section whose heading begins with an id, a word with a digit: `## PAY-4 Two people release`."""
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    rules = []
    for heading, end in zip(headings, ends, strict=False):
        if title := _TITLE.fullmatch(heading["words"]):
            rules.append(_section(path, title["id"], title["title"], text[heading.end() : end]))
    return rules


def _section(path: Path, name: str, title: str, body: str) -> Rule:
    properties: dict[str, object] = {}
    words = []
    for line in body.splitlines():
        if match := _PROPERTY.match(line):
            key, value = match["key"].lower().replace(" ", "_"), match["value"].strip(" *.")
            properties[key] = re.split(r"[,\s]+", value) if key == "supersedes" else value
        else:
            words.append(line)
    text = " ".join(" ".join(words).split())
    try:
        return Rule.model_validate({"id": name, "title": title, "text": text, **properties})
    except ValidationError as error:
        raise CaseError(f"{path}, rule {name}: {explained(error)}.") from None
