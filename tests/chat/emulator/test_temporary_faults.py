"""Scenarios that fail until the client reacts correctly, through the real SDK."""

from __future__ import annotations

import pytest
from google import genai
from google.genai import errors, types

from tests.chat.emulator.sdk import answer, model_content, parts_of, text_of, user, without_signatures
from tests.gemini_emulator.scenarios.text import PLAIN


def _history(parts: list[types.Part]) -> list[types.Content]:
    return [user("Hello"), model_content(parts), user("And then?")]


async def test_rate_limit_names_the_delay_and_ends(client: genai.Client) -> None:
    with pytest.raises(errors.ClientError) as caught:
        await answer(client, "scenario-rate-limited-once", "Retry me")
    assert caught.value.details["error"]["details"][1]["retryDelay"] == "0.2s"
    assert text_of(await answer(client, "scenario-rate-limited-once", "Retry me"))


@pytest.mark.parametrize(
    ("name", "times"), [("unavailable-once", 1), ("unavailable-times", 2), ("unavailable-times-3", 3)]
)
async def test_unavailable_model_answers_after_a_number_of_requests(
    client: genai.Client, name: str, times: int
) -> None:
    for _ in range(times):
        with pytest.raises(errors.ServerError) as caught:
            await answer(client, f"scenario-{name}", "Are you there?")
        assert caught.value.code == 503
    assert text_of(await answer(client, f"scenario-{name}", "Are you there?"))


async def test_request_with_a_continuation_token_gets_the_rest(client: genai.Client) -> None:
    chunks = await answer(client, "scenario-continuation")
    candidates = chunks[-1].candidates
    assert candidates
    token = candidates[0].continuation_token
    assert token
    config = types.GenerateContentConfig(continuation_token=token, automatic_continuation=False)
    rest = await client.aio.models.generate_content(model="scenario-continuation", contents="Hello", config=config)
    assert text_of(chunks) + text_of([rest]) == PLAIN


async def test_signatures_are_rejected_until_they_are_removed(client: genai.Client) -> None:
    parts = parts_of(await answer(client, "scenario-corrupted-signature-once"))
    assert parts[0].executable_code
    with pytest.raises(errors.ClientError, match=r"Corrupted thought signature\."):
        await answer(client, "scenario-corrupted-signature-once", _history(parts))
    dummy = b"skip_thought_signature_validator"
    with_dummies = [part.model_copy(update={"thought_signature": dummy}) for part in parts]
    for bare in (without_signatures(parts), with_dummies):
        assert text_of(await answer(client, "scenario-corrupted-signature-once", _history(bare)))


async def test_graphs_are_rejected_until_they_are_removed(client: genai.Client) -> None:
    parts = parts_of(await answer(client, "scenario-images-refused"))
    bare = [part for part in parts if not part.inline_data]
    assert len(bare) == len(parts) - 1
    with pytest.raises(errors.ClientError, match=r"Unable to process input image\."):
        await answer(client, "scenario-images-refused", _history(parts))
    assert text_of(await answer(client, "scenario-images-refused", _history(bare)))


async def test_file_is_rejected_once_even_if_its_uri_changes(client: genai.Client) -> None:
    def question(name: str) -> types.Content:
        file = types.FileData(file_uri=f"https://example.org/v1beta/files/{name}", mime_type="text/csv")
        return user(types.Part(file_data=file), "Read it")

    with pytest.raises(errors.ClientError, match="permission to access the File abc or it may not exist") as caught:
        await answer(client, "scenario-file-refused-once", question("abc"))
    assert caught.value.code == 403
    assert text_of(await answer(client, "scenario-file-refused-once", question("def")))
    assert text_of(await answer(client, "scenario-file-refused-once", "No file at all"))
