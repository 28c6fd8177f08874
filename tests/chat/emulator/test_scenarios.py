"""Every scenario, as steps and through the real SDK."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import time
from itertools import islice

import aiohttp
import pytest
from google import genai
from google.genai import errors, types
from PIL import Image

from chat.emulator import scenarios, wire
from chat.emulator.call import Call
from chat.emulator.wire import Chunk
from tests.chat.emulator.sdk import answer, finishes_of, parts_of, text_of

CONTENTS = [{"role": "user", "parts": [{"text": "Hello"}]}]
FAULTS = {
    "rate-limited": 429,
    "internal-error": 500,
    "unavailable": 503,
    "bad-request": 400,
    "bad-key": 400,
    "forbidden": 403,
    "not-found": 404,
    "error-in-stream": 503,
    "error-in-stream-bare": 499,
}
BROKEN = {"cut", "stall", "stall-at-start", "endless", "malformed-json", "rate-limited-once"}
WITHOUT_CANDIDATES = {"prompt-blocked"}


def _call(name: str, number: int = 0) -> Call:
    return Call(scenarios.PREFIX + name, CONTENTS, True, True, number, "response-id")


@pytest.mark.parametrize("name", scenarios.SCENARIOS)
@pytest.mark.parametrize("number", [0, 1])
def test_scenario_yields_well_formed_json_with_its_envelope(name: str, number: int) -> None:
    for step in islice(scenarios.steps(_call(name, number)), 50):
        if isinstance(step, Chunk):
            body = json.loads(wire.event(step.response).removeprefix(b"data: "))
            assert body["modelVersion"] == f"scenario-{name}"
            assert body["responseId"] == "response-id"
            assert "usageMetadata" in body


@pytest.mark.parametrize("name", scenarios.SCENARIOS)
def test_scenario_is_described_and_repeats_itself(name: str) -> None:
    assert scenarios.SCENARIOS[name].description.endswith(".")
    assert list(islice(scenarios.steps(_call(name)), 50)) == list(islice(scenarios.steps(_call(name)), 50))


@pytest.mark.filterwarnings("ignore:.* is not a valid:UserWarning")
@pytest.mark.parametrize("name", sorted(scenarios.SCENARIOS.keys() - FAULTS.keys() - BROKEN))
async def test_scenario_is_read_by_the_sdk(client: genai.Client, name: str) -> None:
    chunks = await answer(client, scenarios.PREFIX + name)
    has_candidates = any(chunk.candidates for chunk in chunks)
    assert has_candidates is (name not in WITHOUT_CANDIDATES)
    finishes = finishes_of(chunks)
    assert bool(finishes) is (name not in WITHOUT_CANDIDATES | {"without-finish"})


@pytest.mark.parametrize(("name", "code"), FAULTS.items())
async def test_fault_is_raised_by_the_sdk(client: genai.Client, name: str, code: int) -> None:
    with pytest.raises(errors.APIError) as caught:
        await answer(client, scenarios.PREFIX + name)
    assert caught.value.code == code


async def test_rate_limit_tells_when_to_retry_and_passes(client: genai.Client) -> None:
    with pytest.raises(errors.ClientError) as caught:
        await answer(client, "scenario-rate-limited-once", "Retry me")
    assert caught.value.details["error"]["details"][1]["retryDelay"] == "0.2s"
    assert text_of(await answer(client, "scenario-rate-limited-once", "Retry me"))


async def test_gemini_3_code_has_ids_signatures_and_an_empty_signed_end(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-code")
    code, behind, result, *_, last = parts_of(chunks)
    assert code.executable_code
    assert code.thought_signature
    assert behind.text == ""
    assert result.code_execution_result
    assert code.executable_code.id == result.code_execution_result.id
    assert result.thought_signature is None
    assert last.text == ""
    assert last.thought_signature
    assert finishes_of(chunks) == ["STOP"]


async def test_gemini_2_5_has_two_finishes_and_no_ids(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-two-finishes")
    assert finishes_of(chunks) == ["STOP", "STOP"]
    assert text_of(chunks).endswith("The second number is 142.")
    assert all(part.executable_code.id is None for part in parts_of(chunks) if part.executable_code)


async def test_outcomes_come_as_named(client: genai.Client) -> None:
    seen = {}
    for name in ("two-results", "code-deadline", "result-without-output", "code-without-result"):
        parts = parts_of(await answer(client, scenarios.PREFIX + name))
        results = [part.code_execution_result for part in parts if part.code_execution_result]
        seen[name] = [(result.outcome, bool(result.output)) for result in results]
    assert seen == {
        "two-results": [(types.Outcome.OUTCOME_OK, True), (types.Outcome.OUTCOME_FAILED, True)],
        "code-deadline": [(types.Outcome.OUTCOME_DEADLINE_EXCEEDED, True)],
        "result-without-output": [(types.Outcome.OUTCOME_OK, False)],
        "code-without-result": [],
    }


@pytest.mark.parametrize(
    ("name", "image_format", "images", "different"),
    [
        ("image", "PNG", 1, 1),
        ("image-shared-chunk", "PNG", 1, 1),
        ("image-twice", "PNG", 2, 1),
        ("image-two-sizes", "PNG", 2, 2),
        ("images-2", "PNG", 2, 2),
        ("image-jpeg", "JPEG", 1, 1),
    ],
)
async def test_images_are_real(client: genai.Client, name: str, image_format: str, images: int, different: int) -> None:
    parts = parts_of(await answer(client, scenarios.PREFIX + name))
    found = [part.inline_data.data for part in parts if part.inline_data and part.inline_data.data]
    assert len(found) == images
    assert len({hashlib.sha256(data).digest() for data in found}) == different
    for data in found:
        assert Image.open(io.BytesIO(data)).format == image_format


async def test_long_answer_has_the_size_asked_for(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-long-20")
    assert len(text_of(chunks).encode()) == 20 * 1024
    sizes = sorted(len(part.text or "") for part in parts_of(chunks))
    assert 40 < sizes[len(sizes) // 2] < 110


async def test_cut_connection_breaks_after_the_text(client: genai.Client) -> None:
    seen: list[types.GenerateContentResponse] = []

    async def read() -> None:
        stream = await client.aio.models.generate_content_stream(model="scenario-cut", contents="Hello")
        async for chunk in stream:
            seen.append(chunk)  # noqa: PERF401 what came before the break counts

    with pytest.raises(aiohttp.ClientError):
        await read()
    assert text_of(seen)


async def test_stall_is_silent_for_the_seconds_asked_for_at_any_pace(client: genai.Client) -> None:
    started = time.monotonic()
    chunks = await answer(client, "scenario-stall-1")
    assert 1.0 <= time.monotonic() - started < 5.0
    assert finishes_of(chunks) == ["STOP"]


async def test_stall_without_number_outlasts_any_patience(client: genai.Client) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await answer(client, "scenario-stall-at-start")
