"""Maps how a cell ended to the outcome of a part. Pure."""

from __future__ import annotations

from chat.python.kernels.outputs import ExecutionStatus
from chat.vocabulary.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_FAILED, OUTCOME_OK

OUTCOMES = {
    ExecutionStatus.OK: OUTCOME_OK,
    ExecutionStatus.FAILED: OUTCOME_FAILED,
    ExecutionStatus.TIMEOUT: OUTCOME_DEADLINE_EXCEEDED,
    ExecutionStatus.DIED: OUTCOME_FAILED,
}
