"""A tool set for tests: its functions record each call, and do what their names say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from chat.messages.tool_sets import ToolFailed
from chat.models import Turn
from chat.providers.requests import FunctionTool
from chat.vocabulary.parts import (
    OUTCOME_OK,
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JSONObject,
    Part,
)
from tests.attachments.conftest import png

PARAMETERS: JSONObject = {"type": "object", "properties": {"value": {"type": "integer"}}}


@dataclass
class RecordingTools:
    """Functions that record their calls.

    `echo` returns its arguments, `long` returns 20,000 characters, `run` streams output of code, `lines` prints 2,000
    lines, each by itself, `flood` prints 50,000 characters, `wait` waits until it is cancelled, `fail` fails, `crash`
    has a defect, `silent` returns nothing. `plot` prints, draws and prints; `plot_wait`, `plot_fail`, `plot_crash` then
    wait, fail or crash.
    """

    names: Sequence[str] = ("echo",)
    approved_names: Sequence[str] = ()
    """Functions that a person must approve."""
    state_text: str = ""
    state_error: Exception | None = None
    calls: list[FunctionCall] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    """`call_id` of each call that has ended, for whatever reason."""
    closed: int = 0
    abandoned: int = 0
    """Number of turns whose process has died."""
    is_running: asyncio.Event = field(default_factory=asyncio.Event)

    def declarations(self) -> Sequence[FunctionTool]:
        """Return one function for each name, all with the same parameters."""
        return [FunctionTool(name, f"The function {name}.", PARAMETERS) for name in self.names]

    def needs_approval(self, call: FunctionCall) -> bool:
        """Return whether the test wants this function's calls approved."""
        return call.name in self.approved_names

    async def run(self, call: FunctionCall) -> AsyncGenerator[list[Part], None]:
        """Record the call, and do what its function's name says."""
        self.calls.append(call)
        self.is_running.set()
        try:
            match call.name:
                case "run":
                    code = ExecutableCode("print(1)", "PYTHON", engine=Engine.SESSION)
                    yield [code]
                    for output in ("1\n", "2\n"):
                        yield [CodeExecutionResult(output=output, engine=Engine.SESSION)]
                    yield [
                        CodeExecutionResult(output="1\n2\n", outcome=OUTCOME_OK, engine=Engine.SESSION),
                        FunctionResponse("run", {"output": "1\n2\n"}),
                    ]
                case "lines":
                    lines = [f"line {number}\n" for number in range(2_000)]
                    for line in lines:
                        yield [CodeExecutionResult(output=line, engine=Engine.SESSION)]
                    yield [
                        CodeExecutionResult("".join(lines), OUTCOME_OK, engine=Engine.SESSION),
                        FunctionResponse("lines", {"lines": len(lines)}),
                    ]
                case "long":
                    yield [FunctionResponse("long", {"output": "x" * 20_000})]
                case "flood":
                    for _ in range(5_000):
                        yield [CodeExecutionResult(output="0123456789", engine=Engine.SESSION)]
                    yield [
                        CodeExecutionResult("0123456789" * 5_000, OUTCOME_OK, engine=Engine.SESSION),
                        FunctionResponse("flood", {}),
                    ]
                case "wait" | "fail" | "crash":
                    await self._end_badly(call.name)
                case "plot" | "plot_wait" | "plot_fail" | "plot_crash":
                    yield [ExecutableCode("plot()", "PYTHON", engine=Engine.SESSION)]
                    yield [CodeExecutionResult("before\n", engine=Engine.SESSION)]
                    yield [InlineData("image/png", data=png(1))]
                    yield [CodeExecutionResult("after\n", engine=Engine.SESSION)]
                    await self._end_badly(call.name.removeprefix("plot").removeprefix("_"))
                    yield [
                        CodeExecutionResult("before\nafter\n", OUTCOME_OK, engine=Engine.SESSION),
                        FunctionResponse("plot", {}),
                    ]
                case "silent":
                    return
                case _:
                    yield [FunctionResponse(call.name, {"arguments": dict(call.arguments or {})})]
        finally:
            self.ended.append(call.call_id)

    async def _end_badly(self, manner: str) -> None:
        if manner == "wait":
            await asyncio.Event().wait()
        if manner == "fail":
            raise ToolFailed("It cannot be done today.")
        if manner == "crash":
            raise ZeroDivisionError

    async def state(self, *, with_data: bool) -> str:
        """Return the text, or raise the error, that the test has set."""
        if self.state_error:
            raise self.state_error
        return self.state_text

    async def abandon(self) -> None:
        """Count the calls."""
        self.abandoned += 1

    async def aclose(self) -> None:
        """Count the calls."""
        self.closed += 1


current = RecordingTools()


UseTools: TypeAlias = Callable[..., RecordingTools]


def make(turn: Turn) -> RecordingTools:
    """Return the tool set that the running test has chosen."""
    return current


async def make_later(turn: Turn) -> RecordingTools:
    """Return the tool set as `make` does, after a step of the event loop."""
    await asyncio.sleep(0)
    return current


def choose(tools: RecordingTools) -> RecordingTools:
    """Let `make` return this tool set."""
    global current
    current = tools
    return tools
