"""Changes field names of responses to those of the API. Pure.

The API writes `usageMetadata`. Gateways that pass a response through Protocol Buffers or an SDK may write
`usage_metadata`, which google-genai reads too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from chat.providers.untrusted_json import WireObject

FREE_OBJECTS = frozenset({"args", "response", "partMetadata"})
"""Fields whose objects have names that the API does not define: arguments and results of functions, and
metadata of parts."""

_UNDERSCORE = re.compile(r"(?<=[a-z0-9])_([a-z0-9])")


def with_api_names(chunk: WireObject) -> WireObject:
    """Return the chunk of a response with `lowerCamelCase` names. Most chunks have them already."""
    return _renamed(chunk) if any("_" in name for name in _names(chunk)) else chunk


def _names(chunk: WireObject) -> Iterator[str]:
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


def _renamed(fields: WireObject) -> WireObject:
    renamed: dict[str, object] = {}
    for name, value in fields.items():
        name = _UNDERSCORE.sub(lambda match: match[1].upper(), name)
        renamed[name] = value if name in FREE_OBJECTS else _with_renamed_objects(value)
    return renamed


def _with_renamed_objects(value: object) -> object:
    if isinstance(value, list):
        return [_with_renamed_objects(item) for item in value]
    return _renamed(value) if isinstance(value, Mapping) else value
