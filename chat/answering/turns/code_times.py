"""Measures how long the code of an answer runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from chat.vocabulary.parts import CodeExecutionResult, ExecutableCode
from chat.vocabulary.stream_events import PartReceived, StreamEvent


class CodeTimes:
    """Adds to each final result the time since its code was received.

    A provider that runs the code itself does not say how long it ran, so its time includes that of the network.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._began_at: dict[str, float] = {}
        """`call_id` of code -> when the code was received."""

    def with_duration(self, event: StreamEvent) -> StreamEvent:
        """Return the event; if it is the final result of code that was received, with the code's duration."""
        match event:
            case PartReceived(part=ExecutableCode(call_id=call_id)):
                self._began_at[call_id] = self._now_s()
            case PartReceived(part=CodeExecutionResult(call_id=call_id, outcome=outcome) as part) if outcome:
                began_at = self._began_at.pop(call_id, None)
                if began_at is not None:
                    duration_ms = round((self._now_s() - began_at) * 1000)
                    return replace(event, part=replace(part, duration_ms=duration_ms))
            case _:
                pass
        return event
