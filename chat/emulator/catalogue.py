"""The list of models, page by page, as `GET models` gives it."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from chat.emulator import scenarios
from chat.emulator.demo import DEMO_MODEL
from chat.emulator.wire import WireError, WireObject

PAGE_SIZE, LARGEST_PAGE = 50, 1_000
"""As the real API's."""


def describe(name: str, description: str) -> WireObject:
    """One model."""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "description": description,
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        "temperature": 1,
        "topP": 0.95,
        "topK": 64,
        "maxTemperature": 2,
        "thinking": True,
    }


def models(recorded: Sequence[str]) -> list[WireObject]:
    """All models; any other name is answered by the demo model too."""
    return [
        describe(DEMO_MODEL, "The demo model: runs code for real, but is no AI."),
        *(describe(scenarios.PREFIX + name, known.description) for name, known in scenarios.SCENARIOS.items()),
        *(describe(name, "A recorded answer.") for name in recorded),
    ]


def page(described: Sequence[WireObject], query: Mapping[str, str], field: str) -> WireObject:
    """The page that a query asks for, under the name `field`, with a token where another follows."""
    size = min(_page_size(query.get("pageSize", "")), LARGEST_PAGE)
    start = _start(query.get("pageToken", ""))
    answer: WireObject = {field: list(described[start : start + size])}
    if start + size < len(described):
        answer["nextPageToken"] = _token(start + size)
    return answer


def _page_size(wanted: str) -> int:
    """Zero is as good as none."""
    if not re.fullmatch("[0-9]{0,9}", wanted):
        raise WireError(400, f"Invalid value at 'page_size' (TYPE_INT32), {wanted[:60]!r}")
    return int(wanted or 0) or PAGE_SIZE


def _start(token: str) -> int:
    if not token:
        return 0
    with suppress(ValueError):
        start = int(base64.urlsafe_b64decode(token))
        if start > 0 and _token(start) == token:
            return start
    raise WireError(400, "Invalid page token.")


def _token(start: int) -> str:
    return base64.urlsafe_b64encode(str(start).encode()).decode()
