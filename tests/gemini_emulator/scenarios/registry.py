"""The table of scenarios, and the decorator that adds a script to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.generation_request import GenerationRequest
from chat.emulator.wire import Step


@dataclass(frozen=True, slots=True)
class ScenarioCall:
    """One use of a scenario."""

    amount: int
    """The number in the model's name, or the scenario's default."""
    repetition: int
    """How many requests with the same model and contents came before."""

    @property
    def is_first(self) -> bool:
        """Whether no request with the same model and contents came before."""
        return self.repetition == 0


Script: TypeAlias = Callable[[ChunkBuilder, ScenarioCall], Iterator[Step]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scripted answer."""

    name: str
    description: str
    """One sentence: the script's docstring."""
    default_amount: int
    """The amount if the model's name has no number; 0 if the scenario has no amount."""
    builder_class: type[ChunkBuilder]
    script: Script

    def steps(self, request: GenerationRequest, call: ScenarioCall) -> Iterator[Step]:
        """Yield the steps of one answer."""
        return self.script(self.builder_class(request), call)


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    name: str, *, builder_class: type[ChunkBuilder] = ChunkBuilder, amount: int = 0
) -> Callable[[Script], Script]:
    """Register a script under a name. The list of models shows its docstring."""

    def register(script: Script) -> Script:
        SCENARIOS[name] = Scenario(name, (script.__doc__ or "").strip(), amount, builder_class, script)
        return script

    return register
