"""The thinking levels of models. Pure."""

from __future__ import annotations

from enum import StrEnum


class ThinkingLevel(StrEnum):
    """How much a model thinks before it answers."""

    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
