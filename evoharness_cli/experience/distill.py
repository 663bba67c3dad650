"""Draws skills from episodes that were won and mistakes from what went wrong again and again in one.

A skill is the order of subgoals that worked: those closed by `commit`, if evidence closed one at least, else the
actions that changed something. A mistake is what was refused, or shown in vain, repeatedly in one episode, with what
worked instead where something did. Either names the kind of task it applies to. What the goal names becomes X, Y, Z,
and numbers go, so that what recurs with other things reads the same and is strengthened by `noting`'s rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..harness.belief import HAND, NO, SEARCHED, YES, YOU, kind_of
from ..harness.episode import ENVIRONMENT, FORMAT, Step
from .drafts import LONGEST, draft_entry
from .noting import keep
from .step_rows import step_of
from .store import Store
from .vocabulary import Kind, Trust

REFUSED = 3
"""How often an action of one pattern is refused before that is a mistake; so are replies that are no action."""
UNCLOSED = 2
"""How often closing one subgoal is refused before that is a mistake."""
IN_VAIN = 4
"""How often the same action shows nothing new, in an episode that was lost, before that is a mistake."""
_SHORTEST, _LONGEST_PATTERN = 2, 9
_LETTERS = "XYZ"
_QUOTED = 70

# What `commit` answers, as the harness's progress words it.
_DONE = re.compile(r"(?:^|\. )done(?P<word> on your word)?: (?P<name>.+?)(?=\. |$)")
_NOW = re.compile(r"(?:^|\. )now: (?P<name>[^.]+)\.?$")
_NOT_YET = re.compile(r"^not yet: (?P<missing>.+?)\. now: (?P<name>.+?)\.?$")
_STILL_OPEN = re.compile(r"^still open: (?P<name>.+?) \((?P<missing>.+?)\)\. ")


def distill(store: Store, episode: int, success: bool) -> None:
    """Note, pending, what an episode's steps teach by themselves, in the caller's transaction."""
    row = store.row("SELECT goal, kind, scope FROM episodes WHERE id = ?", [episode])
    assert row is not None
    steps = [step_of(each) for each in store.rows("SELECT * FROM steps WHERE episode = ? ORDER BY number", [episode])]
    if not steps:
        return
    read = Pattern(row["goal"], steps)
    lessons = [(Kind.MISTAKE, *mistake) for mistake in mistakes(steps, read, success)]
    if success and (worked := skill(steps, read)):
        lessons.append((Kind.SKILL, worked, steps[-1]))
    when = f"the task is {row['kind'].replace('_', ' ')}" if row["kind"] else None
    for kind, text, step in lessons:
        if len(text) + len(when or "") <= LONGEST:
            draft = draft_entry(kind, text, row["scope"], when, None, Trust.DISTILLED)
            keep(store, replace(draft, slots=None, episode=episode, step=step.number, because=step.observation))


class Pattern:
    """Reads actions and subgoals of one episode without what is particular to it."""

    def __init__(self, goal: str, steps: Sequence[Step]) -> None:
        facts = [fact for step in steps for fact in step.facts]
        names = {kind_of(name.lower()) for fact in facts for name in (fact.subject, fact.object)}
        names -= {YOU, HAND, YES, NO}
        self._goal = goal.lower()
        known = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
        self._name = re.compile(rf"(?<!\w)({known})(?: \d+)?(?!\w)") if known else None
        self._letters: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """Return a text with letters for what the goal names and types for other things."""
        plain = " ".join(text.lower().split())
        return self._name.sub(lambda match: self._letter(match[1]), plain) if self._name else plain

    def _letter(self, name: str) -> str:
        if name in self._letters:
            return self._letters[name]
        if len(self._letters) < len(_LETTERS) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self._goal):
            self._letters[name] = _LETTERS[len(self._letters)]
            return self._letters[name]
        return name


def skill(steps: Sequence[Step], read: Pattern) -> str | None:
    """Return the steps of a won episode's plan, or of its actions, as one line; None where there are too few."""
    parts = list(dict.fromkeys(map(read, _closed(steps) or _effective(steps))))
    return ", ".join(parts) if _SHORTEST <= len(parts) <= _LONGEST_PATTERN else None


