"""Reading JSON that others wrote. Pure.

JSON that is nested deeply would end the recursion of any code that walks through it later.
"""

from __future__ import annotations

import json
from typing import Any

DEPTH_LIMIT = 100

_decode = json.JSONDecoder(strict=False).decode


def read_json(text: str) -> Any:  # noqa: ANN401 - JSON of any form
    """Return the value. Raises ValueError for text that is not JSON, or is nested too deeply."""
    try:
        value = _decode(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    # Most texts have too few brackets to be deep.
    if text.count("{") + text.count("[") > DEPTH_LIMIT and _is_deeper(value, DEPTH_LIMIT):
        raise ValueError("the JSON is nested too deeply")
    return value


def _is_deeper(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [
            item
            for container in level
            if isinstance(container, dict | list)
            for item in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return False
    return True
