"""The provider reads from each hand-written shape and each recording the content of their raw bytes.

`tests.openai_server.shapes` says what its shapes contain. `tests.openai_recordings` reads recordings independently of
the provider, and says where they come from.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.providers.openai_compatible.provider import OpenAICompatibleProvider
from tests.chat.providers.openai_driver import make_request, read_answer
from tests.openai_recordings import Recording, recordings
from tests.openai_server.shapes import SHAPES, Expected

RECORDINGS = recordings()

each_shape = pytest.mark.parametrize("name", SHAPES)


def with_any_error(content: Expected, expected: Expected) -> Expected:
    """Return the content. Remove the code of its error if the expected error has none."""
    return replace(content, error="") if expected.error == "" and content.error else content


@each_shape
async def test_content_of_each_hand_written_response_is_read(
    openai_provider: OpenAICompatibleProvider, name: str
) -> None:
    expected = SHAPES[name].expected
    answer = await read_answer(openai_provider, make_request(name))
    assert with_any_error(answer.content(), expected) == expected, answer.error and answer.error.detail


if RECORDINGS:
    # Without recordings, no test is collected, so that none is skipped.
    @pytest.mark.parametrize("recorded", RECORDINGS, ids=lambda one: one.name)
    async def test_content_of_a_recording_equals_that_of_its_raw_chunks(
        openai_provider: OpenAICompatibleProvider, recorded: Recording
    ) -> None:
        expected = recorded.expected
        answer = await read_answer(
            openai_provider, make_request(f"recording:{recorded.name}", functions=recorded.function_names or ["echo"])
        )
        assert with_any_error(answer.content(), expected) == expected, answer.error and answer.error.detail
