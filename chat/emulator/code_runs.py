"""The results of the demo model's code, run by the emulator or by Plotline's Python session, and texts about them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from string import Formatter
from typing import Self

from chat.emulator.demo.language import TEXTS, Plan
from chat.emulator.wire import WireObject
from chat.python.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, ImageOutput
from chat.vocabulary.code_outcomes import ERROR, SUCCESS, TIMEOUT

STATUSES = {SUCCESS: ExecutionStatus.OK, ERROR: ExecutionStatus.FAILED, TIMEOUT: ExecutionStatus.TIMEOUT}
"""Statuses by outcome of code in the Python session. Its other outcomes are those of code that was stopped early."""


@dataclass(frozen=True, slots=True)
class CodeRun:
    """The result of one run of code."""

    status: ExecutionStatus
    text: str
    error: str
    """The last error, on one line."""
    graphs: int
    duration_s: float | None
    """`None`: not known."""

    @classmethod
    def of_execution(cls, execution: Execution) -> Self:
        """Return the result of an execution in the emulator."""
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
        """Return the result of code in the Python session, from the response of its function."""
        status = STATUSES.get(str(response.get("outcome")), ExecutionStatus.DIED)
        text, graphs = str(response.get("output") or ""), response.get("graphs")
        last_line = text.strip().rpartition("\n")[2]
        return cls(status, text, last_line, graphs if isinstance(graphs, int) else 0, None)

    def comment(self, plan: Plan) -> str:
        """Return the text after the code: why it failed, or the plan's comment with the printed values.

        A value that was not printed becomes a dash. A remark of the plan is written only if all its values were
        printed.
        """
        texts: dict[str, str] = TEXTS["runs"][plan.language]
        seconds = "" if self.duration_s is None else f"{self.duration_s:.2f}"
        if self.status is ExecutionStatus.TIMEOUT:
            return texts["timeout" if seconds else "late"].format(seconds=seconds.partition(".")[0]) + "\n"
        if self.status is ExecutionStatus.DIED:
            return texts["died"] + "\n"
        if self.status is ExecutionStatus.FAILED:
            return texts["failed"].format(error=self.error) + "\n"
        if not plan.comment:
            return texts["own"] + "\n"
        printed = {name: _in_language(value, plan.language) for name, value in self._printed().items()}
        # A program prints a result as LaTeX, too, if the result needs commands of LaTeX. Otherwise the plain result is
        # used.
        printed.setdefault("LaTeX", printed.get("result", "–").replace("∨", r"\vee"))
        known = [
            one for one in plan.remarks if {name for _, name, _, _ in Formatter().parse(one) if name} <= printed.keys()
        ]
        return " ".join([plan.comment, *known]).format_map(defaultdict(lambda: "–", printed)) + "\n"

    def _printed(self) -> dict[str, str]:
        """Return the values of the lines such as `name: value`, by names in which `_` replaces a space."""
        printed: dict[str, str] = {}
        for name, value in re.findall(r"^(\w[\w ]*): (.+)$", self.text, re.MULTILINE):
            key = name.replace(" ", "_")
            printed[key] = value
            if share := re.fullmatch(r"(\d+) of (\d+)", value):
                printed[key], printed[f"{key}_of"] = share.groups()
        return printed


def _in_language(text: str, language: str) -> str:
    """Return the text; if the language is German, with decimal commas in its numbers."""
    return re.sub(r"(?<![\w.])(-?\d+)\.(?=\d+(?![\w.]))", r"\1,", text) if language == "de" else text
