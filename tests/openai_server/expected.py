"""What a client must read from a response, written independently of the product's code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A function call. `arguments` is `None` if they are not a JSON object."""

    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Expected:
    """The content of a response, and its end."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ExpectedCall, ...] = ()
    finish: str | None = "stop"
    """A value of `Finish`; `None` if the answer was cut, or ended with an error."""
    usage: tuple[int | None, ...] | None = None
    """Tokens: prompt, completion with thoughts, total. `None`: the response has no usage."""
    error: str | None = None
    """The code of the error that ends the response; empty if any error will do."""
