"""Scripted answers and faults, in one table for all protocols.

The model's name selects the scenario: `NAME`, or `NAME-NUMBER` if the scenario has an amount (`stall-5` is silent for
5 s, `long-200` writes 200 KB). A script is a list of steps, or a function that makes them from the request. A stand-in
may add scripts that only its protocol can express.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from tests.scenarios.answers import ANSWERS
from tests.scenarios.asked import Script
from tests.scenarios.calls import CALLS
from tests.scenarios.faults import FAULTS

SCENARIOS: Mapping[str, Script] = {**ANSWERS, **CALLS, **FAULTS}
T = TypeVar("T")


def find(table: Mapping[str, T], name: str) -> tuple[T, int] | None:
    """Return the script that a name selects from a table and its amount, or None."""
    match = re.fullmatch(r"(.+?)(?:-(\d+))?", name)
    return (table[match[1]], int(match[2] or 0)) if match and match[1] in table else None
