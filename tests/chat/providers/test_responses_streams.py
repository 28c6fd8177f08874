"""The provider reads the content of each hand-written stream and each recording of the Responses API."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from chat.providers.openai_compatible.provider import OpenAICompatibleProvider
from chat.vocabulary.stream_events import Source, SourcesReported
from tests.chat.providers.openai_driver import make_request, read_answer
from tests.chat.providers.test_openai_streams import with_any_error
from tests.openai_server.response_shapes import RESPONSE_SHAPES
from tests.responses_recordings import Recording, response_recordings

RECORDINGS = response_recordings()


@pytest.fixture
async def responses_provider(
    openai_provider: OpenAICompatibleProvider,
) -> AsyncGenerator[OpenAICompatibleProvider, None]:
    """A provider at the stand-in's profile `generic` that uses the Responses API."""
    made = OpenAICompatibleProvider("generic-responses")
    yield made
    await made.aclose()


@pytest.mark.parametrize("name", RESPONSE_SHAPES)
async def test_content_of_each_hand_written_response_is_read(
    responses_provider: OpenAICompatibleProvider, name: str
) -> None:
    expected = RESPONSE_SHAPES[name].expected
    answer = await read_answer(responses_provider, make_request(name))
    assert with_any_error(answer.content(), expected) == expected, answer.error and answer.error.detail


async def test_citations_and_web_searches_are_reported_as_sources(responses_provider: OpenAICompatibleProvider) -> None:
    cited = await read_answer(responses_provider, make_request("citations"))
    found = [event for event in cited.events if isinstance(event, SourcesReported)]
    assert found == [SourcesReported("annotations", (Source("https://example.org/", "Example"),))]
    searched = await read_answer(responses_provider, make_request("web-search"))
    assert [event.queries for event in searched.events if isinstance(event, SourcesReported)] == [("one",)]


if RECORDINGS:
    # Without recordings, no test is collected, so that none is skipped.
    @pytest.mark.parametrize("recorded", RECORDINGS, ids=lambda one: one.name)
    async def test_content_of_a_recording_equals_that_of_its_raw_events(
        responses_provider: OpenAICompatibleProvider, recorded: Recording
    ) -> None:
        expected = recorded.expected
        answer = await read_answer(responses_provider, make_request(f"recording:{recorded.name}"))
        assert with_any_error(answer.content(), expected) == expected, answer.error and answer.error.detail
