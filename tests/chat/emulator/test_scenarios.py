"""All scenarios, as steps and through the real SDK."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import islice

import aiohttp
import pytest
from google import genai
from google.genai import errors, types

from chat.emulator import wire
from chat.emulator.wire import Chunk, Step
from tests.chat.emulator.request_factory import CODE_EXECUTION, make_request
from tests.chat.emulator.sdk import answer, finishes_of, parts_of, text_of
from tests.gemini_emulator import scenarios

FAULTS = {
    "rate-limited": 429,
    "internal-error": 500,
    "unavailable": 503,
    "unavailable-once": 503,
    "unavailable-times": 503,
    "bad-request": 400,
    "bad-key": 400,
    "forbidden": 403,
    "not-found": 404,
    "error-in-stream": 503,
    "error-in-stream-bare": 499,
}
BROKEN = {"cut", "stall", "stall-at-start", "endless", "malformed-json", "rate-limited-once"}
WITHOUT_CANDIDATES = {"prompt-blocked", "model-armor", "empty-response", "empty-response-once"}


def _first_steps(name: str, repetition: int = 0) -> list[Step]:
    request = make_request(model=scenarios.PREFIX + name, fields=CODE_EXECUTION)
    return list(islice(scenarios.scenario_steps(request, repetition), 50))


@pytest.mark.parametrize("name", scenarios.SCENARIOS)
@pytest.mark.parametrize("repetition", [0, 1])
def test_scenario_yields_valid_json_with_the_envelope(name: str, repetition: int) -> None:
    for step in _first_steps(name, repetition):
        if isinstance(step, Chunk):
            body = json.loads(wire.sse_event(step.response).removeprefix(b"data: "))
            other = "models/scenario-text-001" if name == "other-model" else ""
            assert body["modelVersion"] == (other or f"scenario-{name}")
            assert body["responseId"] == "response-id"
            assert "usageMetadata" in body


@pytest.mark.parametrize("name", scenarios.SCENARIOS)
def test_scenario_is_described_and_reproducible(name: str) -> None:
    assert scenarios.SCENARIOS[name].description.endswith(".")
    assert _first_steps(name) == _first_steps(name)


@pytest.mark.filterwarnings("ignore:.* is not a valid:UserWarning")
@pytest.mark.parametrize("name", sorted(scenarios.SCENARIOS.keys() - FAULTS.keys() - BROKEN))
async def test_scenario_is_read_by_the_sdk(client: genai.Client, name: str) -> None:
    chunks = await answer(client, scenarios.PREFIX + name)
    has_candidates = any(chunk.candidates for chunk in chunks)
    assert has_candidates is (name not in WITHOUT_CANDIDATES)
    finishes = finishes_of(chunks)
    assert bool(finishes) is (name not in WITHOUT_CANDIDATES | {"without-finish"})


@pytest.mark.parametrize(("name", "code"), FAULTS.items())
async def test_sdk_raises_an_error_with_the_status_of_the_fault(client: genai.Client, name: str, code: int) -> None:
    with pytest.raises(errors.APIError) as caught:
        await answer(client, scenarios.PREFIX + name)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("name", "finish", "has_text"),
    [
        ("continuation", "CONTINUATION", True),
        ("empty-answer-once", "STOP", False),
        ("empty-answer-thoughts-once", "STOP", False),
        ("escalation", "ESCALATION", True),
        ("image-safety", "IMAGE_SAFETY", False),
        ("malformed-function-call-once", "MALFORMED_FUNCTION_CALL", False),
        ("malformed-response-once", "MALFORMED_RESPONSE", False),
        ("missing-signature", "MISSING_THOUGHT_SIGNATURE", False),
        ("spii", "SPII", True),
        ("unexpected-tool-call", "UNEXPECTED_TOOL_CALL", False),
    ],
)
async def test_answer_has_the_finish_reason_and_temporary_faults_end(
    client: genai.Client, name: str, finish: str, has_text: bool
) -> None:
    prompt = f"Ending of {name}"
    chunks = await answer(client, f"scenario-{name}", prompt)
    assert finishes_of(chunks) == [finish]
    assert bool(text_of(chunks)) is has_text
    again = await answer(client, f"scenario-{name}", prompt)
    if name.endswith("-once") or name == "missing-signature":
        assert finishes_of(again) == ["STOP"]
        assert text_of(again)
    else:
        assert finishes_of(again) == [finish]


async def test_empty_answer_can_have_thoughts(client: genai.Client) -> None:
    [thought] = parts_of(await answer(client, "scenario-empty-answer-thoughts-once", "Only thoughts"))
    assert thought.thought
    assert thought.text


async def test_cut_connection_breaks_after_the_text(client: genai.Client) -> None:
    received: list[types.GenerateContentResponse] = []

    async def read() -> None:
        stream = await client.aio.models.generate_content_stream(model="scenario-cut", contents="Hello")
        async for chunk in stream:
            received.append(chunk)  # noqa: PERF401 - a comprehension would lose the chunks before the error

    with pytest.raises(aiohttp.ClientError):
        await read()
    assert text_of(received)


async def test_stall_is_silent_for_the_seconds_in_its_name_at_any_pace(client: genai.Client) -> None:
    started = time.monotonic()
    chunks = await answer(client, "scenario-stall-1")
    assert time.monotonic() - started >= 1.0
    assert finishes_of(chunks) == ["STOP"]


async def test_stall_without_a_number_does_not_end_soon(client: genai.Client) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await answer(client, "scenario-stall-at-start")
