"""Titles: whatever a model answers otherwise, asked for a title it gives one, so that titles can be tried with all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.call import Call
from chat.emulator.voice import Voice
from chat.emulator.wire import Step

WORDS = 5
_ASKS_FOR_TITLE = "title for this conversation"
_LABEL = re.compile(r"\s*\w+:\s*\n")
"""A line such as `Question:` before what was asked."""


def asks_for_title(instruction: str) -> bool:
    """Whether a system instruction wants a title."""
    return _ASKS_FOR_TITLE in instruction


def steps(call: Call) -> Iterator[Step]:
    """One short text: the first words of the first question."""
    asked = list(call.prompts())[-1:] or [""]
    question = _LABEL.sub("", asked[0], count=1).strip().partition("\n\n")[0]
    title = " ".join(question.split()[:WORDS]) or "Untitled"
    yield Voice(call).chunk(wire.text(title), finish="STOP")
