"""Plays an episode by hand: what was done, seen, recalled and noted, step by step, in a real store."""

from __future__ import annotations

from evoharness_cli.experience import journal, noting
from evoharness_cli.experience.drafts import draft_entry
from evoharness_cli.experience.evolve import close_episode
from evoharness_cli.experience.session import EpisodeExperience
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Belief, Brief, Fact, Step

Triple = tuple[str, str, str]


class Play:
    """One episode, the first observation already made."""

    def __init__(
        self, store: Store, world: str = "house-a", scope: str = "alfworld", kind: str = "heat", run: int | None = None
    ) -> None:
        self.store = store
        self.run = journal.begin_run(store, {"method": "bpe"}) if run is None else run
        number = len(journal.episodes(store, self.run))
        brief = Brief("heat some water", kind, world)
        self.id = journal.begin_episode(
            store, self.run, number, "task", "games/1", "alfworld", brief, scope, {"seed": 3}
        )
        self.scope, self.world = scope, world
        self.belief = Belief()
        self.number = -1
        self.resume()
        self.see("")

    def resume(self) -> None:
        """Take the episode's experience up as a new process would."""
        self.experience = EpisodeExperience(self.store, self.id, self.scope, self.world)

    def see(self, action: str, *facts: Triple, observation: str = "You see something.") -> None:
        """Do something and observe facts."""
        self.number += 1
        news = self.belief.absorb([Fact(*each) for each in facts], self.number)
        step = Step(self.number, "environment", observation, action, action=action, facts=tuple(news))
        journal.add_step(self.store, self.id, step)

    def search(self, place: str, *things: str) -> None:
        """Go to a place and see what is there."""
        seen: list[Triple] = [(thing, "at", place) for thing in things]
        names = ", ".join(things) or "nothing"
        self.see(f"go to {place}", *seen, (place, "searched", "yes"), observation=f"On the {place}, you see {names}.")

    def recall(self, query: str) -> str:
        """Answer, and record the step."""
        self.number += 1
        answer = self.experience.recall(query, self.number)
        step = Step(self.number, "recall", answer.text, action=f"recall [{query}]", recalled=answer.entries)
        journal.add_step(self.store, self.id, step)
        return answer.text

    def note(self, insight: str, because: str = "You see it.") -> str:
        """Note, and record the step."""
        self.number += 1
        answer = self.experience.note(insight, self.number, because)
        journal.add_step(self.store, self.id, Step(self.number, "note", answer, action=f"note [{insight}]"))
        return answer

    def win(self) -> Play:
        """Close the episode as won."""
        close_episode(self.store, self.id, "won", True, self.belief)
        return self

    def lose(self) -> Play:
        """Close the episode as lost."""
        close_episode(self.store, self.id, "out of steps", False, self.belief)
        return self


def insert(store: Store, text: str, kind: str = "note", scope: str = "alfworld", **values: object) -> int:
    """Add an entry without looking at the others, as an import or another process might; return its number."""
    world = values.pop("world", None)
    number = noting.insert(store, draft_entry(kind, text, scope, world=str(world) if world else None))
    for column, value in values.items():
        store.write(f"UPDATE entries SET {column} = ? WHERE id = ?", [value, number])
    return number
