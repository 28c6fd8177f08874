"""The reader of recordings finds in each hand-written shape what the shape was written to contain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.openai_recordings import read_stream
from tests.openai_server.shapes import EVENT_STREAM, SHAPES

#: Errors that are not JSON. The reader is not for them.
WITHOUT_JSON = {"no-json-in-an-event", "page-of-html-as-stream", "no-bytes"}
STREAMS = [
    name
    for name, shape in SHAPES.items()
    if (shape.response.content_type, shape.response.status) == (EVENT_STREAM, 200) and name not in WITHOUT_JSON
]


@pytest.mark.parametrize("name", STREAMS)
def test_reader_finds_what_the_shape_contains(name: str) -> None:
    expected = SHAPES[name].expected
    # The reader does not tell the kinds of errors apart.
    assert read_stream(SHAPES[name].response.body) == replace(expected, error=None if expected.error is None else "")
