"""ExpeL (Zhao et al., ExpeL: LLM Agents Are Experiential Learners, AAAI 2024, arXiv 2308.10144).

From the description: insights have an importance, which begins at 2, grows by 1 with AGREE and EDIT, falls by 1 with
REMOVE, and an insight at 0 is dropped. They are extracted by comparing a failed with a successful trajectory, and from
sets of successful ones; besides them, successful trajectories of similar tasks are retrieved.

Differences: insights grow as episodes end, not in a phase of their own after repeated tries of each task, so a failed
trajectory is compared with the latest successful one of the same kind of task and the other way round. The insights
shown are the ten most important ones, not all, and answer `recall` where the original has them in the prompt. Similar
is by BM25 on the goal and kind of the task, and what is asked, in place of embeddings. A trajectory is its actions, cut
to an entry's length. No more than `MOST_INSIGHTS` are kept: another is not added until one is dropped.

Without a curator model a deterministic stand-in compares the order of the verbs: it adds, agrees and edits by the
longest common subsequence, and removes what a failed trajectory did as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...harness.belief import Belief
from ...harness.protocols import Model
from ..journal import require_open
from ..store import Store
from ..vocabulary import Kind
from .curating import Form, Operation, ask
from .episodes import Case, EpisodeMemory, Trajectory, finish, finish_unlearned, read_trajectory, task_of
from .items import Bank, Item, NewItem

SET_OF_SUCCESSES = 3
"""After so many further successes of a kind of task they are looked at together."""
MOST_INSIGHTS = 50
SHOWN_INSIGHTS = 10
SHOWN_TRAJECTORIES = 2
INSIGHT, SUCCESS, FAILURE = "insight", "success", "failure"

_FORMS = (
    Form("add", "a new insight", fields=("insight",)),
    Form("edit", "a better wording of an insight", target=True, fields=("insight",)),
    Form("agree", "an insight holds", target=True),
    Form("remove", "an insight is wrong or not needed", target=True),
)
_OPERATIONS = 4
_SYSTEM = (
    "You keep short, general insights that help an agent with tasks to come. Compare the tasks that follow with the "
    "insights there are, and change the insights where the tasks say so."
)


class ExpelMemory:
    """Insights with importance, and similar successes."""

    name = "expel"
    curated = True

    def __init__(self, curator: Model | None = None) -> None:
        self._curator = curator

    def open(self, store: Store, episode: int, scope: str, world: str, learn: bool) -> EpisodeMemory:
        """Return the insights and trajectories as the episode sees them."""
        del world
        bank, task = Bank(store, self.name, scope), task_of(store, episode)

        def find(query: str) -> list[Item]:
            insights = sorted(bank.items(INSIGHT), key=lambda item: (-item.importance, item.entry.id))
            return [*insights[:SHOWN_INSIGHTS], *bank.search(f"{query} {task}", SHOWN_TRAJECTORIES, SUCCESS)]

        return EpisodeMemory(store, episode, learn, find)

    def close(self, store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool) -> None:
        """Keep the trajectory, and change the insights by what it is compared with."""
        del belief
        if not learn:
            finish_unlearned(store, episode, outcome, success)
            return
        bank = Bank(store, self.name, _scope(store, episode))
        played = read_trajectory(store, episode, success)
        cases = _to_compare(bank, played.case)
        operations = self._compare(bank, played, cases) if cases else []
        with store.transaction():
            require_open(store, episode)
            role, kind = (SUCCESS, Kind.SKILL) if success else (FAILURE, Kind.MISTAKE)
            if text := "; ".join(played.case.actions):
                bank.add(NewItem(kind, text, played.case.goal, role, played.case.kind), episode)
            for operation in operations:
                _apply(bank, operation, played.case.kind, episode)
            finish(store, episode, outcome, success)

    def _compare(self, bank: Bank, played: Trajectory, cases: Sequence[Case]) -> list[Operation]:
        insights = bank.items(INSIGHT)
        if self._curator is None:
            return _stand_in([item for item in insights if item.task_kind == played.case.kind], cases)
        lines = [f"[{item.entry.id}] {item.entry.text} (importance {item.importance})" for item in insights]
        material = "\n".join(["Insights:", *(lines or ["none yet"]), "", *(case.text for case in cases)])
        numbers = {item.entry.id for item in insights}
        return ask(self._curator, played.task, _SYSTEM, material, _FORMS, numbers, _OPERATIONS)


def _scope(store: Store, episode: int) -> str:
    return str(require_open(store, episode)["scope"])


def _to_compare(bank: Bank, case: Case) -> list[Case]:
    """Return the set of successes that the case completes, else it and the latest of its kind that ended otherwise."""
    same = [item for item in bank.items(SUCCESS, FAILURE) if item.task_kind == case.kind]
    won = [_case(item) for item in same if item.role == SUCCESS]
    lost = [_case(item) for item in same if item.role == FAILURE]
    if case.success and (len(won) + 1) % SET_OF_SUCCESSES == 0:
        return [*won[-SET_OF_SUCCESSES + 1 :], case]
    others = lost if case.success else won
    return sorted([others[-1], case], key=lambda each: each.success) if others else []


def _case(item: Item) -> Case:
    """Return the case that a kept trajectory was."""
    actions = tuple(item.entry.text.removesuffix("…").split("; "))
    return Case(item.task_kind, item.entry.when or "", item.role == SUCCESS, actions)


def _apply(bank: Bank, operation: Operation, kind: str, episode: int) -> None:
    insights = {item.entry.id: item for item in bank.items(INSIGHT)}
    if operation.verb == "add":
        if len(insights) < MOST_INSIGHTS:
            bank.add(NewItem(Kind.SKILL, operation.fields[0], role=INSIGHT, task_kind=kind), episode)
        return
    # Another process may have dropped it while the curator thought.
    item = insights.get(operation.target)
    if item is None:
        return
    if operation.verb == "edit":
        bank.edit(item, operation.fields[0], episode)
    importance = item.importance + (-1 if operation.verb == "remove" else 1)
    bank.weigh(item, importance, episode, operation.verb)
    if importance > item.importance:
        bank.add_source(item.entry.id, episode)
    if importance <= 0:
        bank.drop(item, episode, "its importance fell to 0")


_WORKED = "What worked in tasks of this kind: "


def _stand_in(insights: Sequence[Item], cases: Sequence[Case]) -> list[Operation]:
    """Compare the order of the verbs in place of a curator model."""
    failed = [case.shape for case in cases if not case.success]
    common = reduce(common_order, (case.shape for case in cases if case.success))
    if not insights:
        return [Operation("add", fields=(_worded(common),))] if common else []
    operations = []
    for item in insights:
        shape = tuple(item.entry.text.removeprefix(_WORKED).split(", "))
        if any(common_order(shape, each) == shape for each in failed):
            operations.append(Operation("remove", item.entry.id))
        elif common_order(shape, common) == shape:
            operations.append(Operation("agree", item.entry.id))
        elif shared := common_order(shape, common):
            operations.append(Operation("edit", item.entry.id, (_worded(shared),)))
    return operations


def _worded(shape: Sequence[str]) -> str:
    return f"{_WORKED}{', '.join(shape)}"


def common_order(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Return the longest common subsequence of two sequences."""
    longest: list[tuple[str, ...]] = [()] * (len(other) + 1)
    for word in one:
        before = longest[:]
        for number, each in enumerate(other, 1):
            if word == each:
                longest[number] = (*before[number - 1], word)
            else:
                longest[number] = max(before[number], longest[number - 1], key=len)
    return longest[-1]
