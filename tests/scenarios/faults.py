"""Scenarios of faults: HTTP errors, connections that break or become silent, and faults of only the first request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from tests.scenarios.asked import Asked, Script
from tests.scenarios.steps import End, HalfEvent, HttpError, Reset, Silence, Step, Steps, Text
from tests.scenarios.texts import PLAIN

BEGINNING = PLAIN[:100]
HOUR_S = 3600


def rate_limit(retry_s: float) -> HttpError:
    """Return the error of a quota that is used up."""
    violation = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}
    details: list[Mapping[str, object]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{retry_s:g}s"},
    ]
    return HttpError(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan.", details)


UNAVAILABLE = HttpError(503, "UNAVAILABLE", "This model is currently experiencing high demand. Please try again later.")
BAD_KEY = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    "reason": "API_KEY_INVALID",
    "domain": "googleapis.com",
    "metadata": {"service": "generativelanguage.googleapis.com"},
}


def once(*steps: Step) -> Callable[[Asked], Steps]:
    """Return a script that answers the first request with these steps, and a repeated request with a text."""
    answer: Sequence[Step] = (Text(PLAIN), End())
    return lambda asked: answer if asked.repetition else steps


def endless(asked: Asked) -> Iterator[Step]:
    """Write ten numbered words a second (or the number given) without end, at any pace."""
    for number in count(1):
        yield Text(f"word {number} ", whole=True)
        yield Silence(1 / (asked.amount or 10))


FAULTS: Mapping[str, Script] = {
    "rate-limited": (rate_limit(34.4),),
    "rate-limited-once": once(rate_limit(0.2)),
    "internal-error": (HttpError(500, "INTERNAL", "An internal error has occurred. Please retry or report."),),
    "unavailable": (UNAVAILABLE,),
    "unavailable-once": once(UNAVAILABLE),
    "bad-request": (HttpError(400, "INVALID_ARGUMENT", "Thinking level MINIMAL is not supported for this model."),),
    "bad-key": (HttpError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", (BAD_KEY,)),),
    "forbidden": (HttpError(403, "PERMISSION_DENIED", "Your project has been denied access. Please contact support."),),
    "not-found": (HttpError(404, "NOT_FOUND", "The model is not found, or is not supported for generateContent."),),
    "error-in-stream": (Text(BEGINNING), UNAVAILABLE),
    "without-finish": (Text(BEGINNING),),
    # A reset discards the bytes that the client has not read yet.
    "reset": (Text(BEGINNING), Silence(0.1), Reset()),
    "cut": (Text(BEGINNING), HalfEvent(), Silence(0.1), Reset()),
    "stall": lambda asked: (Text(BEGINNING), Silence(asked.amount or HOUR_S), Text(PLAIN[100:]), End()),
    "stall-at-start": lambda asked: (Silence(asked.amount or HOUR_S), Text(PLAIN), End()),
    "endless": endless,
}
"""Name of the scenario -> script."""
