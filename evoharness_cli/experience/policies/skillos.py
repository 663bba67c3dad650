"""SkillOS's repository (Ouyang et al., SkillOS: Learning Skill Curation for Self-Evolving Agents, arXiv 2605.06614).

From the description: an executor that stays as it is retrieves skills by BM25; after each task a curator, which sees
the trajectory, its outcome and the related skills, inserts, updates and deletes skills.

Differences: the original trains the curator by reinforcement learning on streams of tasks; here it is any model, as it
comes. A skill is a name, when to use it and what to do, in an entry's length, where the original has Markdown files.
Skills are retrieved for the goal and kind of the task and what is asked; `recall` answers with them where the original
has them in the prompt.

Without a curator model a deterministic stand-in keeps one skill for a kind of task, the order of the verbs: a success
inserts it or, if it got there by another order, updates it; a failure deletes it if the episode had recalled it.
"""

from __future__ import annotations

from ...harness.belief import Belief
from ...harness.protocols import Model
from ..journal import require_open
from ..shown import quote
from ..store import Store
from ..vocabulary import Kind
from .curating import Form, Operation, ask
from .episodes import EpisodeMemory, Trajectory, finish, finish_unlearned, read_trajectory, task_of
from .items import Bank, NewItem

TOP = 5
"""Skills in one recall, and related skills that the curator sees."""

_FIELDS = ("name", "when to use it", "what to do")
_FORMS = (
    Form("insert", "a new skill", fields=_FIELDS),
    Form("update", "a skill in a better form", target=True, fields=_FIELDS),
    Form("delete", "a skill that misleads or says nothing new", target=True),
)
_OPERATIONS = 3
_SYSTEM = (
    "You keep the skills of an agent. It did a task with the related skills that follow. Insert, update or delete "
    "skills, so that it does better in tasks to come."
)


class SkillosMemory:
    """A repository of skills that a curator edits."""

    name = "skillos"
    curated = True

    def __init__(self, curator: Model | None = None) -> None:
        self._curator = curator

    def open(self, store: Store, episode: int, scope: str, world: str, learn: bool) -> EpisodeMemory:
        """Return the repository as the episode sees it."""
        del world
        bank, task = Bank(store, self.name, scope), task_of(store, episode)
        return EpisodeMemory(store, episode, learn, lambda query: bank.search(f"{query} {task}", TOP))

    def close(self, store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool) -> None:
        """Let the curator edit the repository."""
        del belief
        if not learn:
            finish_unlearned(store, episode, outcome, success)
            return
        played = read_trajectory(store, episode, success)
        bank = Bank(store, self.name, require_open(store, episode)["scope"])
        operations = self._curate(bank, played, episode)
        with store.transaction():
            require_open(store, episode)
            for operation in operations:
                _apply(bank, operation, played.case.kind, episode)
            finish(store, episode, outcome, success)

    def _curate(self, bank: Bank, played: Trajectory, episode: int) -> list[Operation]:
        if self._curator is None:
            return _stand_in(bank, played, episode)
        related = bank.search(task_of(bank.store, episode), TOP)
        outcome = "The task was done." if played.case.success else "The task was not done."
        lines = [quote(item.entry) for item in related] or ["none yet"]
        material = "\n".join(["Related skills:", *lines, "", played.text, outcome])
        numbers = {item.entry.id for item in related}
        return ask(self._curator, played.task, _SYSTEM, material, _FORMS, numbers, _OPERATIONS)


def _apply(bank: Bank, operation: Operation, kind: str, episode: int) -> None:
    if operation.verb == "insert":
        name, when, what = operation.fields
        bank.add(NewItem(Kind.SKILL, f"{name}: {what}", when, task_kind=kind, title=name), episode)
        return
    # Another process may have deleted it while the curator thought.
    item = next((item for item in bank.items() if item.entry.id == operation.target), None)
    if item is None:
        return
    if operation.verb == "update":
        name, when, what = operation.fields
        bank.edit(item, f"{name}: {what}", episode, when, name)
    else:
        bank.drop(item, episode, "deleted by the curator")


def _stand_in(bank: Bank, played: Trajectory, episode: int) -> list[Operation]:
    case = played.case
    name, what = f"A way through {case.kind}", ", ".join(case.shape)
    there = next((item for item in bank.items() if item.title == name), None)
    if not case.success:
        recalled = there is not None and there.entry.id in bank.recalled(episode)
        return [Operation("delete", there.entry.id)] if there and recalled else []
    if not what:
        return []
    fields = (name, f"the task is one such as: {case.goal}", what)
    if there is None:
        return [Operation("insert", fields=fields)]
    return [] if there.entry.text == f"{name}: {what}" else [Operation("update", there.entry.id, fields)]
