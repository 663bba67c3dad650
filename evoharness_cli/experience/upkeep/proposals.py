"""Has a model propose changes to entries, one a line, and lets through only what the entries themselves support.

The line shapes are patterns that every decoder can enforce (`harness.constraint`). A proposal is checked against the
entries that were shown; nothing is written before all have been made, and what is refused, or can't be read, changes
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...harness import Constraint, Model, Transcript
from ...harness.constraint import FreeText, OneOf
from ..drafts import Draft, InvalidEntry, draft_entry, draft_of
from ..entries import Entry, entries, is_private, record_event
from ..noting import find_same, keep
from ..sameness import may_merge, read_said
from ..shown import quote
from ..slots import read_slots
from ..store import Store
from ..vocabulary import EntryStatus, Kind, Trust
from ..words import indexed, wording
from .changes import Change, ChangeKind, begin_changes, make_change
from .consolidate import merge
from .duplicates import Duplicates
from .prune import Candidate, put_aside, stands
from .suspicion import suspicions

SHOWN = 20
"""Entries that are shown at a time."""
REPLIES = 8
"""Proposals at a time."""
_REPLY_TOKENS = 120
_LONGEST = 240
_KEPT_WORDS = 0.5
_SHARED_WORDS = 0.3
_DELETED = 4
"""One in so many of the entries shown may be deleted."""

NOTHING = "nothing"
_SYSTEM = f"""You tidy what an agent has learnt. You are shown entries and propose one change a line:
merge [A] into [B]: both say the same
update [A] [TEXT]: say the same more clearly, in its own words
add KIND from [A] [B] [TEXT]: what both have in common; KIND is {", ".join(Kind)}
delete [A]: it is wrong or says nothing
{NOTHING}: all is well
Never merge what differs in a number, a place or a negation."""

_FORMS = (
    re.compile(r"(?P<verb>merge) \[(?P<one>\d+)\] into \[(?P<other>\d+)\]"),
    re.compile(r"(?P<verb>update) \[(?P<one>\d+)\] \[(?P<text>[^\[\]]+)\]"),
    re.compile(
        rf"(?P<verb>add) (?P<kind>{'|'.join(Kind)}) from \[(?P<one>\d+)\] \[(?P<other>\d+)\] \[(?P<text>[^\[\]]+)\]"
    ),
    re.compile(r"(?P<verb>delete) \[(?P<one>\d+)\]"),
)


@dataclass(frozen=True)
class Proposal:
    """A change to entries: `merge` one into the other, `update` one, `add` from both, or `delete` one."""

    verb: str
    one: Entry
    other: Entry | None = None
    text: str = ""
    kind: Kind = Kind.NOTE

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries it is about."""
        return (self.one, self.other) if self.other else (self.one,)


@dataclass(frozen=True)
class Verdict:
    """What became of a line: accepted, or refused for a reason, as a sentence."""

    said: str
    proposal: Proposal | None
    why: str = ""

    @property
    def accepted(self) -> bool:
        """Whether it may be applied."""
        return not self.why and self.proposal is not None


def ask(store: Store, model: Model, scope: str | None = None, besides: Collection[int] = ()) -> list[Verdict]:
    """Have a model look at the active entries, those that share words together, and judge what it proposes.

    Nothing is written. `besides` are entries that are about to change. Raises what the model raises.
    """
    verdicts: list[Verdict] = []
    for number, shown in enumerate(_groups(store, scope, besides)):
        known = {each.id: each for each in shown}
        session = model.session(f"consolidate {number}")
        transcript = Transcript(_SYSTEM, "\n".join(map(quote, shown)))
        constraint = _constraint(list(known))
        touched: set[int] = set()
        deleted = 0
        for turn in range(REPLIES):
            said = session.reply(transcript, constraint, _REPLY_TOKENS, turn).text.strip()
            if said == NOTHING:
                break
            verdict = judge(store, said, known, touched, may_delete=(deleted + 1) * _DELETED <= len(shown))
            if verdict.accepted and verdict.proposal:
                touched.update(each.id for each in verdict.proposal.entries)
                deleted += verdict.proposal.verb == "delete"
            verdicts.append(verdict)
            transcript.add(said, "accepted" if verdict.accepted else f"refused: {verdict.why}")
    return verdicts