def mistakes(steps: Sequence[Step], read: Pattern, success: bool) -> list[tuple[str, Step]]:
    """Return what was tried again and again in vain, how to avoid it, and the last step that did it."""
    found = [*_refused(steps, read), *_unclosed(steps, read)]
    unreadable = [step for step in steps if step.kind == FORMAT]
    if len(unreadable) >= REFUSED:
        found.append(("replies that are no action cost steps: reply with one action on one line", unreadable[-1]))
    if not success:
        found += _in_vain(steps, read)
    return found


def _closed(steps: Sequence[Step]) -> list[str]:
    """Return the subgoals that were closed, in order, and the one that was open when the task was won."""
    done: list[str] = []
    proven, now = False, None
    for step in steps:
        if step.kind == "commit":
            for match in _DONE.finditer(step.observation):
                done.append(match["name"])
                proven = proven or match["word"] is None
            open_now = _NOW.search(step.observation)
            now = open_now["name"] if open_now else None
    return [*done, *([now] if now else [])] if proven else []


def _effective(steps: Sequence[Step]) -> list[str]:
    """Return the actions that changed what was known before, but for the agent's own place and what it saw first."""
    seen: set[tuple[str, str]] = set()
    found: list[str] = []
    for step in steps:
        changed = [
            fact
            for fact in step.facts
            if fact.subject != YOU and fact.relation != SEARCHED and (fact.subject, fact.relation) in seen
        ]
        seen.update((fact.subject, fact.relation) for fact in step.facts)
        is_last = step is steps[-1] and not step.invalid
        if step.kind == ENVIRONMENT and step.action and (changed or is_last or _is_new_property(step)):
            found.append(step.action)
    return found


def _is_new_property(step: Step) -> bool:
    """Tell whether an action gave a thing that it names a property."""
    return any(
        fact.object == YES and fact.relation != SEARCHED and fact.subject.lower() in step.action.lower()
        for fact in step.facts
    )


def _refused(steps: Sequence[Step], read: Pattern) -> list[tuple[str, Step]]:
    tried = [(read(step.action), step) for step in steps if step.kind == ENVIRONMENT and step.number > 0]
    refused = Counter(pattern for pattern, step in tried if step.invalid)
    found = []
    for pattern, times in refused.items():
        if times >= REFUSED:
            last = next(step for each, step in reversed(tried) if each == pattern and step.invalid)
            worked = next(
                (
                    each
                    for each, step in tried
                    if not step.invalid and each not in refused and each.split()[:1] == pattern.split()[:1]
                ),
                None,
            )
            instead = f'what worked was "{worked}"' if worked else "look for another way after the first refusal"
            found.append((f'"{pattern}" is refused however often it is tried: {instead}', last))
    return found


def _unclosed(steps: Sequence[Step], read: Pattern) -> list[tuple[str, Step]]:
    refusals: dict[str, list[tuple[str, Step]]] = {}
    for step in steps:
        match = _NOT_YET.match(step.observation) or _STILL_OPEN.match(step.observation)
        if step.kind == "commit" and match:
            refusals.setdefault(read(match["name"]), []).append((read(match["missing"]), step))
    return [
        (f'"{name}" is not done before it shows ({each[-1][0][:_QUOTED]}): act on that, then commit', each[-1][1])
        for name, each in refusals.items()
        if len(each) >= UNCLOSED
    ]


def _in_vain(steps: Sequence[Step], read: Pattern) -> list[tuple[str, Step]]:
    idle = [step for step in steps if step.kind == ENVIRONMENT and step.action and not step.facts and not step.invalid]
    times = Counter(step.action for step in idle)
    found: dict[str, Step] = {read(step.action): step for step in idle if times[step.action] >= IN_VAIN}
    return [
        (f'repeating "{pattern}" shows nothing new: try what was not tried yet', step)
        for pattern, step in found.items()
    ]
