"""The results of a stored run on a newer file, as pages and the API show them. Pure."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from chat.models import NewerFileRun
from chat.python.newer_files.rows import INTERRUPTED
from chat.python.reruns.earlier_blocks import BlockVerdict, summary
from chat.python.reruns.verdicts import Comparison, Verdict

State: TypeAlias = Literal["running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Results:
    """The state of a run, and a summary of its verdicts so far."""

    state: State
    verdict: str
    """The worst verdict; empty if no block has run yet."""
    detail: str
    """A sentence that counts the verdicts, or says why the run has failed."""


def results_of(run: NewerFileRun, now: datetime) -> Results:
    """Return the state of a run. `now`: the time of the database's clock."""
    comparisons = [Comparison(Verdict(one["verdict"]), one["detail"]) for one in run.blocks]
    verdicts = [BlockVerdict(uuid.UUID(int=0), 0, one) for one in comparisons]
    counted = summary(verdicts) if verdicts else None
    verdict, detail = (counted.verdict.value, counted.detail) if counted else ("", "")
    if run.is_running(now):
        return Results("running", verdict, detail)
    error = run.error or (INTERRUPTED if run.until else "")
    return Results("failed", verdict, error) if error else Results("done", verdict, detail)
