"""Compares exported documents of a conversation and of its imported copy."""

from __future__ import annotations

from copy import deepcopy
from typing import Any


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """Return an exported document with numbers for ids, and without the times of the export and of attachments."""
    document = deepcopy(document)
    del document["exported_at"]
    numbers: dict[str, int] = {}

    def number(key: str | None) -> int | None:
        return None if key is None else numbers.setdefault(key, len(numbers))

    document["conversation"]["id"] = number(document["conversation"]["id"])
    for message in document["messages"]:
        message["id"], message["parent"] = number(message["id"]), number(message["parent"])
        for placed in message["attachments"]:
            placed["id"] = number(placed["id"])
        if turn := message.get("turn"):
            turn["id"], turn["user_message"] = None, number(turn["user_message"])
    for attachment in document["attachments"]:
        attachment["id"] = number(attachment["id"])
        del attachment["created_at"]
    return document
