"""Steps of an answer that only the test server sends."""

from __future__ import annotations

from dataclasses import dataclass

from chat.emulator import wire
from tests.scenarios.steps import HttpError, Reset, Silence


@dataclass(frozen=True, slots=True)
class RawBytes(wire.Step):
    """Bytes that are written to the body unchanged."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Fault(wire.Step):
    """A fault of a scenario."""

    fault: HttpError | Silence | Reset


def error_body(error: HttpError) -> wire.WireObject:
    """Return the JSON body of an error."""
    return wire.error_body(error.status, error.message, error.name, [dict(one) for one in error.details])
