"""The content of each stream of the Interactions API equals its raw events, and its steps are sent back unchanged.

`tests.interactions_recordings` makes the expected content from the raw events, without the provider.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from chat.providers.google.errors import FOREIGN_ERRORS
from chat.providers.google.interactions.body import request_body
from chat.providers.google.interactions.events import STEPS_LIMIT, InteractionDecoder
from chat.providers.google.provider import GeminiProvider
from chat.providers.provider_errors import InvalidRequest, ProviderError
from chat.providers.requests import Content as Message
from chat.providers.requests import GenerateRequest
from chat.vocabulary.dialect_names import INTERACTIONS_API
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    CodeExecutionResult,
    ExecutableCode,
    FileData,
    FunctionCall,
    InlineData,
    Part,
    Role,
    Text,
    Thought,
)
from chat.vocabulary.stream_events import (
    Finish,
    Finished,
    MetadataReported,
    PartReceived,
    ResponseIdentified,
    SourcesReported,
    StreamEvent,
    UsageReported,
)
from tests.chat.providers.conftest import Serve, parts_of, read_all
from tests.chat.providers.raw_server import answer_with_body, answer_with_error
from tests.chat.providers.test_responses_events import mutated_stream
from tests.interaction_streams import CREATED, FILE_CITATION, STREAMS, completed, output, step
from tests.interactions_recordings import Content, Recording, files_of, interaction_recordings

MUTATIONS = int(os.environ.get("PLOTLINE_TEST_MUTATIONS", "5000"))
ANSWERS = [one for one in interaction_recordings() if one.status == 200]
ERRORS = [one for one in interaction_recordings() if one.status != 200]
QUESTION = Message(Role.USER, (Text("?"),))
REQUEST = GenerateRequest("gemini-test", (QUESTION,), protocol=INTERACTIONS_API)

each_answer = pytest.mark.parametrize("recorded", ANSWERS, ids=lambda one: one.name)


def content_of(events: Sequence[StreamEvent], error: ProviderError | None) -> Content:
    """Return the content that was read, to compare it with the expected one."""
    parts = [event.part for event in events if isinstance(event, PartReceived)]
    outputs = [part for part in parts if isinstance(part, CodeExecutionResult)]
    reported = [event for event in events if isinstance(event, SourcesReported)]
    # A later report replaces an earlier one of its name.
    last = {event.name: event for event in reported}.values()
    finishes = [event.finish.value for event in events if isinstance(event, Finished)]
    usages = [event.usage for event in events if isinstance(event, UsageReported)]
    return Content(
        text="".join(part.text for part in parts if isinstance(part, Text)),
        thoughts="".join(part.text for part in parts if isinstance(part, Thought)),
        code=[part.code for part in parts if isinstance(part, ExecutableCode)],
        outputs=[(part.output, part.outcome == OUTCOME_FAILED) for part in outputs],
        calls=[(part.name, part.arguments) for part in parts if isinstance(part, FunctionCall)],
        files=[file for part in parts for file in file_of(part)],
        sources=list(dict.fromkeys(source.url for event in last for source in event.sources)),
        queries=[query for event in last for query in event.queries],
        finish=finishes[-1] if finishes else None,
        usage=usages[-1] if usages else None,
        error=error.code if error else None,
    )


def file_of(part: Part) -> list[str]:
    """Return a file in base64, or its address; nothing for other parts."""
    if isinstance(part, FileData):
        return [part.uri]
    return files_of([part.data]) if isinstance(part, InlineData) and part.data else []


def steps_sent(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the steps that a request has for this answer, between two questions."""
    request = GenerateRequest("m", (QUESTION, Message(Role.MODEL, tuple(parts)), QUESTION))
    steps: list[dict[str, Any]] = json.loads(request_body(request))["input"]
    return steps[1:-1]


@each_answer
async def test_content_of_a_stream_equals_that_of_its_raw_events(
    recorded: Recording, provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer_with_body(recorded.body)) as server:
        received, error = await read_all(provider, REQUEST)
        assert (await server.next_request()).path == "/v1beta/interactions"
    assert content_of(received, error) == recorded.content, error and error.detail


@each_answer
def test_steps_of_an_answer_are_sent_back_unchanged(recorded: Recording) -> None:
    sent = steps_sent([event.part for event in decoded(recorded.events) if isinstance(event, PartReceived)])
    pairs = {"google_search_result", "google_search_call"}
    # The history leaves out calls without a result and results without a call.
    back = [one for one in sent if one["type"] not in (*pairs, "user_input") or one in recorded.back]
    assert [one for one in back if one.get("content") != [] and not is_video(one)] == recorded.back


def is_video(sent: dict[str, Any]) -> bool:
    """Return whether a step only holds a video, whose bytes the history leaves out."""
    return [one["type"] for one in sent.get("content", [])] == ["video"]


