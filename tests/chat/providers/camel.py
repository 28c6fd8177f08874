"""The SDK's names and the API's: the SDK sends what is nested in snake_case, the API takes both."""

from __future__ import annotations

from typing import Any

FREE_FORM = ("args", "response", "partMetadata")


def in_camel_case(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """JSON with camelCase keys, as the SDK sends nested ones in snake_case; what functions are given stays."""
    if isinstance(value, list):
        return [in_camel_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    camel = {_camel(key): item for key, item in value.items()}
    return {key: item if key in FREE_FORM else in_camel_case(item) for key, item in camel.items()}


def _camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(word.title() for word in others)
