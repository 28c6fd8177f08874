"""The demo model: it is no AI, but its code really runs, in a fresh sandboxed kernel for each turn.

- A prompt with a fenced Python block: the model runs that block.
- A prompt that it understands completely (`demo`): the model runs a program written for it, and comments its output.
- A question about date or time: the model answers from Plotline's note, which is in the same request.
- A request for images: the model draws a pattern.
- Any other prompt: the model says what it is, what it did not understand, and lists examples. It has no access to the
  web, and says so where a prompt or a tool asks for it.

If the request offers Plotline's Python session instead of code execution, the model calls its function. If it offers
both, programs that read a file which the request does not hold run in the session.

On the wire it behaves like Gemini 3: code comes whole, nothing is sent while it runs, then comes the result, then each
graph.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from textwrap import indent

from chat.emulator import wire
from chat.emulator.attached_files import AttachedFile, attached_files
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.code_runs import CodeRun
from chat.emulator.demo.language import LENGTH_LIMIT, TEXTS, Plan, read_prompt, sentence
from chat.emulator.demo.plan import OWN_CODE, answer_clock, plan_answer, without_continuations
from chat.emulator.demo_image import draw_pattern
from chat.emulator.files import FileStore
from chat.emulator.generation_request import GenerationRequest
from chat.emulator.table_descriptions import table_descriptions
from chat.emulator.wire import Step, WireObject
from chat.python.kernels.client import JupyterClient
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.kernel_client import KernelClient
from chat.python.kernels.outputs import FileOutput, ImageOutput
from chat.python.kernels.places import Place
from chat.python.sessions.outcomes import OUTCOMES
from chat.python.tool_set.declarations import RUN_PYTHON
from chat.vocabulary.demo_model import DEMO_MODEL

logger = logging.getLogger(__name__)

KERNELS_LIMIT = 8
"""Maximum number of programs at the same time. Further answers wait."""
WRITING_PAUSE_S = 0.7
"""Pause before code and images at pace 1: Gemini sends them whole, after it has written them."""
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
        """Wait until the kernels have ended, and close the connections."""
        await self._client.aclose()

    async def answer(self, request: GenerationRequest) -> AsyncGenerator[Step, None]:
        """Yield the chunks of the answer to a request."""
        # The answer names the model that wrote it, whichever one the request named.
        builder = ChunkBuilder(replace(request, model=DEMO_MODEL))
        if request.wants_images:
            for chunk in _image_answer(builder):
                yield chunk
            return
        files, described = attached_files(request, self._files), table_descriptions(request)
        prompts, programs = without_continuations(list(request.prompts())), _programs(request)
        responses = request.function_responses(RUN_PYTHON)
        plan: Plan | str = answer_clock(request.prompt, request.date) or await asyncio.to_thread(
            plan_answer, prompts, programs, files, described, asks_web=request.has_web_tools
        )
        # The table may be a file that only the session has.
        is_absent = not isinstance(plan, str) and plan.file not in ("", *(file.name for file in files))
        in_session = RUN_PYTHON in request.functions and (is_absent or not request.has_code_execution)
        if not isinstance(plan, str) and is_absent and request.has_code_execution and not in_session:
            plan = _answer_absent_file(request.prompt, plan.file)
        if isinstance(plan, str):
            for chunk in builder.text_chunks(plan):
                yield chunk
            yield builder.last_chunk()
            return
        if request.wants_thoughts and not responses:
            yield builder.chunk(wire.thought_part(plan.thought))
        if in_session:
            for chunk in _session_answer(builder, plan, responses):
                yield chunk
        elif request.has_code_execution:
            for chunk in builder.text_chunks(plan.intro):
                yield chunk
            earlier = [] if plan.comment else [code for one in prompts[:0:-1] for code in OWN_CODE.findall(one)]
            async for step in self._run(builder, plan, files, earlier):
                yield step
        else:
            for chunk in builder.text_chunks(_run_text("off", plan, program=plan.program.rstrip())):
                yield chunk
        yield builder.last_chunk()

    async def _run(
        self, builder: ChunkBuilder, plan: Plan, files: Sequence[AttachedFile], earlier: Sequence[str]
    ) -> AsyncGenerator[Step, None]:
        """Run the program, after the person's own code of earlier prompts, and yield the rest of the answer."""
        code_id = builder.new_id()
        code = wire.code_part(plan.program, code_id, builder.new_signature())
        async with self._free_kernels, AsyncExitStack() as stack:
            # Gemini 3 sends an empty text part after the code, in the same chunk.
            yield builder.chunk(code, wire.text_part(""), after_s=WRITING_PAUSE_S)
            try:
                kernel = await self._kernel_after(stack, files, earlier)
            except (KernelsUnavailable, KernelGone, ValueError) as error:
                for chunk in builder.text_chunks(_run_text("not_run", plan, reason=error)):
                    yield chunk
                return
            execution = await kernel.execute(plan.program, limit_s=self._limit_s)
        yield builder.chunk(wire.result_part(OUTCOMES[execution.status], execution.text, code_id), after_s=0.0)
        for output in execution.outputs:
            if isinstance(output, ImageOutput | FileOutput):
                yield builder.chunk(wire.image_part(output.data, output.mime_type))
        for chunk in builder.text_chunks(CodeRun.of_execution(execution).comment(plan)):
            yield chunk

    async def _kernel_after(
        self, stack: AsyncExitStack, files: Sequence[AttachedFile], earlier: Sequence[str]
    ) -> KernelClient:
        """Return a kernel that has these files and has run earlier code, as in a session.

        A kernel that ended is replaced.
        """
        kernel, left_s = None, self._limit_s
        for code in [*earlier, ""]:
            if kernel is None or not kernel.is_alive:
                kernel = await stack.enter_async_context(self._client.new_kernel())
                for file in files:
                    await kernel.write_file(file.name, _in_one_piece(file.data))
            if code and left_s > 0:
                left_s -= (await kernel.execute(code, limit_s=left_s)).duration_s
        assert kernel is not None
        return kernel