def judge(
    store: Store, said: str, known: Mapping[int, Entry], touched: Collection[int] = (), may_delete: bool = True
) -> Verdict:
    """Read a line and check it against the entries that were shown."""
    match = next((found for form in _FORMS if (found := form.fullmatch(said))), None)
    if match is None:
        return Verdict(said, None, "It is none of the forms.")
    parts = match.groupdict()
    numbers = [int(parts[name]) for name in ("one", "other") if parts.get(name)]
    if missing := [number for number in numbers if number not in known]:
        return Verdict(said, None, f"Entry {missing[0]} was not shown.")
    if len(set(numbers)) < len(numbers):
        return Verdict(said, None, "It names one entry twice.")
    if again := [number for number in numbers if number in touched]:
        return Verdict(said, None, f"Entry {again[0]} is part of an accepted proposal already.")
    others = [known[number] for number in numbers[1:]]
    kind = Kind(parts["kind"]) if parts.get("kind") else Kind.NOTE
    proposal = Proposal(parts["verb"], known[numbers[0]], others[0] if others else None, parts.get("text") or "", kind)
    check = {"merge": _check_merge, "update": _check_update, "add": _check_add, "delete": _check_delete}[proposal.verb]
    if proposal.verb == "delete" and not may_delete:
        return Verdict(said, proposal, "Too many of the entries shown would be deleted.")
    return Verdict(said, proposal, check(store, proposal))


def accept(store: Store, verdicts: Sequence[Verdict], change_set: int | None) -> tuple[int | None, int]:
    """Apply the accepted proposals whose entries haven't changed since; return the set of changes and how many."""
    changed = 0
    for verdict in verdicts:
        proposal = verdict.proposal
        if not verdict.accepted or proposal is None:
            continue
        with store.transaction():
            if not all(stands(store, each) for each in proposal.entries):
                continue
            if change_set is None:
                change_set = begin_changes(store, ChangeKind.CONSOLIDATION, {"proposed": True})
            _apply(store, change_set, proposal, verdict.said)
            changed += 1
    return change_set, changed


def _apply(store: Store, change_set: int, proposal: Proposal, said: str) -> None:
    one, other = proposal.one, proposal.other
    reason = f"A model proposed: {said}"
    if proposal.verb == "merge" and other:
        merge(store, change_set, Duplicates(other, (one,)))
    elif proposal.verb == "delete":
        put_aside(store, change_set, ChangeKind.CONSOLIDATION, Candidate(one, (reason,)))
    elif proposal.verb == "update":
        old, new = draft_of(one), replace(draft_of(one), text=proposal.text)
        before, after = (
            {"text": each.text, "normal": wording(each.words).normal, "words": indexed(each.words)}
            for each in (old, new)
        )
        make_change(store, change_set, Change(one.id, before, after, [reason]))
        record_event(store, "rewritten", one.id, consolidation=change_set, before=one.text, why=reason)
    elif other:
        added = keep(store, _added(proposal)).entry
        store.write(
            "INSERT OR IGNORE INTO sources (entry, episode, step, because) "
            "SELECT ?, episode, step, because FROM sources WHERE entry IN (?, ?) AND episode IS NOT NULL",
            [added.id, one.id, other.id],
        )
        change = Change(added.id, {"status": EntryStatus.DROPPED}, {"status": EntryStatus.ACTIVE}, [reason])
        make_change(store, change_set, change)
        record_event(store, "drawn", added.id, consolidation=change_set, entries=[one.id, other.id], why=reason)


def _check_merge(store: Store, proposal: Proposal) -> str:
    del store
    one, other = proposal.one, proposal.other
    assert other is not None
    if (one.kind, one.scope, one.world) != (other.kind, other.scope, other.world):
        return "They differ in kind, scope or world."
    if one.slots != other.slots:
        return "They claim different places."
    if one.trust == Trust.PERSON and other.trust != Trust.PERSON:
        return "A person's entry isn't merged into an agent's."
    if one.slots is None and not may_merge(
        read_said(draft_of(one).words), read_said(draft_of(other).words), _SHARED_WORDS
    ):
        return "They differ in a number, a negation or an order, or share too few words."
    return ""


