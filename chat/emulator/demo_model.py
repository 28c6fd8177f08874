"""The demo model: it is no AI, but its code really runs, in a fresh sandboxed kernel for each turn.

- A prompt with a fenced Python block: the model runs that block.
- A prompt that it understands completely (`demo`): the model runs a program written for it, and comments its output.
- A request for images: the model draws a pattern.
- Any other prompt: the model says what it is, what it did not understand, and lists examples. It has no access to the
  web, and says so where a prompt or a tool asks for it.

On the wire it behaves like Gemini 3: code comes whole, nothing is sent while it runs, then comes the result, then
each graph.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace

from chat.emulator import DEMO_MODEL, wire
from chat.emulator.attached_files import AttachedFile, attached_files
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.demo.answers import Plan
from chat.emulator.demo.plan import plan_answer
from chat.emulator.demo_image import draw_pattern
from chat.emulator.files import FileStore
from chat.emulator.generation_request import GenerationRequest
from chat.emulator.wire import Step
from chat.kernels.client import JupyterClient, Kernel
from chat.kernels.errors import KernelGone, KernelsUnavailable
from chat.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, ImageOutput
from chat.kernels.places import Place

logger = logging.getLogger(__name__)

KERNELS_LIMIT = 8
"""Programs that run at once; further answers wait."""
WRITING_PAUSE_S = 0.7
"""Pause before code and images at pace 1: Gemini sends them whole, after it has written them."""
OUTCOMES = {
    ExecutionStatus.OK: "OUTCOME_OK",
    ExecutionStatus.FAILED: "OUTCOME_FAILED",
    ExecutionStatus.TIMEOUT: "OUTCOME_DEADLINE_EXCEEDED",
    ExecutionStatus.DIED: "OUTCOME_FAILED",
}
CODE_IS_OFF = (
    "Code execution is off for this message, so here is the code instead of its result:\n\n"
    "```python\n{program}\n```\n\nTurn code execution on and ask again, and I will run it.\n"
)
IMAGE_INTRO = "I am not an AI and cannot paint, but here is a pattern made from your words:\n"
IMAGE_COMMENT = "The same words give the same pattern; change one and it changes.\n"


class DemoModel:
    """Answers generation requests."""

    def __init__(self, files: FileStore, place: Place, limit_s: float) -> None:
        """`files` resolves `fileData`; kernels run at `place`; `limit_s` is the time limit of one execution."""
        self._files = files
        self._place = place
        self._client = JupyterClient(place)
        self._limit_s = limit_s
        self._free_kernels = asyncio.Semaphore(KERNELS_LIMIT)

    async def prepare(self) -> None:
        """Start the service that runs the kernels, so that the first program does not wait for it."""
        try:
            await self._place.address()
        except KernelsUnavailable as error:
            logger.warning("The demo model cannot run code yet: %s", error)

    async def close(self) -> None:
        """Finish to end kernels, and close the connections."""
        await self._client.aclose()

    async def answer(self, request: GenerationRequest) -> AsyncGenerator[Step, None]:
        """Yield the chunks of the answer to a request."""
        # The answer names the model that wrote it, whichever one the request named.
        builder = ChunkBuilder(replace(request, model=DEMO_MODEL))
        if request.wants_images:
            for chunk in _image_answer(builder):
                yield chunk
            return
        files = attached_files(request, self._files)
        prompts, last_program = list(request.prompts()), _last_program(request)
        plan = await asyncio.to_thread(plan_answer, prompts, last_program, files, asks_web=request.has_web_tools)
        if isinstance(plan, str):
            for chunk in builder.text_chunks(plan):
                yield chunk
            yield builder.last_chunk()
            return
        if request.wants_thoughts:
            yield builder.chunk(wire.thought_part(plan.thought))
        if request.has_code_execution:
            for chunk in builder.text_chunks(plan.intro):
                yield chunk
            async for step in self._run(builder, plan, files):
                yield step
        else:
            for chunk in builder.text_chunks(CODE_IS_OFF.format(program=plan.programs[-1].rstrip())):
                yield chunk
        yield builder.last_chunk()

    async def _run(
        self, builder: ChunkBuilder, plan: Plan, files: Iterable[AttachedFile]
    ) -> AsyncGenerator[Step, None]:
        async with self._free_kernels, AsyncExitStack() as stack:
            kernel: Kernel | None = None
            for number, program in enumerate(plan.programs):
                code_id = builder.new_id()
                code = wire.code_part(program, code_id, builder.new_signature())
                # Gemini 3 sends an empty text part after the code, in the same chunk.
                yield builder.chunk(code, wire.text_part(""), after_s=WRITING_PAUSE_S)
                try:
                    if kernel is None:
                        kernel = await stack.enter_async_context(self._client.new_kernel())
                        for file in files:
                            await kernel.write_file(file.name, _in_one_piece(file.data))
                except (KernelsUnavailable, KernelGone, ValueError) as error:
                    for chunk in builder.text_chunks(f"I could not run this code: {error}\n"):
                        yield chunk
                    return
                execution = await kernel.execute(program, limit_s=self._limit_s)
                result = wire.result_part(OUTCOMES[execution.status], execution.text, code_id)
                yield builder.chunk(result, after_s=0.0)
                for output in execution.outputs:
                    if isinstance(output, ImageOutput):
                        yield builder.chunk(wire.image_part(output.data, output.mime_type))
                if number + 1 < len(plan.programs):
                    for chunk in builder.text_chunks(plan.repair_explanation.format(error=_error_line(execution))):
                        yield chunk
            for chunk in builder.text_chunks(_comment(plan.comment, execution)):
                yield chunk


async def _in_one_piece(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _image_answer(builder: ChunkBuilder) -> Iterator[Step]:
    yield from builder.text_chunks(IMAGE_INTRO)
    pattern = wire.image_part(draw_pattern(builder.request.prompt), signature=builder.new_signature())
    yield builder.chunk(pattern, after_s=WRITING_PAUSE_S)
    yield from builder.text_chunks(IMAGE_COMMENT)
    yield builder.last_chunk()


def _last_program(request: GenerationRequest) -> str:
    programs: Iterator[str] = (
        part["executableCode"].get("code", "")
        for content in reversed(request.contents)
        for part in reversed(content["parts"])
        if "executableCode" in part
    )
    return next(programs, "")


class _PrintedValues(dict[str, str]):
    """The values that a program printed as `name: value`. A missing value is shown as a dash."""

    def __missing__(self, name: str) -> str:
        return "–"


def _comment(template: str, execution: Execution) -> str:
    """Return the text after an execution: the printed values in words, or how the execution failed."""
    if execution.status is ExecutionStatus.TIMEOUT:
        return f"The code was still running after {execution.duration_s:.0f} seconds, so it was ended.\n"
    if execution.status is ExecutionStatus.DIED:
        return "The session ended under the code: it used too much memory or ended itself.\n"
    if execution.status is ExecutionStatus.FAILED:
        return f"The code failed: `{_error_line(execution)}`. The traceback above shows the line.\n"
    if not template:
        return _description(execution)
    lines = re.findall(r"^(\w[\w ]*): (.+)$", execution.text, re.MULTILINE)
    return template.format_map(_PrintedValues({name.replace(" ", "_"): value for name, value in lines})) + "\n"


def _description(execution: Execution) -> str:
    graphs = sum(isinstance(output, ImageOutput) for output in execution.outputs)
    lines = len(execution.text.splitlines())
    drew = f" and drew {graphs} graph{'s' if graphs > 1 else ''}" if graphs else ""
    printed = f"printed {lines} line{'s' if lines > 1 else ''}" if lines else "printed nothing"
    return f"Your code ran in **{execution.duration_s:.2f} s**, {printed}{drew}.\n"


def _error_line(execution: Execution) -> str:
    errors = [output for output in execution.outputs if isinstance(output, ErrorOutput)]
    return f"{errors[-1].name}: {errors[-1].value}" if errors else "no error"
