"""SkillRL's bank (Xia et al., SkillRL: Evolving Agents via Recursive Skill-Augmented RL, arXiv 2602.08234).

From the description: skills are general or belong to one type of task, with common mistakes beside them; the type of a
task is told by its words, six skills are shown, and the bank grows where tasks are failed: a teacher model looks at
failed trajectories and adds at most three skills for what is missing.

Differences: there is no reinforcement learning and no first bank from a teacher; it begins empty, or with a published
bank (`evoharness import FILE --scope @skillrl/SCOPE`). It grows at every failed episode, where the original looks at
failures between validation epochs of training. General skills, those of the task's type and mistakes share the six
lines, ranked by words in common with the query and the goal; the original shows six general skills, all of the type and
five mistakes, in the prompt.

What is general is kept in the bank's own scope and what belongs to a type of task in a scope below it, of that name.
Without a curator model a deterministic stand-in adds a mistake for the action that most often brought nothing new, a
skill of the type against its verb, and a general one once two types have that skill.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...harness.belief import Belief
from ...harness.protocols import Model
from ..journal import require_open
from ..shown import quote
from ..store import Store
from ..vocabulary import Kind
from ..words import content_words
from .curating import Form, Operation, ask
from .episodes import EpisodeMemory, Trajectory, finish, finish_unlearned, read_trajectory
from .items import Bank, Item, NewItem

TOP = 6
"""Skills and mistakes in one recall."""
MOST_NEW = 3
"""Skills and mistakes from one failure."""

_FIELDS = ("title", "what to do", "when it applies")
_FORMS = (
    Form("general", "a skill for any task", fields=_FIELDS),
    Form("specific", "a skill for this type of task", fields=_FIELDS),
    Form("mistake", "a mistake of this type of task", fields=("title", "how to avoid it", "when it happens")),
)
_SYSTEM = (
    "An agent failed at a task. Add the few skills, or mistakes to avoid, that the skills it has are lacking. Don't "
    "repeat what is there."
)


class SkillrlMemory:
    """A hierarchy of skills that grows by failures."""

    name = "skillrl"
    curated = True

    def __init__(self, curator: Model | None = None) -> None:
        self._curator = curator

    def open(self, store: Store, episode: int, scope: str, world: str, learn: bool) -> EpisodeMemory:
        """Return the bank as the episode sees it."""
        del world
        row = require_open(store, episode)
        bank = Bank(store, self.name, scope)

        def find(query: str) -> list[Item]:
            return _shown(_of_type(bank, row["kind"]), f"{query} {row['goal']}")

        return EpisodeMemory(store, episode, learn, find)

    def close(self, store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool) -> None:
        """Add what a failure shows to be missing."""
        del belief
        if not learn:
            finish_unlearned(store, episode, outcome, success)
            return
        played = read_trajectory(store, episode, success)
        bank = Bank(store, self.name, require_open(store, episode)["scope"])
        operations = [] if success else self._lacking(bank, played)
        with store.transaction():
            require_open(store, episode)
            for operation in operations[:MOST_NEW]:
                _add(bank, operation, played.case.kind, episode)
            finish(store, episode, outcome, success)

    def _lacking(self, bank: Bank, played: Trajectory) -> list[Operation]:
        if self._curator is None:
            return _stand_in(bank, played)
        there = [quote(item.entry) for item in _of_type(bank, played.case.kind)]
        material = "\n".join(["Skills:", *(there or ["none yet"]), "", played.text])
        return ask(self._curator, played.task, _SYSTEM, material, _FORMS, (), MOST_NEW)


def _of_type(bank: Bank, kind: str) -> list[Item]:
    """Return what is general and what belongs to a type of task whose words are all among those of the kind."""
    words = set(_words_of(kind))
    found = []
    for item in bank.items(below=True):
        below = item.entry.scope.removeprefix(bank.home).strip("/") if len(item.entry.scope) > len(bank.home) else ""
        if below in ("", _below(kind)) or words.issuperset(_words_of(below)):
            found.append(item)
    return found


def _shown(items: Sequence[Item], query: str) -> list[Item]:
    """Return the six with most words in common with a query; what has none is shown where there is room."""
    wanted = set(content_words(query))

    def rank(item: Item) -> tuple[int, int]:
        said = f"{item.entry.text} {item.entry.when or ''} {' '.join(_words_of(item.entry.scope))}"
        return -len(wanted.intersection(content_words(said))), -item.entry.id

    return sorted(items, key=rank)[:TOP]


def _add(bank: Bank, operation: Operation, kind: str, episode: int) -> None:
    """Add a skill or mistake, unless one of its title is there."""
    title, principle, when = operation.fields
    below = "" if operation.verb == "general" else _below(kind)
    scope = f"{bank.home}/{below}" if below else bank.home
    if any((item.entry.scope, item.title) == (scope, title) for item in bank.items(below=True)):
        return
    entry_kind = Kind.MISTAKE if operation.verb == "mistake" else Kind.SKILL
    of = kind if below else ""
    bank.add(NewItem(entry_kind, f"{title}: {principle}", when, operation.verb, of, title, below), episode)


def _stand_in(bank: Bank, played: Trajectory) -> list[Operation]:
    action, kind = played.failing, played.case.kind
    if action is None:
        return []
    verb = action.split()[0].lower()
    title = f"When `{verb}` brings nothing new"
    lacking = [
        Operation("mistake", fields=(f"Repeating `{action}`", "look for another place or thing", played.case.goal)),
        Operation("specific", fields=(title, "do something else before it is tried again", kind)),
    ]
    if any(item.title == title and item.task_kind != kind for item in bank.items("specific", below=True)):
        lacking.append(Operation("general", fields=(title, "do something else before it is tried again", "always")))
    return lacking


def _below(kind: str) -> str:
    """Return a kind of task as the name of a scope."""
    return kind.replace("/", "-")


def _words_of(name: str) -> list[str]:
    return name.lower().replace("/", " ").replace("-", " ").replace("_", " ").split()