def _check_update(store: Store, proposal: Proposal) -> str:
    one, text = proposal.one, proposal.text
    if one.trust == Trust.PERSON:
        return "A person's entry is theirs to change."
    if reason := _unfit(text, one.kind, one.scope):
        return reason
    if one.kind != Kind.MISTAKE and read_slots(text) != one.slots:
        return "It would claim another place."
    old, new = wording(one.text), wording(text)
    supported = old.content | wording(_grounds(store, one)).content
    if (old.numbers, old.turns) != (new.numbers, new.turns):
        return "It would change a number or a negation."
    if not new.content <= supported:
        return f"Nothing behind the entry speaks of {', '.join(sorted(new.content - supported))}."
    if len(new.content & old.content) < _KEPT_WORDS * len(old.content):
        return "Too little of what it says would be left."
    return ""


def _check_add(store: Store, proposal: Proposal) -> str:
    one, other, text = proposal.one, proposal.other, proposal.text
    assert other is not None
    if (one.scope, one.world) != (other.scope, other.world):
        return "Its sources differ in scope or world."
    if reason := _unfit(text, proposal.kind, one.scope):
        return reason
    draft = _added(proposal)
    if draft.slots:
        return "Where things are is counted, and not drawn from entries."
    new, sources = wording(text), [wording(draft_of(each).words) for each in proposal.entries]
    if unsupported := new.content - sources[0].content - sources[1].content:
        return f"Neither source speaks of {', '.join(sorted(unsupported))}."
    if not all(new.content & each.content for each in sources):
        return "It is drawn from one of the two alone."
    turns, numbers = (set(sources[0].turns + sources[1].turns), set(sources[0].numbers + sources[1].numbers))
    if not (set(new.turns) <= turns and set(new.numbers) <= numbers) or bool(turns) != bool(new.turns):
        return "It would change a number or a negation."
    if same := find_same(store, draft):
        return f"Entry {same.id} says so already."
    return ""


def _check_delete(store: Store, proposal: Proposal) -> str:
    del store
    one = proposal.one
    if one.trust == Trust.PERSON:
        return "A person's entry is theirs to delete."
    if one.helped > 0 or one.strength > 1:
        return f"It has a record to keep: noted {one.strength} times, helped {one.helped:.2f}."
    return ""


def _unfit(text: str, kind: Kind, scope: str) -> str:
    try:
        draft_entry(kind, text, scope)
    except InvalidEntry as error:
        return str(error)
    return " ".join(suspicions(text))


def _added(proposal: Proposal) -> Draft:
    one = proposal.one
    return draft_entry(proposal.kind, proposal.text, one.scope, None, one.world, Trust.DISTILLED)


def _grounds(store: Store, one: Entry) -> str:
    rows = store.rows("SELECT because FROM sources WHERE entry = ?", [one.id])
    return " ".join([one.when or "", *(row["because"] for row in rows)])


def _constraint(numbers: Sequence[int]) -> Constraint:
    shown, text = OneOf(tuple(map(str, numbers))), FreeText(shortest=1, longest=_LONGEST)
    return Constraint(
        (
            ("merge [", shown, "] into [", shown, "]"),
            ("update [", shown, "] [", text, "]"),
            ("add ", OneOf(tuple(Kind)), " from [", shown, "] [", shown, "] [", text, "]"),
            ("delete [", shown, "]"),
            (NOTHING,),
        )
    )


def _groups(store: Store, scope: str | None, besides: Collection[int]) -> Iterator[list[Entry]]:
    """Yield groups of at least two entries of one scope and world, those that share their first words side by side."""
    found = [
        each
        for each in entries(store, status=EntryStatus.ACTIVE, scope=scope, limit=-1)
        if each.id not in besides and not is_private(each.scope)
    ]
    by_home: dict[tuple[str, str | None], list[Entry]] = {}
    for each in sorted(found, key=lambda each: (sorted(wording(each.text).content), each.id)):
        by_home.setdefault((each.scope, each.world), []).append(each)
    for home in by_home.values():
        for start in range(0, len(home), SHOWN):
            if len(group := home[start : start + SHOWN]) > 1:
                yield group
