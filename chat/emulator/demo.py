"""The demo model: no AI, but its code really runs, in a fresh sandboxed session for each turn.

A prompt with a fenced python block runs that block; a prompt that `demo_prompts` knows runs the program written for
it; an attached CSV file is described and plotted; anything else gets an honest answer that lists what can be tried.
Asked for image output it draws a pattern.
On the wire it behaves like Gemini 3: code comes whole, nothing is sent while it runs, then the result, then each graph.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field

from chat.emulator import demo_prompts, painting, wire
from chat.emulator.attached import Attached, attached_files
from chat.emulator.call import Call
from chat.emulator.files import FileStore
from chat.emulator.voice import Voice
from chat.emulator.wire import Step
from chat.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, ImageOutput
from chat.kernels.pool import WarmPool
from chat.kernels.sandbox import SandboxUnavailable
from chat.kernels.session import Session, SessionClosed

DEMO_MODEL = "plotline-demo"
WRITING_S = 0.7
"""Pause before code at pace 1: the model writes it, and sends it whole."""
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
PAINTING_INTRO = "I am not an AI and cannot paint, but here is a pattern made from your words:\n"
PAINTING_COMMENT = "The same words give the same pattern; change one and it changes.\n"
NO_TABLE = "There is no CSV file in this conversation yet. Attach one and ask again; I'll describe it and plot it.\n"


@dataclass(slots=True)
class _Plan:
    """What one answer will run and say."""

    thought: str
    intro: str
    programs: list[str]
    between: str = ""
    """Said between the first and the second program."""
    comment: str = ""
    """A template over what was printed; when empty, the run itself is described."""
    files: Mapping[str, bytes] = field(default_factory=dict)


class Demo:
    """Answers calls of the demo model."""

    def __init__(self, files: FileStore, warm_kernels: int, limit_s: float) -> None:
        """`files` resolves `fileData`; so many sessions are kept ready; one execution may take `limit_s`."""
        self._files = files
        self._limit_s = limit_s
        self._warm_kernels = warm_kernels
        self._pool: WarmPool | None = None

    def warm_up(self) -> None:
        """Begin to start the sessions that are kept ready."""
        if self._warm_kernels:
            self._sessions().fill()

    async def close(self) -> None:
        """End all sessions."""
        if self._pool is not None:
            await self._pool.close()

    def kernels(self) -> tuple[int, int]:
        """How many live or are being started, and how many of them wait, ready."""
        return (0, 0) if self._pool is None else (self._pool.alive, self._pool.warm)

    def _sessions(self) -> WarmPool:
        # Made at first use: a pool belongs to the loop that runs then.
        if self._pool is None:
            self._pool = WarmPool(self._warm_kernels)
        return self._pool

    async def steps(self, call: Call) -> AsyncGenerator[Step, None]:
        """Answer one call."""
        voice = Voice(call)
        if call.image_output:
            for step in _painted(voice):
                yield step
            return
        plan = _plan(call, attached_files(call, self._files))
        if isinstance(plan, str):
            for chunk in voice.say(plan):
                yield chunk
            yield voice.end()
            return
        if call.include_thoughts:
            yield voice.chunk(wire.thought(plan.thought))
        if not call.code_execution:
            for chunk in voice.say(CODE_IS_OFF.format(program=plan.programs[-1].rstrip())):
                yield chunk
            yield voice.end()
            return
        for chunk in voice.say(plan.intro):
            yield chunk
        async for step in self._run(voice, plan):
            yield step
        yield voice.end()

    async def _run(self, voice: Voice, plan: _Plan) -> AsyncGenerator[Step, None]:
        session: Session | None = None
        try:
            for number, program in enumerate(plan.programs):
                call_id = voice.call_id()
                # The empty text behind the code is Gemini 3's habit.
                code = wire.code(program, call_id, voice.signature())
                yield voice.chunk(code, wire.text(""), after_s=WRITING_S)
                if session is None:
                    session = await self._sessions().acquire(plan.files)
                execution = await session.execute(program, limit_s=self._limit_s)
                yield voice.chunk(wire.result(OUTCOMES[execution.status], execution.text, call_id), after_s=0.0)
                for output in execution.outputs:
                    if isinstance(output, ImageOutput):
                        yield voice.chunk(wire.image(output.data, output.mime_type))
                if number + 1 < len(plan.programs):
                    for chunk in voice.say(plan.between.format(error=_error_line(execution))):
                        yield chunk
            for chunk in voice.say(_comment(plan.comment, execution)):
                yield chunk
        except (SandboxUnavailable, SessionClosed) as fault:
            for chunk in voice.say(f"I could not run this code: {fault}\n"):
                yield chunk
        finally:
            if session is not None:
                await session.close()


def _painted(voice: Voice) -> Iterator[Step]:
    """Words, a picture, and words; image models sign both."""
    yield from voice.say(PAINTING_INTRO)
    picture = wire.image(painting.pattern(voice.call.prompt))
    yield voice.chunk({**picture, "thoughtSignature": voice.signature()}, after_s=WRITING_S)
    yield from voice.say(PAINTING_COMMENT)
    yield voice.end()


def _plan(call: Call, files: list[Attached]) -> _Plan | str:
    """What to run for a call, or what to say when there is nothing to run."""
    prompt = _effective_prompt(call)
    plan = _plan_of_own_code(prompt) or _plan_of_last_code(call, prompt) or _plan_of_known_prompt(prompt, files)
    if isinstance(plan, _Plan):
        plan.files = {file.name: file.data for file in files}
    return plan


def _plan_of_own_code(prompt: str) -> _Plan | None:
    own = re.search(r"```(?:python|py|python3)[ \t]*\r?\n(.*?)(?:```|\Z)", prompt, re.DOTALL | re.IGNORECASE)
    if own is None:
        return None
    thought = "**Running the code**\n\nThe message holds Python of its own; I will run it as it is.\n\n\n"
    return _Plan(thought, "I'll run your code.\n\n", [own[1]])


def _plan_of_last_code(call: Call, prompt: str) -> _Plan | None:
    program = _last_program(call)
    if not program or not re.search(r"\b(again|once more|noch ?mal)\b|再来", prompt, re.IGNORECASE):
        return None
    thought = "**Running it again**\n\nThe last code of this conversation is wanted once more.\n\n\n"
    return _Plan(thought, "Once more, in a fresh session.\n\n", [program])


def _plan_of_known_prompt(prompt: str, files: list[Attached]) -> _Plan | str:
    table = next((file for file in reversed(files) if file.is_table), None)
    has_new_table = table is not None and table.is_new
    found = demo_prompts.find_for_table(prompt) if has_new_table else demo_prompts.find(prompt)
    if found is None:
        return demo_prompts.greeting(prompt)
    entry, words, values = found
    if entry.needs_table and table is None:
        return NO_TABLE
    if entry.needs_table and table is not None:
        values = {"path": table.name}
    programs = [_filled_in(entry.program, values)]
    if entry.repair is not None:
        programs.append(entry.repair.program)
    between = entry.repair.explanation if entry.repair else ""
    return _Plan(words.thought, words.intro, programs, between, words.comment)


def _effective_prompt(call: Call) -> str:
    """The last prompt; where it only says to continue, the one before it."""
    for prompt in call.prompts():
        if not re.match(r"\W*(please\s+)?(continue|go on|carry on|weiter|继续)", prompt, re.IGNORECASE):
            return prompt
    return ""


def _last_program(call: Call) -> str:
    programs: Iterator[str] = (
        part["executableCode"].get("code", "")
        for content in reversed(call.contents)
        for part in reversed(content["parts"])
        if "executableCode" in part
    )
    return next(programs, "")


def _filled_in(program: str, values: Mapping[str, str]) -> str:
    lines = program.splitlines(keepends=True)
    for name, value in values.items():
        line = f"{name} = {value if value.isdecimal() else repr(value.strip())}\n"
        lines = [line if old.startswith(f"{name} = ") else old for old in lines]
    return "".join(lines)


class _Findings(dict[str, str]):
    """What a program printed as `name: value`; a name that it did not print is shown as a dash."""

    def __missing__(self, name: str) -> str:
        return "–"


def _comment(template: str, execution: Execution) -> str:
    """What is said of a run: its findings in words, or how it failed."""
    if execution.status is ExecutionStatus.TIMEOUT:
        return f"The code was still running after {execution.duration_s:.0f} seconds, so it was ended.\n"
    if execution.status is ExecutionStatus.DIED:
        return "The session ended under the code: it used too much memory or ended itself.\n"
    if execution.status is ExecutionStatus.FAILED:
        return f"The code failed: `{_error_line(execution)}`. The traceback above shows the line.\n"
    if not template:
        return _described(execution)
    lines = re.findall(r"^(\w[\w ]*): (.+)$", execution.text, re.MULTILINE)
    return template.format_map(_Findings({name.replace(" ", "_"): value for name, value in lines})) + "\n"


def _described(execution: Execution) -> str:
    graphs = sum(isinstance(output, ImageOutput) for output in execution.outputs)
    lines = len(execution.text.splitlines())
    drew = f" and drew {graphs} graph{'s' if graphs > 1 else ''}" if graphs else ""
    printed = f"printed {lines} line{'s' if lines > 1 else ''}" if lines else "printed nothing"
    return f"Your code ran in **{execution.duration_s:.2f} s**, {printed}{drew}.\n"


def _error_line(execution: Execution) -> str:
    errors = [output for output in execution.outputs if isinstance(output, ErrorOutput)]
    return f"{errors[-1].name}: {errors[-1].value}" if errors else "no error"
