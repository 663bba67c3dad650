"""What values the keys of the configuration take."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import ErrorDetails, PydanticCustomError

from ..harness import Decode


def _address(value: str) -> str:
    if not re.fullmatch(r"https?://\S+", value):
        raise PydanticCustomError("address", "an address that begins with http:// or https://")
    return value


def _variable(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise PydanticCustomError("variable", "the name of an environment variable")
    return value


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelKeys(_Section):
    """What names a model and says how it is asked; a profile is a set of these."""

    model: str | None = Field(None, min_length=1)
    adapter: str | None = Field(None, min_length=1)
    base_url: Annotated[str, AfterValidator(_address)] | None = None
    key_variable: Annotated[str, AfterValidator(_variable)] | None = None
    price: str | None = Field(None, min_length=1)
    decode: Decode | None = None
    temperature: float | None = Field(None, ge=0, le=5, allow_inf_nan=False)
    context: int | None = Field(None, ge=1, strict=True)


class Upkeep(_Section):
    """How a store tends itself; see `experience.upkeep.schedule.Schedule`."""

    every: int | None = Field(None, ge=0, strict=True)
    capacity: int | None = Field(None, ge=0, strict=True)
    keep_steps: int | None = Field(None, ge=0, strict=True)
    keep_worlds: int | None = Field(None, ge=0, strict=True)


class Keys(ModelKeys):
    """The keys that environment variables can set."""

    profile: str | None = Field(None, min_length=1)
    experience: str | None = Field(None, min_length=1)
    scope: str | None = None
    db: str | None = Field(None, min_length=1)


class ConfigurationFile(Keys):
    """The keys of a file."""

    upkeep: Upkeep = Upkeep()
    profiles: dict[str, ModelKeys] = Field(default_factory=dict)


class _Hidden:
    def __repr__(self) -> str:
        return "what isn't shown here, in case it is a key itself"


def without_keys(error: ErrorDetails) -> ErrorDetails:
    """Return an error that pydantic found, without what may be a secret among the values."""
    return {**error, "input": _Hidden()} if "key_variable" in error["loc"] else error
