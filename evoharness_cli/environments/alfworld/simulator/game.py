"""One game as a state machine: what holds, what can be done, and what doing it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..engine import STATE
from ..names import display_names
from ..official import EngineFault
from .errors import CannotCompile
from .grammar import TASK, split_task
from .pddl import Problem, read_domain, read_problem
from .relations import Fact, Relation, Row
from .rules import NOT, TYPE, Action, compile_goal, compile_rules

NOTHING = "Nothing happens."
Option = tuple[int, Row]
"""The number of an action among the rules' actions, and its arguments."""
Offer = tuple[dict[str, Option], set[str]]
"""What the commands of an action do, and which of them could mean several things."""


class Start:
    """A game before its first command. Every play of it shares this; nothing in it changes but what it remembers."""

    def __init__(self, domain: str, grammar: str, problem: str) -> None:
        """Compile a game from its three texts. Raises CannotCompile where the simulator can't."""
        read = read_problem(problem, read_domain(domain))
        common, self.task = split_task(grammar)
        self.rules = compile_rules(domain, common, tuple(sorted(_columns(read))))
        self.goal, self.goal_predicates = compile_goal(self.rules, read.goal)
        self.names = display_names({name for facts in read.facts.values() for fact in facts for name in fact})
        self.relations = self._relations(read)
        self.readers = {
            predicate: [number for number, action in enumerate(self.rules.actions) if predicate in action.reads]
            for predicate in self.relations
        }
        """The numbers of the actions that look at a predicate."""
        self.commands: list[dict[Row, str]] = [{} for _ in self.rules.actions]
        """How the commands of each action read that were asked for so far, of those that always read the same."""

    def _relations(self, problem: Problem) -> dict[str, Relation]:
        wanted = self.rules.predicates | self.goal_predicates | {f"{NOT}{name}" for name in self.rules.remembered}
        relations = {name: Relation() for name in wanted}
        relations.update((name, Relation(facts)) for name, facts in problem.facts.items())
        for kind, below in self.rules.domain.subtypes.items():
            if f"{TYPE}{kind}" in wanted:
                found = [name for name, own in problem.types.items() if own in below]
                if not self.names.keys() >= set(found):
                    raise CannotCompile(f"An action is on any {kind}, but no fact mentions some {kind}.")
                relations[f"{TYPE}{kind}"] = Relation([(name,) for name in found])
        return relations


