"""What the demo model knows about one prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PromptTexts:
    """The texts around a program, in one language."""

    example: str
    """A prompt that selects the entry; the greeting lists it."""
    thought: str
    """The thought summary."""
    intro: str
    """The text before the program."""
    comment: str
    """The text after the program: a template that quotes the values that the program printed."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A second program, for an entry whose first program fails on purpose."""

    explanation: str
    """The text between the programs. It may quote `{error}`, the last line of the traceback."""
    program: str


@dataclass(frozen=True, slots=True)
class DemoPrompt:
    """One thing that the demo model can do."""

    pattern: str
    """A regular expression that is searched for in the prompt, ignoring case.

    Its named groups replace lines `name = ...` of the program.
    """
    program: str
    texts: Mapping[str, PromptTexts]
    """By language: always `en`, in some entries also `de` and `zh`."""
    repair: Repair | None = None
    needs_table: bool = False
    """Whether the program reads an attached CSV file."""
