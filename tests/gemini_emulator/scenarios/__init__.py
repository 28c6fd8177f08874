"""Scripted answers and faults: every kind of part, every ending and every failure of the wire.

The model's name selects the scenario: `scenario-NAME`, or `scenario-NAME-NUMBER` if the scenario has an amount
(`scenario-stall-5` is silent for 5 s, `scenario-long-200` writes 200 KB). `GET /v1beta/models` lists all scenarios with
a sentence each. A script is a generator of steps with realistic pauses, which the server's pace multiplies.

Importing the modules of this package fills the registry: answers are in `text`, `sources`, `code` and `functions`,
abnormal endings in `endings`, faults in `faults`, and temporary faults in `temporary_faults`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chat.emulator.generation_request import GenerationRequest
from chat.emulator.wire import Step
from tests.gemini_emulator.scenarios import code, endings, faults, functions, sources, temporary_faults, text
from tests.gemini_emulator.scenarios.registry import SCENARIOS, Scenario, ScenarioCall
from tests.gemini_emulator.steps import http_error

PREFIX = "scenario-"

__all__ = [
    "PREFIX",
    "SCENARIOS",
    "Scenario",
    "code",
    "endings",
    "faults",
    "find",
    "functions",
    "scenario_steps",
    "sources",
    "temporary_faults",
    "text",
]


def find(model: str) -> tuple[Scenario, int] | None:
    """Return the scenario that a model's name selects and its amount, or None."""
    match = re.fullmatch(r"(.+?)(?:-(\d+))?", model.removeprefix(PREFIX))
    scenario = SCENARIOS.get(match[1]) if match else None
    if match is None or scenario is None:
        return None
    return scenario, int(match[2]) if match[2] else scenario.default_amount


def scenario_steps(request: GenerationRequest, repetition: int) -> Iterator[Step]:
    """Yield the steps of the scenario that the request's model selects, or an error 404 if there is none."""
    selected = find(request.model)
    if selected is None:
        message = f"models/{request.model} is not a scenario of this emulator. ListModels returns all scenarios."
        yield http_error(404, message, "NOT_FOUND")
        return
    scenario, amount = selected
    yield from scenario.steps(request, ScenarioCall(amount, repetition))
