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
from chat.emulator.scenarios.texts import PLAIN
from chat.emulator.wire import Chunk
from tests.chat.emulator.sdk import answer, finishes_of, parts_of, text_of

CONTENTS = [{"role": "user", "parts": [{"text": "Hello"}]}]
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
WITHOUT_CANDIDATES = {"prompt-blocked", "model-armor"}


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
async def test_answer_ends_as_named_and_with_text_where_it_is_asked_for_again(
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


async def test_thoughts_of_an_empty_answer_come(client: genai.Client) -> None:
    [thought] = parts_of(await answer(client, "scenario-empty-answer-thoughts-once", "Only thoughts"))
    assert thought.thought
    assert thought.text


@pytest.mark.parametrize(
    ("name", "times"), [("unavailable-once", 1), ("unavailable-times", 2), ("unavailable-times-3", 3)]
)
async def test_unavailable_model_answers_after_so_many_calls(client: genai.Client, name: str, times: int) -> None:
    for _ in range(times):
        with pytest.raises(errors.ServerError) as caught:
            await answer(client, f"scenario-{name}", "Are you there?")
        assert caught.value.code == 503
    assert text_of(await answer(client, f"scenario-{name}", "Are you there?"))


async def test_continuation_goes_on_where_its_token_comes_back(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-continuation")
    candidates = chunks[-1].candidates
    assert candidates
    token = candidates[0].continuation_token
    assert token
    config = types.GenerateContentConfig(continuation_token=token, automatic_continuation=False)
    rest = await client.aio.models.generate_content(model="scenario-continuation", contents="Hello", config=config)
    assert text_of(chunks) + text_of([rest]) == PLAIN


async def test_signatures_are_refused_until_they_are_stripped(client: genai.Client) -> None:
    parts = parts_of(await answer(client, "scenario-corrupted-signature-once"))
    assert parts[0].executable_code
    with pytest.raises(errors.ClientError, match=r"Corrupted thought signature\."):
        await answer(client, "scenario-corrupted-signature-once", _history(parts))
    for signature in (None, b"skip_thought_signature_validator"):
        bare = [part.model_copy(update={"thought_signature": signature}) for part in parts]
        assert text_of(await answer(client, "scenario-corrupted-signature-once", _history(bare)))


async def test_graphs_are_refused_until_they_are_left_out(client: genai.Client) -> None:
    parts = parts_of(await answer(client, "scenario-images-refused"))
    bare = [part for part in parts if not part.inline_data]
    assert len(bare) == len(parts) - 1
    with pytest.raises(errors.ClientError, match=r"Unable to process input image\."):
        await answer(client, "scenario-images-refused", _history(parts))
    assert text_of(await answer(client, "scenario-images-refused", _history(bare)))


async def test_file_is_refused_once_even_when_it_gets_another_uri(client: genai.Client) -> None:
    def asked(name: str) -> types.Content:
        file = types.FileData(file_uri=f"https://example.org/v1beta/files/{name}", mime_type="text/csv")
        return types.Content(role="user", parts=[types.Part(file_data=file), types.Part(text="Read it")])

    with pytest.raises(errors.ClientError, match="permission to access the File abc or it may not exist") as caught:
        await answer(client, "scenario-file-refused-once", asked("abc"))
    assert caught.value.code == 403
    assert text_of(await answer(client, "scenario-file-refused-once", asked("def")))
    assert text_of(await answer(client, "scenario-file-refused-once", "No file at all"))


async def test_tool_loop_that_gives_up_answers_without_tools(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-too-many-tool-calls")
    assert (finishes_of(chunks), text_of(chunks)) == (["TOO_MANY_TOOL_CALLS"], "")
    chunks = await answer(client, "scenario-too-many-tool-calls", code=False)
    assert (finishes_of(chunks), text_of(chunks)) == (["STOP"], PLAIN)


async def test_sources_come_whole_with_the_last_chunk(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-grounded")
    candidates = chunks[-1].candidates
    assert candidates
    grounding = candidates[0].grounding_metadata
    assert grounding
    assert grounding.web_search_queries == ["longest river in Europe", "Volga length km"]
    sources = [chunk.web for chunk in grounding.grounding_chunks or [] if chunk.web]
    assert any((source.uri or "").startswith("javascript:") for source in sources)
    assert any(source.title is None for source in sources)
    assert grounding.search_entry_point
    assert "chip" in (grounding.search_entry_point.rendered_content or "")
    said = text_of(chunks).encode()
    for support in grounding.grounding_supports or []:
        segment = support.segment
        assert segment
        assert said[segment.start_index or 0 : segment.end_index].decode() == segment.text
        assert all(index < len(sources) for index in support.grounding_chunk_indices or [])


@pytest.mark.filterwarnings("ignore:.* is not a valid:UserWarning")
async def test_pages_come_with_the_first_chunk_read_or_not(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-url-context")
    candidates = chunks[0].candidates
    assert candidates
    context = candidates[0].url_context_metadata
    assert context
    statuses = [page.url_retrieval_status for page in context.url_metadata or []]
    assert statuses[:2] == [
        types.UrlRetrievalStatus.URL_RETRIEVAL_STATUS_SUCCESS,
        types.UrlRetrievalStatus.URL_RETRIEVAL_STATUS_ERROR,
    ]


@pytest.mark.parametrize(("name", "kinds"), [("image-model", "ti"), ("image-model-2", "titi"), ("image-only", "i")])
async def test_image_models_sign_their_images(client: genai.Client, name: str, kinds: str) -> None:
    parts = parts_of(await answer(client, f"scenario-{name}"))
    seen = [("i" if part.inline_data else "t") for part in parts if part.text or part.inline_data]
    assert "".join(kind for number, kind in enumerate(seen) if number == 0 or seen[number - 1] != kind) == kinds
    assert all(part.thought_signature for part in parts if part.inline_data)


@pytest.mark.parametrize("model", ["scenario-unavailable", "scenario-code", "plotline-demo", "replay-unheard-of"])
async def test_any_model_gives_a_title_when_asked_for_one(client: genai.Client, model: str) -> None:
    config = types.GenerateContentConfig(system_instruction="Write a title for this conversation: six words.")
    for asked in ("Plot the sine\nof x twice, please", "Question:\nPlot the sine of x twice\n\nAnswer:\nHere."):
        answered = await client.aio.models.generate_content(model=model, contents=asked, config=config)
        assert answered.text == "Plot the sine of x"


async def test_title_counts_for_no_scenario(client: genai.Client) -> None:
    config = types.GenerateContentConfig(system_instruction="Write a title for this conversation.")
    model = "scenario-unavailable-once"
    await client.aio.models.generate_content(model=model, contents="Same words", config=config)
    with pytest.raises(errors.ServerError):
        await answer(client, model, "Same words")


def _history(parts: list[types.Part]) -> list[types.Content]:
    asked = types.Content(role="user", parts=[types.Part(text="Hello")])
    more = types.Content(role="user", parts=[types.Part(text="And then?")])
    return [asked, types.Content(role="model", parts=parts), more]


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
