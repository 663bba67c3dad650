"""What goes wrong when a server is asked: whether it passes, and what to do about it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import httpx2
import openai

from .answer import Usage, said_in

_FULL = re.compile(r"context.{0,20}(?:length|window|size)|prompt is too long|too many tokens", re.IGNORECASE)
_OPTIONAL = ("max_tokens", "temperature", "top_p", "seed", "parallel_tool_calls")
"""Parameters without which a request still means the same, or nearly, in the order in which they are given up."""
_REFUSED, _TOO_LONG = (400, 422), 413
"""Codes of a request that is understood and not taken, and of one that is too long."""
_PASSING = (408, 409, 429)
"""Codes below 500 after which it may help to ask again."""


class Setback(Exception):
    """An attempt that came to nothing; the message goes on from "The server ..."."""

    def __init__(
        self,
        what: str,
        *,
        passes: bool,
        remedy: str = "",
        retry_after: float | None = None,
        unreachable: bool = False,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(what)
        self.passes = passes
        """Whether it may help to ask again."""
        self.remedy = remedy
        self.retry_after = retry_after
        """Seconds after which the server wants to be asked again."""
        self.unreachable = unreachable
        self.usage = usage or Usage()
        """What the server counted nevertheless."""


def setback_of(error: openai.APIError | httpx2.HTTPError, key_variable: str) -> Setback:
    """Return what an error of the client means."""
    if isinstance(error, openai.APIStatusError):
        return _refusal(error, key_variable)
    cause = error.__cause__ or error
    reason = str(cause) or type(cause).__name__
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
        return Setback(
            f"can't be reached ({reason})",
            passes=True,
            remedy="see whether it runs there; --base-url names another",
            unreachable=True,
        )
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return Setback("gave no answer in time", passes=True, remedy="see whether it is overloaded")
    return Setback(f"broke off ({reason})", passes=True, remedy="see whether it still runs")


def context_is_full(error: openai.APIStatusError) -> bool:
    """Tell whether a server says that a prompt is too long for its model."""
    said = error.code == "context_length_exceeded" or _FULL.search(said_in(error.body))
    return error.status_code == _TOO_LONG or (error.status_code in _REFUSED and bool(said))


def refused_parameter(error: openai.APIStatusError, request: Mapping[str, object]) -> str | None:
    """Return the parameter of a request that the server says it doesn't take, where one can do without."""
    if error.status_code not in _REFUSED:
        return None
    said = f"{error.param} {_place(error.body)} {said_in(error.body)}"
    return next((name for name in _OPTIONAL if name in request and re.search(rf"\b{name}\b", said)), None)


def _place(body: object) -> str:
    """Return where in a request the fault is, of an error that says it as `{"detail": [{"loc": [...]}]}`."""
    detail = body.get("detail") if isinstance(body, dict) else None
    first = detail[0] if isinstance(detail, list) and detail else None
    return str(first.get("loc", "")) if isinstance(first, dict) else ""


def _refusal(error: openai.APIStatusError, key_variable: str) -> Setback:
    code, said = error.status_code, said_in(error.body) if error.body else error.response.reason_phrase
    what, remedy = f"answered with HTTP {code} ({said})", ""
    passes = code in _PASSING or code >= 500
    if code in (401, 403):
        what, remedy = f"refuses the key ({code}: {said})", f"set {key_variable} to one that it takes"
    elif code == 404:
        remedy = "see whether it has this model, and whether --base-url is right: most end in /v1"
    elif error.code == "insufficient_quota" or code == 402:
        what, remedy, passes = f"wants to be paid ({code}: {said})", "see what it says of your account", False
    elif code == 429:
        what, remedy = f"has had too many requests ({code}: {said})", "go on later"
    elif code >= 500:
        remedy = "see what ails it, or go on later"
    elif code in (400, 422):
        remedy = "openai:NAME does without tools" if "tool" in said.lower() else "see what its model takes"
    return Setback(what, passes=passes, remedy=remedy, retry_after=_retry_after(error.response.headers))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to be left alone for, from now; it says them as such or as a date."""
    said = headers.get("retry-after")
    if said is None:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except ValueError:
        return None
