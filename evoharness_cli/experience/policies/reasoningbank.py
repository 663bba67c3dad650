"""ReasoningBank (Ouyang et al., ReasoningBank: Scaling Agent Self-Evolving with Reasoning Memory, arXiv 2509.25140).

From the description: an item has a title, a description and a content. After each task the agent's own model judges
whether it succeeded, without the environment's word, and up to three items are distilled from the trajectory:
strategies from a success, lessons from a failure. Items are simply added; those most similar to the task are
retrieved.

Differences: similar is by BM25 of titles, descriptions and contents to the goal and kind of the task and what is asked,
in place of embeddings of the task; `recall` answers with the items where the original has them in the prompt;
memory-aware test-time scaling, which plays a task several times, is left out.

Without a curator model a deterministic stand-in judges by whether the last action brought an observation that the
episode had not seen, and distils one item: the order of the verbs, or the action that most often brought nothing new.
"""

from __future__ import annotations

from ...harness.belief import Belief
from ...harness.episode import ENVIRONMENT
from ...harness.protocols import Model
from ..entries import record_event
from ..journal import require_open
from ..store import Store
from ..vocabulary import Kind
from .curating import Form, ask
from .episodes import EpisodeMemory, Trajectory, finish, finish_unlearned, read_trajectory, task_of
from .items import Bank, NewItem

TOP = 3
"""Items in one recall."""
MOST_ITEMS = 3
"""Items from one trajectory."""

_VERDICTS = (Form("success", "the task was done"), Form("failure", "it was not"))
_FORMS = (Form("item", "something to remember", fields=("title", "when it is useful", "what to do")),)
_JUDGE = "You judge from what an agent did and saw whether it did its task."
_FROM_SUCCESS = "An agent did its task. Say what made it succeed, as strategies that hold for other tasks as well."
_FROM_FAILURE = "An agent did not do its task. Say what went wrong, as lessons that prevent it in other tasks as well."

Distilled = tuple[str, str, str]
"""Title, description and content."""


class ReasoningBankMemory:
    """Strategies and lessons by self-judgment."""

    name = "reasoningbank"
    curated = True

    def __init__(self, curator: Model | None = None) -> None:
        self._curator = curator

    def open(self, store: Store, episode: int, scope: str, world: str, learn: bool) -> EpisodeMemory:
        """Return the items as the episode sees them."""
        del world
        bank, task = Bank(store, self.name, scope), task_of(store, episode)
        return EpisodeMemory(store, episode, learn, lambda query: bank.search(f"{query} {task}", TOP))

    def close(self, store: Store, episode: int, outcome: str, success: bool, belief: Belief, learn: bool) -> None:
        """Judge the trajectory and add what it taught; the environment's word is only recorded."""
        del belief
        if not learn:
            finish_unlearned(store, episode, outcome, success)
            return
        played = read_trajectory(store, episode, success)
        judged = self._judge(played)
        distilled = self._distil(played, judged)
        with store.transaction():
            bank = Bank(store, self.name, require_open(store, episode)["scope"])
            record_event(store, "judged", None, episode, judged=judged, success=success)
            for title, description, content in distilled:
                kind = Kind.SKILL if judged else Kind.MISTAKE
                new = NewItem(kind, f"{title}: {content}", description, task_kind=played.case.kind, title=title)
                bank.add(new, episode)
            finish(store, episode, outcome, success)

    def _judge(self, played: Trajectory) -> bool:
        if self._curator is None:
            last = played.steps[-1]
            seen = {step.observation for step in played.steps[:-1]}
            return last.kind == ENVIRONMENT and not last.invalid and last.observation not in seen
        verdict = ask(self._curator, played.task, _JUDGE, played.text, _VERDICTS, (), 1)
        return bool(verdict) and verdict[0].verb == "success"

    def _distil(self, played: Trajectory, judged: bool) -> list[Distilled]:
        kind = played.case.kind
        if self._curator is None:
            if judged:
                return [(f"A way through {kind}", played.case.goal, ", ".join(played.case.shape))]
            if played.failing is None:
                return []
            return [(f"A dead end in {kind}", played.case.goal, f"`{played.failing}` did not lead on; try another way")]
        system = _FROM_SUCCESS if judged else _FROM_FAILURE
        # A session of its own: a scripted curator's replies are counted in each.
        found = ask(self._curator, f"{played.task} items", system, played.text, _FORMS, (), MOST_ITEMS)
        return [(each.fields[0], each.fields[1], each.fields[2]) for each in found]
