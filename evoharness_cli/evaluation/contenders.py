"""What is compared: a method, with all that may differ between two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..experience.policies import load_policy
from ..harness import Decode, WrongUsage
from ..models import is_served
from ..runs.memory import check_memory
from ..runs.settings import Method, RunSettings
from ..runs.task import Task

NO_ADAPTER = "none"


class _Options(BaseModel):
    """What may follow a method's name, as `name=value`."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    model: str | None = None
    adapter: str | None = None
    decode: Decode | None = None
    temperature: float | None = Field(None, ge=0, le=5)
    steps: int | None = Field(None, ge=1)
    free_meta: int | None = Field(None, ge=0, alias="free-meta")
    show_admissible: bool | None = Field(None, alias="show-admissible")
    experience: str | None = None
    curator: str | None = None


@dataclass(frozen=True)
class Contender:
    """A method as one column of an evaluation. `limits` and `decode` go over those of the tasks."""

    label: str
    settings: RunSettings
    limits: Mapping[str, Any]
    decode: Decode | None

    def seeded(self, seed: int, evaluation: Mapping[str, Any]) -> RunSettings:
        """Return the settings of its run with a seed, in an evaluation that says so much of itself."""
        return replace(self.settings, seed=seed, label=self.label, learn=False, evaluation=evaluation)

    def settled(self, task: Task, needs: Mapping[str, Any] | None = None) -> Task:
        """Return the task as this contender plays it, with needs that go over its own."""
        return task.settled(self.limits, self.decode, needs=needs)


def read_contender(spec: str, defaults: RunSettings, limits: Mapping[str, Any], decode: Decode | None) -> Contender:
    """Read `METHOD` or `METHOD,name=value,...`, for example `bpe,decode=free,adapter=none`.

    What is not named is as in the defaults. Raises WrongUsage.
    """
    name, *pairs = [part.strip() for part in spec.split(",")]
    if name not in [method.value for method in Method]:
        raise WrongUsage(f"Expected a method of {', '.join(method.value for method in Method)}; found {name!r}.")
    given = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise WrongUsage(f"Expected name=value after the method {name}; found {pair!r}.")
        given[key.strip()] = value.strip()
    try:
        options = _Options.model_validate(given)
    except ValidationError as error:
        known = ", ".join(field.alias or key for key, field in _Options.model_fields.items())
        first = error.errors()[0]
        raise WrongUsage(
            f"The method {spec!r} can't be read at {first['loc'][0]}: {first['msg']}. It may be followed by {known}."
        ) from None
    own = {"steps": options.steps, "free_meta": options.free_meta}
    adapter = defaults.adapter if options.adapter is None else options.adapter
    experience = options.experience or defaults.experience
    settings = replace(
        defaults,
        method=Method(name),
        model=options.model or defaults.model,
        adapter=None if adapter == NO_ADAPTER else adapter,
        temperature=defaults.temperature if options.temperature is None else options.temperature,
        show_admissible=defaults.show_admissible if options.show_admissible is None else options.show_admissible,
        experience=experience,
        curator=options.curator or (defaults.curator if load_policy(experience).curated else None),
    )
    if not is_served(settings.model):
        settings = replace(settings, base_url=None, key_variable=None, price=None)
    check_memory(settings)
    limits = {**limits, **{key: value for key, value in own.items() if value is not None}}
    return Contender(spec, settings, limits, options.decode or decode)
