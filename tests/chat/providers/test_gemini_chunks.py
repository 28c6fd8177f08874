"""Chunks of responses: our decoder reads the same as the SDK's models, wherever the network cuts the stream."""

from __future__ import annotations

import json
from typing import Any

from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.google.codec import ChunkDecoder
from chat.providers.google.stream_parser import StreamParser
from chat.providers.reasons import REASON_LIMIT_CHARS
from chat.vocabulary.stream_events import Finish, Finished, PartReceived, StreamEvent, Usage, UsageReported
from tests.chat.providers.conftest import parts_of
from tests.chat.providers.normal_form import part_in_normal_form
from tests.chat.providers.wire_strategies import CHUNKS
from tests.recordings import part_from, raw_parts


def decode(chunk: dict[str, Any]) -> list[StreamEvent]:
    """Return the events of one chunk, with signatures in standard base64."""
    return [
        PartReceived(part_in_normal_form(event.part)) if isinstance(event, PartReceived) else event
        for event in ChunkDecoder().decode(chunk)
    ]


@given(CHUNKS)
def test_decoder_gives_the_same_events_for_a_chunk_that_the_sdk_has_read_and_written(chunk: dict[str, Any]) -> None:
    read = types.GenerateContentResponse.model_validate(chunk)
    assert decode(chunk) == decode(read.model_dump(mode="json", by_alias=True, exclude_none=True))


@given(CHUNKS)
def test_parts_of_a_chunk_are_read_with_all_their_fields(chunk: dict[str, Any]) -> None:
    assert parts_of(decode(chunk)) == [part_from(wire) for wire in raw_parts(chunk)]


@given(st.lists(CHUNKS, max_size=4), st.data())
def test_stream_gives_the_same_chunks_wherever_the_network_divides_it(
    chunks: list[dict[str, Any]], data: st.DataObject
) -> None:
    body = b"".join(b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\r\n\r\n" for chunk in chunks)
    parser = StreamParser()
    parsed: list[dict[str, Any]] = []
    while body:
        size = data.draw(st.integers(1, len(body)))
        parsed += parser.feed(body[:size])
        body = body[size:]
    parsed += parser.close()
    assert parsed == chunks


def test_finish_message_is_shortened_and_key_and_markup_are_removed() -> None:
    message = "Malformed function call: <b>print</b>(key='secret-1')\u202e AIzaSyA12345678901234567890 " + "x y " * 200
    candidate = {"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": message}
    [finished] = ChunkDecoder("secret-1").decode({"candidates": [candidate]})
    assert isinstance(finished, Finished)
    assert (finished.finish, finished.reason) == (Finish.MALFORMED_CALL, "MALFORMED_FUNCTION_CALL")
    assert finished.message.startswith("Malformed function call: print (key='[removed]') [removed] x y")
    assert len(finished.message) <= REASON_LIMIT_CHARS


def test_total_token_count_is_computed_if_the_response_has_none() -> None:
    [report] = ChunkDecoder().decode({"usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 3}})
    assert isinstance(report, UsageReported)
    assert report.usage == Usage(prompt=20, candidates=3, total=23)
