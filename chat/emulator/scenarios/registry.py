"""The table of scenarios, and how a generator gets into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from chat.emulator.call import Call
from chat.emulator.voice import Form, Voice
from chat.emulator.wire import Step

Play: TypeAlias = Callable[[Voice, int], Iterator[Step]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scripted answer."""

    name: str
    description: str
    """One sentence: the generator's docstring."""
    form: Form
    amount: int
    """What a number after the name changes; 0 when nothing."""
    generator: Play

    def play(self, call: Call, amount: int) -> Iterator[Step]:
        """The steps of one answer."""
        return self.generator(Voice(call, self.form), amount)


SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str, *, form: Form = Form.GEMINI_3, amount: int = 0) -> Callable[[Play], Play]:
    """Register a generator under a name; its docstring is what the list of models says of it."""

    def register(generator: Play) -> Play:
        SCENARIOS[name] = Scenario(name, (generator.__doc__ or "").strip(), form, amount, generator)
        return generator

    return register
