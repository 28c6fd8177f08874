"""A request as scenarios get it, independent of its protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tests.scenarios.steps import Step, Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request."""

    question: str
    """The last text of the user."""
    functions: Sequence[str]
    """The names of the declared functions."""
    results: Sequence[tuple[str, str]]
    """Name and JSON of each result of a function after the last answer."""
    calls: int = 0
    """Number of calls that the model has made since the question."""
    rounds: int = 0
    """Number of times that the client has sent results since the question."""
    runs_code: bool = False
    """Whether the service may run code."""
    colour: str = ""
    """Colour of the first pixel of the image after the results, such as `#ff0000`; empty if there is none."""
    amount: int = 0
    """The number at the end of the scenario's name; 0 if it has none."""
    repetition: int = 0
    """Number of earlier equal requests."""


Script: TypeAlias = Sequence[Step] | Callable[[Asked], Steps]


def steps_of(script: Script, asked: Asked) -> Steps:
    """Return the steps of one answer."""
    return script(asked) if callable(script) else script
