"""What the answers of some scenarios contain, through the real SDK."""

from __future__ import annotations

import hashlib
import io

import pytest
from google import genai
from google.genai import types
from PIL import Image

from tests.chat.emulator.sdk import answer, finishes_of, parts_of, text_of
from tests.gemini_emulator import scenarios
from tests.gemini_emulator.scenarios.text import PLAIN


async def test_too_many_tool_calls_become_text_without_tools(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-too-many-tool-calls")
    assert (finishes_of(chunks), text_of(chunks)) == (["TOO_MANY_TOOL_CALLS"], "")
    chunks = await answer(client, "scenario-too-many-tool-calls", code=False)
    assert (finishes_of(chunks), text_of(chunks)) == (["STOP"], PLAIN)


async def test_last_chunk_has_all_sources(client: genai.Client) -> None:
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
    text = text_of(chunks).encode()
    for support in grounding.grounding_supports or []:
        segment = support.segment
        assert segment
        assert text[segment.start_index or 0 : segment.end_index].decode() == segment.text
        assert all(index < len(sources) for index in support.grounding_chunk_indices or [])


@pytest.mark.filterwarnings("ignore:.* is not a valid:UserWarning")
async def test_first_chunk_has_the_retrieval_status_of_every_page(client: genai.Client) -> None:
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


async def test_gemini_3_code_has_ids_signatures_and_an_empty_signed_last_part(client: genai.Client) -> None:
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


async def test_results_have_the_outcomes_of_their_scenarios(client: genai.Client) -> None:
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
async def test_images_can_be_opened(
    client: genai.Client, name: str, image_format: str, images: int, different: int
) -> None:
    parts = parts_of(await answer(client, scenarios.PREFIX + name))
    all_data = [part.inline_data.data for part in parts if part.inline_data and part.inline_data.data]
    assert len(all_data) == images
    assert len({hashlib.sha256(data).digest() for data in all_data}) == different
    for data in all_data:
        assert Image.open(io.BytesIO(data)).format == image_format


async def test_long_answer_has_the_size_in_its_name(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-long-20")
    assert len(text_of(chunks).encode()) == 20 * 1024
    sizes = sorted(len(part.text or "") for part in parts_of(chunks))
    assert 40 < sizes[len(sizes) // 2] < 110
