"""The list of models in pages, as `GET models` returns it."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from chat.emulator.wire import WireError, WireObject

PAGE_SIZE, PAGE_SIZE_LIMIT = 50, 1_000
"""The default and the limit of the real API."""


def describe_model(name: str, description: str) -> WireObject:
    """Return the resource of one model as Gemini's API sends it."""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "description": description,
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent"],
        "temperature": 1,
        "topP": 0.95,
        "topK": 64,
        "maxTemperature": 2,
        "thinking": True,
    }


def page(models: Sequence[WireObject], query: Mapping[str, str], field: str) -> WireObject:
    """Return the page that `query` asks for, in the field `field`, with a page token if another page follows."""
    size = min(_page_size(query.get("pageSize", "")), PAGE_SIZE_LIMIT)
    start = _offset(query.get("pageToken", ""))
    body: WireObject = {field: list(models[start : start + size])}
    if start + size < len(models):
        body["nextPageToken"] = _page_token(start + size)
    return body


def _page_size(value: str) -> int:
    """Return the page size. An empty value and zero mean the default."""
    if not re.fullmatch("[0-9]{0,9}", value):
        raise WireError(400, f"Invalid value at 'page_size' (TYPE_INT32), {value[:60]!r}")
    return int(value or 0) or PAGE_SIZE


def _offset(token: str) -> int:
    if not token:
        return 0
    with suppress(ValueError):
        offset = int(base64.urlsafe_b64decode(token))
        if offset > 0 and _page_token(offset) == token:
            return offset
    raise WireError(400, "Invalid page token.")


def _page_token(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()
