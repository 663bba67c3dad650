"""What a run costs, derived from the tokens on record, and the limit at which it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..harness import Constraint, Model, OutsideFault, Reply, Transcript, WrongUsage
from ..models.unanswered import Unanswered

if TYPE_CHECKING:
    from ..experience.journal import EpisodeRecord

CURRENCY = "USD"
_FORM = "IN,OUT or IN,OUT,CACHED, as in 2.5,10,1.25"


@dataclass(frozen=True)
class Price:
    """What a million tokens cost: of a prompt, of a reply, and of a prompt as far as the server had it cached."""

    prompt: float
    completion: float
    cached: float

    def of(self, tokens: Reply | EpisodeRecord) -> float:
        """Return what so many tokens cost."""
        cached = tokens.prompt_tokens - tokens.evaluated_tokens
        return (
            tokens.evaluated_tokens * self.prompt + cached * self.cached + tokens.completion_tokens * self.completion
        ) / 1e6


def read_price(said: str) -> Price:
    """Read `IN,OUT` or `IN,OUT,CACHED`; cached tokens cost as much as others unless it is said. Raises WrongUsage."""
    try:
        prompt, completion, *rest = [float(part) for part in said.split(",")]
        price = Price(prompt, completion, *(rest or [prompt]))
    except (ValueError, TypeError):
        raise WrongUsage(f"Expected the price of a million tokens as {_FORM}; found {said!r}.") from None
    if not all(0 <= each < float("inf") for each in (price.prompt, price.completion, price.cached)):
        raise WrongUsage(f"Expected a price that is no less than 0, as {_FORM}; found {said!r}.")
    return price


def cost_of(settings: Mapping[str, object], tokens: EpisodeRecord) -> float | None:
    """Return what an episode has cost so far by its run's recorded settings, None where these name no price."""
    price = settings.get("price")
    return read_price(str(price)).of(tokens) if price else None


def shown(cost: float) -> str:
    """Return an amount in words."""
    return f"{cost:.4f} {CURRENCY}"


class LimitReached(Exception):
    """What was to be spent is spent. It ends the run, which can go on once more may be spent."""

    def __init__(self, spent: float, limit: float) -> None:
        super().__init__(f"{shown(spent)} were spent, and the limit is {limit:g} {CURRENCY}")


class Budget:
    """What may be spent, and what was. Any number of threads may spend at once."""

    def __init__(self, price: Price, limit: float, episodes: Iterable[EpisodeRecord]) -> None:
        """`episodes` are what was paid for before."""
        self._price, self._limit = price, limit
        self._spent = sum(price.of(episode) for episode in episodes)
        self._spending = threading.Lock()

    def check(self) -> None:
        """Raise LimitReached where nothing is left."""
        if self._spent >= self._limit:
            raise LimitReached(self._spent, self._limit)

    def spend(self, reply: Reply) -> None:
        """Count the tokens of a reply. Raises OutsideFault where there are none, as nothing can be limited then."""
        if not reply.prompt_tokens:
            raise OutsideFault("The model states no tokens, so that --max-cost can't be kept: go on without it.")
        self.add(reply)

    def add(self, tokens: Reply) -> None:
        """Count tokens."""
        with self._spending:
            self._spent += self._price.of(tokens)


def limited(model: Model, price: str | None, limit: float | None, episodes: Iterable[EpisodeRecord]) -> Model:
    """Return the model, which after these episodes is asked up to a limit only, where there is one."""
    if price is None or limit is None:
        return model
    return LimitedModel(model, Budget(read_price(price), limit, episodes))


class LimitedModel:
    """A model that is asked as long as there is something left of a budget.

    So the limit is passed by a reply at most, or by one for each episode that is played at once.
    """

    def __init__(self, model: Model, budget: Budget) -> None:
        self.name = model.name
        self._model, self._budget = model, budget

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """That of the model."""
        return self._model.fingerprint

    def session(self, task: str) -> LimitedModel:
        """Return a session of the model on the same budget."""
        return LimitedModel(self._model.session(task), self._budget)

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer as the model does. Raises LimitReached before it is asked, OutsideFault where it states no tokens."""
        self._budget.check()
        try:
            reply = self._model.reply(transcript, constraint, max_tokens, seed)
        except Unanswered as fault:
            self._budget.add(fault.spent)
            raise
        self._budget.spend(reply)
        return reply

    def close(self) -> None:
        """Close the model."""
        self._model.close()