def _run_text(name: str, plan: Plan, **facts: object) -> str:
    """Return a sentence about the code of a plan, in the language of the plan."""
    return str(TEXTS["runs"][plan.language][name]).format(**facts) + "\n"


def _in_function(program: str) -> str:
    """Return a program wrapped in a function, so that its names do not overwrite the person's variables."""
    if '"""' in program or "'''" in program:
        return program
    body = indent(program.strip("\n"), "    ")
    return f"def _answer():\n{body}\n\n\n_answer()\n"


def _answer_absent_file(text: str, file: str) -> str:
    """Return the answer to a question about a file that the code of the answer cannot open."""
    return sentence("absent", read_prompt(text[:LENGTH_LIMIT]).language, file=[file]) + "\n"


async def _in_one_piece(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _image_answer(builder: ChunkBuilder) -> Iterator[Step]:
    yield from builder.text_chunks(IMAGE_INTRO)
    pattern = wire.image_part(draw_pattern(builder.request.prompt), signature=builder.new_signature())
    yield builder.chunk(pattern, after_s=WRITING_PAUSE_S)
    yield from builder.text_chunks(IMAGE_COMMENT)
    yield builder.last_chunk()


def _session_answer(builder: ChunkBuilder, plan: Plan, responses: Sequence[WireObject]) -> Iterator[Step]:
    """Yield a round of an answer whose program runs in Plotline's Python session: the call, or the comment."""
    if responses and "error" in responses[-1]:
        yield from builder.text_chunks(_run_text("not_run", plan, reason=responses[-1]["error"]))
    elif responses:
        yield from builder.text_chunks(CodeRun.of_response(responses[-1]).comment(plan))
    else:
        yield from builder.text_chunks(plan.intro)
        # Code of the person and code that runs again (plans without a comment) set variables: do not wrap them.
        call = {"code": _in_function(plan.program) if plan.comment else plan.program}
        part = wire.call_part(RUN_PYTHON, call, builder.new_id(), builder.new_signature())
        yield builder.chunk(part, after_s=WRITING_PAUSE_S)


def _programs(request: GenerationRequest) -> list[str]:
    """Return the programs of the earlier answers, the newest first."""
    return [*filter(None, map(_program_of, request.earlier_parts()))]


def _program_of(part: WireObject) -> str:
    code, call = part.get("executableCode"), part.get("functionCall")
    if call and call.get("name") == RUN_PYTHON:
        code = call.get("args")
    return str((code or {}).get("code") or "")