if ERRORS:
    # Without recordings, no test is collected, so that none is skipped.
    @pytest.mark.parametrize("recorded", ERRORS, ids=lambda one: one.name)
    async def test_http_error_has_the_message_of_its_body(
        recorded: Recording, provider: GeminiProvider, serve: Serve
    ) -> None:
        async with serve(answer_with_error(recorded.status, recorded.body)):
            received, error = await read_all(provider, REQUEST)
        assert (received, type(error)) == ([], InvalidRequest)
        assert error is not None
        assert error.reason == json.loads(recorded.body)["error"]["message"]


async def test_type_of_an_http_error_depends_on_its_status_and_message(provider: GeminiProvider, serve: Serve) -> None:
    for status, message, code in [
        (400, "API key not valid. Please pass a valid API key.", "unauthorised"),
        (429, "Too many requests.", "rate_limited"),
        (404, "Model not found.", "model_not_found"),
        (503, "Overloaded.", "overloaded"),
    ]:
        body = json.dumps({"error": {"message": message, "code": "some_word"}}).encode()
        async with serve(answer_with_error(status, body)):
            received, error = await read_all(provider, REQUEST)
        assert (received, error and error.code) == ([], code)


async def test_response_id_file_citations_and_continuation_token_are_reported(
    provider: GeminiProvider, serve: Serve
) -> None:
    found = list(decoded([CREATED, *STREAMS["citations"]]))
    assert found[0] == ResponseIdentified("", "gemini-test")
    assert MetadataReported("annotations", [FILE_CITATION]) in found
    assert MetadataReported("continuationToken", "dG9rZW4=") in decoded(STREAMS["continuation"])


async def test_refused_answer_finishes_with_the_services_reason_and_message() -> None:
    [finished] = [event for event in decoded(STREAMS["withheld"]) if isinstance(event, Finished)]
    assert (finished.reason, finished.message) == ("safety", "Not this.")


@pytest.mark.parametrize(
    ("word", "finish"),
    [("other", Finish.BLOCKED), ("image_safety", Finish.IMAGE_SAFETY), ("escalation", Finish.ESCALATION)],
)
async def test_error_codes_such_as_image_safety_are_mapped_to_finish_reasons(word: str, finish: Finish) -> None:
    [finished] = [
        event for event in decoded([completed("failed", errors=[{"code": word}])]) if isinstance(event, Finished)
    ]
    assert (finished.finish, finished.reason) == (finish, word)


async def test_error_of_a_failed_step_has_its_code_and_its_message(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(answer_with_body(b"".join(map(_block, STREAMS["failed-in-a-step"])))):
        _, error = await read_all(provider, REQUEST)
    assert error is not None
    assert (error.code, error.reason) == ("overloaded", "No machine.")


@each_answer
async def test_text_before_a_cut_of_the_stream_is_kept(
    recorded: Recording, provider: GeminiProvider, serve: Serve
) -> None:
    offsets = random.Random(recorded.name).sample(range(len(recorded.body)), 3)
    async with serve(answer_with_body(b"")) as server:
        for offset in offsets:
            server.answer = answer_with_body(recorded.body[:offset])
            received, _ = await read_all(provider, REQUEST)
            text = "".join(part.text for part in parts_of(received) if isinstance(part, Text))
            assert recorded.content.text.startswith(text)


def test_stream_with_too_many_steps_is_refused() -> None:
    events = [event for number in range(STEPS_LIMIT + 1) for event in step(number, {"type": "thought"})]
    with pytest.raises(ValueError, match="steps"):
        decoded(events)


def test_event_without_index_belongs_to_the_newest_step() -> None:
    events = [{name: value for name, value in event.items() if name != "index"} for event in output(0, "One ", "two.")]
    assert [part.long_text for part in parts_of(decoded(events))] == ["One ", "two."]


def decoded(events: Sequence[dict[str, Any]]) -> list[StreamEvent]:
    """Return the stream events of an answer. An error ends them."""
    decoder = InteractionDecoder()
    found: list[StreamEvent] = []
    for event in events:
        found += decoder.decode(event)
    with suppress(*FOREIGN_ERRORS):
        found += decoder.end()
    return found


def check_mutations(number: int) -> None:
    chance = random.Random(7)
    known = [one.events for one in ANSWERS if len(one.body) < 200_000]
    for _ in range(number):
        events = json.loads(json.dumps(mutated_stream(list(chance.choice(known)), chance)))
        # The provider maps these errors, which show that an answer breaks the protocol.
        with suppress(*FOREIGN_ERRORS):
            steps_sent(parts_of(decoded(events)))


def test_randomly_changed_streams_raise_only_provider_errors() -> None:
    check_mutations(300)


@pytest.mark.drill
def test_thousands_of_randomly_changed_streams_raise_only_provider_errors() -> None:
    check_mutations(MUTATIONS)


def _block(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"
