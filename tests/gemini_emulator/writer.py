"""Writes the steps of scenarios in Gemini's protocol."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from chat.emulator import wire
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.generation_request import NOTE, GenerationRequest
from chat.emulator.wire import WireObject
from tests.gemini_emulator.own_scenarios import GEMINI_2_5, OWN_SCENARIOS, AnyStep
from tests.gemini_emulator.sources import SOURCES
from tests.gemini_emulator.steps import Fault, RawBytes
from tests.scenarios import SCENARIOS, find
from tests.scenarios.asked import Asked, steps_of
from tests.scenarios.counts import TokenCounts
from tests.scenarios.steps import Calls, Code, End, HalfEvent, HttpError, Image, Step, Text, Thought
from tests.scenarios.texts import PLAIN

PREFIX = "scenario-"
EXECUTION_S = 1.2
"""Pause between code and result at pace 1."""
OWN = {**OWN_SCENARIOS, **SOURCES}
NAMES = (*SCENARIOS, *OWN)


class Gemini25ChunkBuilder(ChunkBuilder):
    """Builds chunks as Gemini 2.5 sends them: without ids and signatures, with an index and all counts in each."""

    def new_id(self) -> str:
        """Return an empty text: code parts have no id."""
        return ""

    def new_signature(self) -> str:
        """Return an empty text: parts have no signature."""
        return ""

    def is_bare_result(self, parts: list[WireObject]) -> bool:
        """Return False: chunks with a result have the index and all counts."""
        return False

    def usage(self, *, is_last: bool) -> WireObject:
        """Return all token counts."""
        return super().usage(is_last=True)


class CountingChunkBuilder(ChunkBuilder):
    """Builds chunks of a common scenario, with the token counts that all stand-ins report."""

    def __init__(self, request: GenerationRequest, asked: Asked) -> None:
        """`asked`: the same request in the form that scenarios get."""
        super().__init__(request)
        self.counts = TokenCounts.of_request(asked)

    def usage(self, *, is_last: bool) -> WireObject:
        """Return the counts so far. Only the last chunk counts the tokens of tool use."""
        counts = self.counts
        given = {
            **self.prompt_usage(),
            "candidatesTokenCount": counts.output,
            "thoughtsTokenCount": counts.thoughts,
            "toolUsePromptTokenCount": counts.tools if is_last else 0,
            "totalTokenCount": counts.total - (0 if is_last else counts.tools),
        }
        return {name: count for name, count in given.items() if count}

    def prompt_usage(self) -> WireObject:
        """Return the counts of the prompt. The API leaves out those that are zero."""
        counts = self.counts
        cached = {"cachedContentTokenCount": counts.cached} if counts.cached else {}
        return {"promptTokenCount": counts.prompt, "totalTokenCount": counts.prompt, **cached}


def scenario_steps(request: GenerationRequest, repetition: int) -> Iterator[wire.Step]:
    """Yield the steps of the scenario that the request's model selects, or an error 404 if there is none."""
    name = request.model.removeprefix(PREFIX)
    if own := find(OWN, name):
        builder = (Gemini25ChunkBuilder if name in GEMINI_2_5 else ChunkBuilder)(request)
        yield from _written(builder, own[0](builder, _asked(request, own[1], repetition)))
    elif shared := find(SCENARIOS, name):
        asked = _asked(request, shared[1], repetition)
        counting = CountingChunkBuilder(request, asked)
        yield from _written(counting, _counted(counting.counts, steps_of(shared[0], asked)))
    else:
        yield Fault(HttpError(404, "NOT_FOUND", f"models/{request.model} is not a scenario of this emulator."))


def is_scenario(name: str) -> bool:
    """Return whether there is a scenario of this name."""
    return bool(find(OWN, name) or find(SCENARIOS, name))


def _counted(counts: TokenCounts, steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        counts.add(step)
        yield step


def _written(builder: ChunkBuilder, steps: Iterable[AnyStep]) -> Iterator[wire.Step]:
    for step in steps:
        match step:
            case wire.Step():
                yield step
            case Text(text, finish, whole=True):
                yield builder.chunk(wire.text_part(text), finish=finish)
            case Text(text, finish):
                yield from builder.text_chunks(text, finish=finish)
            case Thought(text, after_s):
                yield builder.chunk(wire.thought_part(text), after_s=after_s)
            case Code():
                yield from _code(builder, step)
            case Calls():
                yield from _calls(builder, step)
            case Image(chart):
                yield builder.chunk(wire.image_part(chart.data, signature=builder.new_signature()), after_s=1.5)
            case End(finish):
                yield builder.last_chunk(finish)
            case HalfEvent():
                event = wire.sse_event(builder.chunk(wire.text_part(PLAIN)).response)
                yield RawBytes(event[: len(event) // 2])
            case _:
                yield Fault(step)


def _code(builder: ChunkBuilder, code: Code) -> Iterator[wire.Step]:
    """Yield code, its result, and each image in a chunk of its own."""
    code_id, signature = builder.new_id(), builder.new_signature()
    # Gemini 3 sends an empty text part after the code, in the same chunk.
    behind = [wire.text_part("")] if signature else []
    yield builder.chunk(wire.code_part(code.source, code_id, signature), *behind)
    yield builder.chunk(wire.result_part(code.outcome, code.output, code_id), after_s=EXECUTION_S)
    for chart in code.images:
        yield builder.chunk(wire.image_part(chart.data, f"image/{chart.image_format.lower()}"))


def _calls(builder: ChunkBuilder, calls: Calls) -> Iterator[wire.Step]:
    """Yield parallel calls. As in Gemini 3, each has an id and only the first has a signature."""
    for index, (name, arguments) in enumerate(calls.calls):
        part: WireObject = {"functionCall": {"name": name, "args": arguments, "id": builder.new_id()}}
        yield builder.chunk(part if index else {**part, "thoughtSignature": builder.new_signature()})
    if calls.thought:
        yield builder.chunk(wire.thought_part(calls.thought))
    yield builder.chunk(wire.text_part(""), finish="STOP")


def _asked(request: GenerationRequest, amount: int, repetition: int) -> Asked:
    tools = request.body.get("tools") or []
    questions = [
        part["text"] for content in request.contents for part in content["parts"] if _is_question(content, part)
    ]
    calls, rounds = _calls_in_turn(request)
    return Asked(
        question=questions[-1] if questions else "",
        functions=[one["name"] for tool in tools for one in tool.get("functionDeclarations") or []],
        results=[
            (str(one.get("name")), json.dumps(one.get("response"), ensure_ascii=False))
            for one in _responses_in(request.contents[-1])
        ],
        calls=calls,
        rounds=rounds,
        runs_code=request.has_code_execution,
        amount=amount,
        repetition=repetition,
    )


def _responses_in(content: WireObject) -> list[WireObject]:
    return [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]


def _is_question(content: WireObject, part: WireObject) -> bool:
    text = part.get("text") or ""
    return content.get("role", "user") == "user" and bool(text) and not text.startswith(NOTE)


def _calls_in_turn(request: GenerationRequest) -> tuple[int, int]:
    """Return how many calls the model has made since the question, and how often the client has sent results.

    The results of an interrupted answer are in the same content as the next question.
    """
    calls = rounds = 0
    for content in reversed(request.contents):
        if content.get("role") == "model":
            calls += sum("functionCall" in part for part in content["parts"])
        elif not _responses_in(content) or any(_is_question(content, part) for part in content["parts"]):
            break
        else:
            rounds += 1
    return calls, rounds
