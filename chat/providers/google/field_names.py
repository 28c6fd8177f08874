"""Field names of responses in the case of the API. Pure.

The API writes `usageMetadata`. Gateways that pass a response through Protocol Buffers or an SDK may write
`usage_metadata`, which google-genai reads too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

FREE_OBJECTS = frozenset({"args", "response", "partMetadata"})
"""Fields whose objects have names that the API does not define: arguments and results of functions."""

_UNDERSCORE = re.compile(r"(?<=[a-z0-9])_([a-z0-9])")


def with_api_names(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the chunk of a response with `lowerCamelCase` names. Most chunks have them already."""
    if any("_" in name for name in _names(chunk)):
        renamed: Mapping[str, Any] = _renamed(chunk)
        return renamed
    return chunk


def _names(chunk: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of those objects of a chunk that nearly every chunk has."""
    yield from chunk
    candidates = chunk.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else ():
        if not isinstance(candidate, dict):
            continue
        yield from candidate
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                yield from part


def _renamed(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    renamed: dict[str, Any] = {}
    for name, item in value.items():
        name = _UNDERSCORE.sub(lambda match: match[1].upper(), name)
        renamed[name] = item if name in FREE_OBJECTS else _renamed(item)
    return renamed
