"""Names of models: the traits of the model, and the scenario that it answers with."""

from __future__ import annotations

import re
from dataclasses import dataclass

RECORDING = "recording:"
"""Prefix of a scenario that replays a recorded body."""
TEXT_ONLY = "text-only"
"""The model takes no images."""
NO_TOOLS = "no-tools"
"""The model, or the way in which its server was started, takes no functions."""
CONTEXT = re.compile(r"context-(\d+)")


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name, taken apart."""

    full: str
    traits: frozenset[str]
    scenario: str

    @property
    def context_tokens(self) -> int | None:
        """Size of the context window; `None` means that it has no limit."""
        sizes = [int(match[1]) for trait in self.traits if (match := CONTEXT.fullmatch(trait))]
        return min(sizes, default=None)


def parse_model_name(name: str) -> ModelName:
    """Return the parts of a name such as `gpt-5/call` or `text`."""
    traits, _, scenario = name.rpartition("/")
    return ModelName(name, frozenset(traits.split("+")) - {""}, scenario)
