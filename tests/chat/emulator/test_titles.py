"""Titles, which every model of the test server answers with."""

from __future__ import annotations

import pytest
from google import genai
from google.genai import errors, types

from tests.chat.emulator.sdk import answer


@pytest.mark.parametrize("model", ["scenario-unavailable", "scenario-code", "plotline-demo", "replay-unknown-name"])
async def test_any_model_answers_with_a_title_if_it_is_asked_for_one(client: genai.Client, model: str) -> None:
    config = types.GenerateContentConfig(system_instruction="Write a title for this conversation: six words.")
    for prompt in ("Plot the sine\nof x twice, please", "Question:\nPlot the sine of x twice\n\nAnswer:\nHere."):
        response = await client.aio.models.generate_content(model=model, contents=prompt, config=config)
        assert response.text == "Plot the sine of x"


async def test_request_for_a_title_is_not_counted_as_a_repetition(client: genai.Client) -> None:
    config = types.GenerateContentConfig(system_instruction="Write a title for this conversation.")
    model = "scenario-unavailable-once"
    await client.aio.models.generate_content(model=model, contents="Same words", config=config)
    with pytest.raises(errors.ServerError):
        await answer(client, model, "Same words")
