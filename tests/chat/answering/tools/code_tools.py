"""A tool set for tests that runs code in a process of its own, after a person has approved it.

Each run appends its code to the file `executed-code` in `VAR_DIR`, so that tests can count the runs of a server.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from django.conf import settings

from chat.messages.tool_sets import ToolFailed
from chat.models import Turn
from chat.providers.requests import FunctionTool
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    JSONObject,
    Part,
)

PARAMETERS: JSONObject = {"type": "object", "properties": {"code": {"type": "string"}}}


class CodeTools:
    """The function `run_python`, every call of which needs approval."""

    def declarations(self) -> Sequence[FunctionTool]:
        """Return the function `run_python`."""
        return [FunctionTool("run_python", "Run Python code.", PARAMETERS)]

    def needs_approval(self, call: FunctionCall) -> bool:
        """Return `True`: every call needs approval."""
        return True

    async def run(self, call: FunctionCall) -> AsyncGenerator[list[Part], None]:
        """Note the code in the journal, run it in a process of its own, and yield its output."""
        code = (call.arguments or {}).get("code")
        if not isinstance(code, str):
            raise ToolFailed("There is no code to run.")
        with journal_path(settings.VAR_DIR).open("a") as journal:
            journal.write(json.dumps(code) + "\n")
        yield [ExecutableCode(code, "PYTHON", engine=Engine.SESSION)]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-c", code), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        try:
            data, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        output, outcome = data.decode(), OUTCOME_FAILED if process.returncode else OUTCOME_OK
        yield [
            CodeExecutionResult(output=output, outcome=outcome, engine=Engine.SESSION),
            FunctionResponse(call.name, {"outcome": outcome, "output": output}),
        ]

    async def state(self, *, with_data: bool) -> str:
        """Return an empty text: nothing outlives a call."""
        return ""

    async def aclose(self) -> None:
        """Do nothing, because every process has ended with its call."""


def make(turn: Turn) -> CodeTools:
    """Return the tool set of a turn."""
    return CodeTools()


def journal_path(var_dir: Path) -> Path:
    """Return the path of the file that lists the code that has run."""
    return var_dir / "executed-code"


def executed(var_dir: Path) -> list[str]:
    """Return the code that has run, in order."""
    path = journal_path(var_dir)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
