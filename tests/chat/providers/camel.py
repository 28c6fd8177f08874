"""Converts request bodies of the SDK, whose nested keys are in snake_case. The API accepts both forms."""

from __future__ import annotations

from typing import Any

FREE_FORM = ("args", "response", "partMetadata", "parametersJsonSchema")
"""Keys whose values hold names that are not the API's own."""


def in_camel_case(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON with its keys in camelCase. The values of FREE_FORM keys stay as they are."""
    if isinstance(value, list):
        return [in_camel_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    camel = {_camel(key): item for key, item in value.items()}
    return {key: item if key in FREE_FORM else in_camel_case(item) for key, item in camel.items()}


def _camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(word.title() for word in others)
