"""Shared by all drills: answers that stream while something fails, and the outcome of one exercise."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.drills.installation import Installation
from tests.drills.invariants import Findings
from tests.drills.tabs import Tab
from tests.live_server import Visitor
from tests.polling import wait_until

ANSWERS = 14
LONG_ANSWER = "scenario-long-40"
START_LIMIT_S = 60.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of one exercise of a drill."""

    name: str
    figures: Mapping[str, float]
    faults: Sequence[str]
    """One sentence for each broken promise."""

    @property
    def line(self) -> str:
        """One line for the terminal."""
        figures = ", ".join(f"{name} {value:g}" for name, value in self.figures.items())
        return f"{self.name}: {'FAILED' if self.faults else 'ok'}: {figures}"


def make_outcome(name: str, findings: Findings, *faults: str, **figures: float) -> Outcome:
    """Return the outcome with the checker's findings, and with further faults and figures of the drill."""
    return Outcome(name, {**findings.figures, **figures}, [*findings.faults, *(fault for fault in faults if fault)])


def ask(visitor: Visitor, model: str, *, watchers: Sequence[Visitor] = ()) -> list[Tab]:
    """Ask a question in a new conversation, and return its tabs: the one that asks, and one for each watcher."""
    conversation_id = visitor.new_conversation()
    visitor.post(f"/c/{conversation_id}/settings/", model=model)
    tabs = [Tab(visitor, conversation_id, question=f"A question of {conversation_id}")]
    tabs += [Tab(watcher, conversation_id) for watcher in watchers]
    for tab in tabs:
        tab.open()
    return tabs


def start_answers(installation: Installation, number: int = ANSWERS, model: str = LONG_ANSWER) -> list[Tab]:
    """Start this number of answers, each open in two tabs, and wait until all of them stream."""
    tabs: list[Tab] = []
    for index in range(number):
        visitor = installation.visitors[index % len(installation.visitors)]
        tabs += ask(visitor, model, watchers=[visitor])
    wait_for_text(tabs)
    return tabs


def wait_for_text(tabs: Sequence[Tab]) -> None:
    """Wait until every page shows some of its answer."""
    wait_until(lambda: all(any(seq > 0 for _, seq in tab.positions) for tab in tabs), START_LIMIT_S)


def sleep_until(moment: float) -> None:
    """Sleep until a monotonic time. Drills need outages of a fixed length."""
    time.sleep(max(0.0, moment - time.monotonic()))