class Game:
    """A game that is being played. A copy of it is a game of its own."""

    __slots__ = ("_contested", "_offers", "_options", "_start", "_won", "relations")

    def __init__(self, start: Start) -> None:
        self._start = start
        self.relations = dict(start.relations)
        self._offers: list[Offer | None] = [None] * len(start.rules.actions)
        """What each action offers, where nothing that it looks at has changed since."""
        self._options: dict[str, Option] | None = None
        self._contested: set[str] = set()
        self._won: bool | None = None

    def copy(self) -> Game:
        """Return the game as it is now; playing on either leaves the other as it is."""
        game = Game.__new__(Game)
        game._start = self._start
        game.relations = dict(self.relations)
        game._offers = list(self._offers)
        game._options = self._options
        game._contested = self._contested
        game._won = self._won
        return game

    def taken_up(self, other: Game) -> Game:
        """Return this game with everything as it is in another one that began in the same state."""
        game = Game(self._start)
        game.relations |= other.relations
        return game

    @property
    def task(self) -> str:
        """What is to be done, as a sentence."""
        return self._start.task

    @property
    def names(self) -> Mapping[str, str]:
        """The name that is shown for each id."""
        return self._start.names

    def opening(self) -> str:
        """Return the text that a game begins with."""
        return self._said(self._start.rules.opening(self, ()))

    def admissible(self) -> tuple[str, ...]:
        """Return the commands that do something now, sorted."""
        return tuple(sorted(self.options()))

    def won(self) -> bool:
        """Return whether the goal is reached now; it may be left again."""
        if self._won is None:
            self._won = any(join.rows(self.relations) for join in self._start.goal)
        return self._won

    def step(self, command: str) -> str:
        """Do what a command says and return what is shown then."""
        command = command.strip()
        option = self.options().get(command)
        if option is None:
            return NOTHING
        return self._do(self._meant(command) if command in self._contested else option)

    def truth(self) -> list[tuple[str, ...]]:
        """Return where things are and how they are, in the names that are shown, sorted."""
        names = self._start.names
        return sorted(
            (predicate, *(names[identifier].strip() for identifier in fact))
            for predicate in STATE
            for fact in self.relations[predicate].facts
        )

    def options(self) -> Mapping[str, Option]:
        """Return what each admissible command does; one of the things, where it could mean several."""
        if self._options is None:
            options: dict[str, Option] = {}
            contested: set[str] = set()
            for number, offer in enumerate(self._offers):
                if offer is None:
                    offer = self._offers[number] = self._offer(number)
                contested |= offer[1]
                options.update(offer[0])
            self._options, self._contested = options, contested
        return self._options

    def _offer(self, number: int) -> Offer:
        """Return what an action offers, and of its commands those that could mean several things."""
        action = self._start.rules.actions[number]
        options: dict[str, Option] = {}
        contested: set[str] = set()
        for branch in action.branches:
            for row in branch.join.rows(self.relations):
                option = number, branch.arguments(row)
                command = self._command(option)
                if options.setdefault(command, option) != option:
                    contested.add(command)
        return options, contested

    def _meant(self, command: str) -> Option:
        """Return which of several meanings the official engine takes.

        It takes the first operator that Fast Downward offers. Those that need the same facts are in the order of their
        names; the order of the others isn't known here, but as a rule they come to the same.

        Raises:
            EngineFault: they don't.
        """
        number, _ = self.options()[command]
        action = self._start.rules.actions[number]
        meanings: dict[Option, set[tuple[tuple[str, Fact], ...]]] = {}
        for branch in action.branches:
            for row in branch.join.rows(self.relations):
                option = number, branch.arguments(row)
                if self._command(option) == command:
                    needs = tuple(sorted((predicate, fact(row)) for predicate, fact in branch.needs))
                    meanings.setdefault(option, set()).add(needs)
        first = min(meanings, key=lambda option: f"({' '.join((action.name, *option[1]))})")
        if len({frozenset(needs) for needs in meanings.values()}) > 1 and len(set(map(self._result, meanings))) > 1:
            raise EngineFault(f"the simulator can't tell which of several things {command!r} means here")
        return first

    def _result(self, option: Option) -> tuple[str, frozenset[tuple[str, frozenset[Fact]]]]:
        game = self.copy()
        text = game._do(option)
        changed = {name for name, relation in game.relations.items() if relation is not self.relations[name]}
        return text, frozenset((name, game.relations[name].facts) for name in changed)

    def _do(self, option: Option) -> str:
        number, arguments = option
        action = self._start.rules.actions[number]
        self._change(action, arguments)
        return self._said(action.feedback(self, arguments))

    def _command(self, option: Option) -> str:
        number, arguments = option
        known = self._start.commands[number]
        command = known.get(arguments)
        if command is None:
            action = self._start.rules.actions[number]
            command = self._said(action.command(self, arguments))
            if action.is_fixed:
                known[arguments] = command
        return command

    def _change(self, action: Action, arguments: Row) -> None:
        added: dict[str, list[Fact]] = {}
        removed: dict[str, list[Fact]] = {}
        for change in action.changes:
            if change.when is None or any(join.rows(self.relations, arguments) for join in change.when):
                (added if change.adds else removed).setdefault(change.predicate, []).append(change.fact(arguments))
        for predicate in {**added, **removed}:
            gains, losses = added.get(predicate, ()), removed.get(predicate, ())
            self._replace(predicate, self.relations[predicate].changed(gains, losses))
            if predicate in self._start.rules.remembered:
                lost = [fact for fact in losses if fact not in gains]
                self._replace(f"{NOT}{predicate}", self.relations[f"{NOT}{predicate}"].changed(lost, gains))

    def _replace(self, predicate: str, relation: Relation) -> None:
        if relation is self.relations[predicate]:
            return
        self.relations[predicate] = relation
        for number in self._start.readers[predicate]:
            self._offers[number] = None
            self._options = None
        if predicate in self._start.goal_predicates:
            self._won = None

    def _said(self, text: str) -> str:
        return text.replace(TASK, self._start.task)


def _columns(problem: Problem) -> Iterator[tuple[str, tuple[frozenset[str], ...]]]:
    """Yield for each predicate with initial facts the types of its arguments."""
    for predicate, facts in problem.facts.items():
        if predicate.startswith(NOT):
            raise CannotCompile(f"The problem has initial facts {predicate}, which look like what holds no longer.")
        columns = zip(*facts, strict=True)
        yield predicate, tuple(frozenset(problem.types[name] for name in {*column}) for column in columns)
