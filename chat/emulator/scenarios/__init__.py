"""Scripted answers and faults: every part kind, ending and failure of the wire, on demand.

The model's name chooses: `scenario-NAME`, or `scenario-NAME-NUMBER` where a scenario has an amount
(`scenario-stall-5` is silent for 5 s, `scenario-long-200` writes 200 KB). `GET /v1beta/models` lists all of them
with a sentence each. A scenario is a generator of steps with real pauses; the server's pace scales them.

Answers are in `texts`, `sources` and `code`, endings in `endings`, faults in `faults`, and those that pass once the
client has done what it should in `repairs`; importing them fills the registry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.call import Call
from chat.emulator.scenarios import code, endings, faults, repairs, sources, texts
from chat.emulator.scenarios.registry import SCENARIOS, Scenario
from chat.emulator.wire import Step

PREFIX = "scenario-"

__all__ = [
    "PREFIX",
    "SCENARIOS",
    "Scenario",
    "code",
    "endings",
    "faults",
    "find",
    "repairs",
    "sources",
    "steps",
    "texts",
]


def find(model: str) -> tuple[Scenario, int] | None:
    """The scenario of a model's name and its amount; None when there is none."""
    hit = re.fullmatch(r"(.+?)(?:-(\d+))?", model.removeprefix(PREFIX))
    scenario = SCENARIOS.get(hit[1]) if hit else None
    if hit is None or scenario is None:
        return None
    return scenario, int(hit[2]) if hit[2] else scenario.amount


def steps(call: Call) -> Iterator[Step]:
    """Play the scenario that the call's model names; 404 when it names none."""
    found = find(call.model)
    if found is None:
        message = f"models/{call.model} is no scenario of this emulator. Call ListModels to see the list of scenarios."
        yield wire.refusal(404, message, "NOT_FOUND")
        return
    scenario, amount = found
    yield from scenario.play(call, amount)
