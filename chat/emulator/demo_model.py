"""The demo model: it is no AI, but its code really runs, in a fresh sandboxed kernel for each turn.

- A prompt with a fenced Python block: the model runs that block.
- A prompt that selects an entry of the repertoire: the model runs the entry's program and comments its output.
- An attached CSV file: the model describes and plots it.
- A request for images: the model draws a pattern.
- Any other prompt: the model says what it is and lists examples.

On the wire it behaves like Gemini 3: code comes whole, nothing is sent while it runs, then comes the result, then
each graph.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, replace

from chat.emulator import demo_prompts, wire
from chat.emulator.attached_files import AttachedFile, attached_files
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.demo_image import draw_pattern
from chat.emulator.files import FileStore
from chat.emulator.generation_request import GenerationRequest
from chat.emulator.kernel_counts import KernelCount
from chat.emulator.wire import Step
from chat.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, ImageOutput
from chat.kernels.pool import WarmPool
from chat.kernels.sandbox import SandboxUnavailable
from chat.kernels.session import Session, SessionClosed

DEMO_MODEL = "plotline-demo"
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
NO_TABLE = "There is no CSV file in this conversation yet. Attach one and ask again; I'll describe it and plot it.\n"


@dataclass(frozen=True, slots=True)
class _Plan:
    """The programs that one answer runs, and the texts around them."""

    thought: str
    intro: str
    programs: tuple[str, ...]
    repair_explanation: str = ""
    """The text between the first and the second program."""
    comment: str = ""
    """A template that quotes the printed values. If it is empty, the answer describes the execution instead."""


class DemoModel:
    """Answers generation requests."""

    def __init__(self, files: FileStore, warm_kernels: int, limit_s: float) -> None:
        """`files` resolves `fileData`; `warm_kernels` is the number of kernels to start in advance.

        `limit_s` is the time limit of one execution.
        """
        self._files = files
        self._limit_s = limit_s
        self._warm_kernels = warm_kernels
        self._pool: WarmPool | None = None

    def start_warm_kernels(self) -> None:
        """Begin to start the kernels that wait for programs."""
        if self._warm_kernels:
            self._kernel_pool().fill()

    async def close(self) -> None:
        """End all kernels."""
        if self._pool is not None:
            await self._pool.close()

    def kernel_count(self) -> KernelCount:
        """Return how many kernels are alive."""
        return KernelCount(0, 0) if self._pool is None else KernelCount(self._pool.alive, self._pool.warm)

    def _kernel_pool(self) -> WarmPool:
        # A pool belongs to the event loop that runs when it is made, so the first use makes it.
        if self._pool is None:
            self._pool = WarmPool(self._warm_kernels)
        return self._pool

    async def answer(self, request: GenerationRequest) -> AsyncGenerator[Step, None]:
        """Yield the chunks of the answer to a request."""
        builder = ChunkBuilder(request)
        if request.wants_images:
            for chunk in _image_answer(builder):
                yield chunk
            return
        files = attached_files(request, self._files)
        plan = _plan_of(request, files)
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
            async for step in self._run(builder, plan, {file.name: file.data for file in files}):
                yield step
        else:
            for chunk in builder.text_chunks(CODE_IS_OFF.format(program=plan.programs[-1].rstrip())):
                yield chunk
        yield builder.last_chunk()

    async def _run(self, builder: ChunkBuilder, plan: _Plan, files: Mapping[str, bytes]) -> AsyncGenerator[Step, None]:
        session: Session | None = None
        try:
            for number, program in enumerate(plan.programs):
                code_id = builder.new_id()
                code = wire.code_part(program, code_id, builder.new_signature())
                # Gemini 3 sends an empty text part after the code, in the same chunk.
                yield builder.chunk(code, wire.text_part(""), after_s=WRITING_PAUSE_S)
                if session is None:
                    session = await self._kernel_pool().acquire(files)
                execution = await session.execute(program, limit_s=self._limit_s)
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
        except (SandboxUnavailable, SessionClosed) as error:
            for chunk in builder.text_chunks(f"I could not run this code: {error}\n"):
                yield chunk
        finally:
            if session is not None:
                await session.close()


def _image_answer(builder: ChunkBuilder) -> Iterator[Step]:
    yield from builder.text_chunks(IMAGE_INTRO)
    pattern = wire.image_part(draw_pattern(builder.request.prompt), signature=builder.new_signature())
    yield builder.chunk(pattern, after_s=WRITING_PAUSE_S)
    yield from builder.text_chunks(IMAGE_COMMENT)
    yield builder.last_chunk()


def _plan_of(request: GenerationRequest, files: list[AttachedFile]) -> _Plan | str:
    """Return what to run for a request, or the text of the answer if there is nothing to run."""
    prompt = _effective_prompt(request)
    return _plan_for_own_code(prompt) or _plan_for_last_code(request, prompt) or _plan_for_known_prompt(prompt, files)


def _plan_for_own_code(prompt: str) -> _Plan | None:
    block = re.search(r"```(?:python|py|python3)[ \t]*\r?\n(.*?)(?:```|\Z)", prompt, re.DOTALL | re.IGNORECASE)
    if block is None:
        return None
    thought = "**Running the code**\n\nThe message holds Python of its own; I will run it as it is.\n\n\n"
    return _Plan(thought, "I'll run your code.\n\n", (block[1],))


def _plan_for_last_code(request: GenerationRequest, prompt: str) -> _Plan | None:
    program = _last_program(request)
    if not program or not re.search(r"\b(again|once more|noch ?mal)\b|再来", prompt, re.IGNORECASE):
        return None
    thought = "**Running it again**\n\nThe last code of this conversation is wanted once more.\n\n\n"
    return _Plan(thought, "Once more, in a fresh session.\n\n", (program,))


def _plan_for_known_prompt(prompt: str, files: list[AttachedFile]) -> _Plan | str:
    table = next((file for file in reversed(files) if file.is_table), None)
    has_new_table = table is not None and table.is_new
    match = demo_prompts.find_table_prompt(prompt) if has_new_table else demo_prompts.find_prompt(prompt)
    if match is None:
        return demo_prompts.greeting(prompt)
    entry, texts, values = match.entry, match.texts, match.values
    if entry.needs_table:
        if table is None:
            return NO_TABLE
        values = {"path": table.name}
    plan = _Plan(texts.thought, texts.intro, (_with_values(entry.program, values),), comment=texts.comment)
    if entry.repair is None:
        return plan
    programs = (*plan.programs, entry.repair.program)
    return replace(plan, programs=programs, repair_explanation=entry.repair.explanation)


def _effective_prompt(request: GenerationRequest) -> str:
    """Return the last prompt, or the one before it if the last one only asks to continue."""
    for prompt in request.prompts():
        if not re.match(r"\W*(please\s+)?(continue|go on|carry on|weiter|继续)", prompt, re.IGNORECASE):
            return prompt
    return ""


def _last_program(request: GenerationRequest) -> str:
    programs: Iterator[str] = (
        part["executableCode"].get("code", "")
        for content in reversed(request.contents)
        for part in reversed(content["parts"])
        if "executableCode" in part
    )
    return next(programs, "")


def _with_values(program: str, values: Mapping[str, str]) -> str:
    """Return the program with each line `name = ...` replaced for which there is a value."""
    lines = program.splitlines(keepends=True)
    for name, value in values.items():
        assignment = f"{name} = {value if value.isdecimal() else repr(value.strip())}\n"
        lines = [assignment if line.startswith(f"{name} = ") else line for line in lines]
    return "".join(lines)


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
