"""How the demo model's code ended, at the emulator itself or in Plotline's Python session, and its words about that."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Self

from chat.emulator.wire import WireObject
from chat.python.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, ImageOutput
from chat.vocabulary.code_outcomes import ERROR, SUCCESS, TIMEOUT

STATUSES = {SUCCESS: ExecutionStatus.OK, ERROR: ExecutionStatus.FAILED, TIMEOUT: ExecutionStatus.TIMEOUT}
"""The outcomes in responses of the Python session. There are others, of code that did not reach its end."""
NOT_RUN = "I could not run this code: {reason}\n"


@dataclass(frozen=True, slots=True)
class CodeRun:
    """How code ended."""

    status: ExecutionStatus
    text: str
    error: str
    """The last error on one line."""
    graphs: int
    duration_s: float | None
    """`None`: not known."""

    @classmethod
    def of_execution(cls, execution: Execution) -> Self:
        """Return how an execution ended."""
        errors = [output for output in execution.outputs if isinstance(output, ErrorOutput)]
        return cls(
            execution.status,
            execution.text,
            f"{errors[-1].name}: {errors[-1].value}" if errors else "",
            sum(isinstance(output, ImageOutput) for output in execution.outputs),
            execution.duration_s,
        )

    @classmethod
    def of_response(cls, response: WireObject) -> Self:
        """Return how code ended in the Python session, from the response of its function."""
        status = STATUSES.get(str(response.get("outcome")), ExecutionStatus.DIED)
        text, graphs = str(response.get("output") or ""), response.get("graphs")
        last_line = text.strip().rpartition("\n")[2]
        return cls(status, text, last_line, graphs if isinstance(graphs, int) else 0, None)

    def comment(self, template: str, remarks: Sequence[str] = ()) -> str:
        """Return the text after the code: how it failed, or the template with its printed values, or dashes.

        `remarks`: further templates. Each is written only if all its values were printed.
        """
        if self.status is ExecutionStatus.TIMEOUT:
            after = f" after {self.duration_s:.0f} seconds" if self.duration_s is not None else ""
            return f"The code was still running{after}, so it was ended.\n"
        if self.status is ExecutionStatus.DIED:
            return "The code did not reach its end: its session ended, or it was stopped.\n"
        if self.status is ExecutionStatus.FAILED:
            return f"The code failed: `{self.error}`. The traceback above shows the line.\n"
        if not template:
            return self._description()
        printed: defaultdict[str, str] = defaultdict(lambda: "–")
        for name, value in re.findall(r"^(\w[\w ]*): (.+)$", self.text, re.MULTILINE):
            key = name.replace(" ", "_")
            printed[key] = value
            if share := re.fullmatch(r"(\d+) of (\d+)", value):
                printed[key], printed[f"{key}_of"] = share.groups()
        known = [one for one in remarks if all(name in printed for _, name, _, _ in Formatter().parse(one) if name)]
        return " ".join([template, *known]).format_map(printed) + "\n"

    def _description(self) -> str:
        lines = len(self.text.splitlines())
        drew = f" and drew {self.graphs} graph{'s' if self.graphs > 1 else ''}" if self.graphs else ""
        printed = f"printed {lines} line{'s' if lines > 1 else ''}" if lines else "printed nothing"
        took = f" in **{self.duration_s:.2f} s**" if self.duration_s is not None else ""
        return f"Your code ran{took}, {printed}{drew}.\n"
