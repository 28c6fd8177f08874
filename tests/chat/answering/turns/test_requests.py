"""The whole request that the API receives, for each way in which history is sent back, compared with a snapshot.

`PLOTLINE_TEST_SNAPSHOTS=write` writes the snapshots again: read the difference before committing it. Bytes are written
as a digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pytest_django import Settings

from attachments.models import Attachment
from attachments.store import BytesUnavailable
from chat.answering.prompt import provider_files
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.models import Conversation, Instruction, LanguageModel, ProviderFile, RefusedFile, Turn
from tests.attachments.conftest import png
from tests.chat.answering.turns.session_turns import make_file
from tests.chat.turn_driver import (
    Tab,
    ask_and_wait,
    calls_since,
    count_calls,
    make_question,
    new_conversation,
    start_and_wait,
)

pytestmark = pytest.mark.django_db(transaction=True)

FOLDER = Path(__file__).with_name("requests")
LONG = 200

Case: TypeAlias = Callable[[Settings], Awaitable[Conversation]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Register a function that makes a conversation; the snapshot holds its last request."""
    CASES[function.__name__] = function
    return function


async def conversation_with(scenario: str, **chosen: str) -> Conversation:
    """Create a conversation with a scenario, where code may always run."""
    return await new_conversation(model=f"scenario-{scenario}", code_execution="on", **chosen)


async def two_turns(scenario: str, then: str = "", **chosen: str) -> Conversation:
    """Ask a scenario twice. `then`: the scenario that answers the second question."""
    conversation = await conversation_with(scenario, **chosen)
    await ask_and_wait(conversation, "first")
    if then:
        await Conversation.objects.filter(pk=conversation.pk).aupdate(model=f"scenario-{then}")
    await ask_and_wait(conversation, "second")
    return conversation


@case
async def code_is_sent_back_in_order_with_ids_and_signatures(settings: Settings) -> Conversation:
    """An empty text with a signature is a part of its own."""
    return await two_turns("code")


@case
async def several_runs_of_code_are_sent_back(settings: Settings) -> Conversation:
    """Each run has its own result."""
    return await two_turns("code-two-rounds")


@case
async def answers_without_ids_and_signatures_are_sent_back(settings: Settings) -> Conversation:
    """Gemini 2.5 sends none."""
    return await two_turns("two-finishes")


@case
async def refused_questions_are_left_out(settings: Settings) -> Conversation:
    """The API would refuse every later prompt that holds the question."""
    conversation = await two_turns("text", then="prompt-blocked")
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-image-safety")
    await ask_and_wait(conversation, "third")
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-text")
    await ask_and_wait(conversation, "fourth")
    return conversation


@case
async def signatures_are_sent_only_to_their_model(settings: Settings) -> Conversation:
    """A part that holds only a signature is left out."""
    return await two_turns("code", then="text")


@case
async def signatures_that_were_refused_are_left_out(settings: Settings) -> Conversation:
    """The second attempt is sent without them."""
    return await two_turns("corrupted-signature-once")


@case
async def graph_is_sent_back_where_it_was_drawn(settings: Settings) -> Conversation:
    """It is sent as bytes, not as a marker."""
    return await two_turns("image")


@case
async def graphs_that_were_refused_are_left_out(settings: Settings) -> Conversation:
    """The second attempt is sent without them."""
    return await two_turns("images-refused")


@case
async def graphs_that_were_refused_before_are_not_tried_again(settings: Settings) -> Conversation:
    """The third turn needs one request."""
    conversation = await two_turns("images-refused")
    before = count_calls(settings.GOOGLE_GEMINI_BASE_URL)
    await ask_and_wait(conversation, "third")
    assert len(calls_since(settings.GOOGLE_GEMINI_BASE_URL, before)) == 1
    return conversation


@case
async def typed_marker_stays_text(settings: Settings) -> Conversation:
    """It is never replaced by a graph."""
    conversation = await conversation_with("image")
    await ask_and_wait(conversation, "what is [GRAPH:0]?")
    await ask_and_wait(conversation, "and\n[GRAPH:1]\n?")
    return conversation


@case
async def empty_answer_is_left_out(settings: Settings) -> Conversation:
    """The two questions become one content of the user."""
    return await two_turns("unavailable")


@case
async def text_of_a_stopped_turn_is_sent_back(settings: Settings) -> Conversation:
    """The last content is the user's."""
    conversation = await conversation_with("stall")
    tab = Tab(conversation.pk)
    with tab.following():
        await start_turn(make_question(conversation, "first"))
        # This is the last text that is received before the provider falls silent.
        await tab.receive_text("smooth lin")
        await stop_turn(conversation.pk)
        await Runner.current().drain()
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-text")
    await ask_and_wait(conversation, "second")
    return conversation


@case
async def function_calls_that_never_began_have_responses(settings: Settings) -> Conversation:
    """The answer ended before they began."""
    return await two_turns("undeclared-function-calls", then="text")


async def ask_with_files(conversation: Conversation, text: str, *files: tuple[str, str, bytes]) -> None:
    """Ask with files, as (name, MIME type, bytes)."""
    stored = [await sync_to_async(make_file)(conversation, name, data, kind) for name, kind, data in files]
    turn = await start_and_wait(
        start_turn(make_question(conversation, text, attachment_ids=[file.pk for file in stored]))
    )
    assert turn.status == Turn.Status.DONE


CSV = ("data.csv", "text/csv", b"a,b\n1,2\n")


@case
async def files_are_sent_inline_before_the_text(settings: Settings) -> Conversation:
    """Each has a MIME type that the API accepts."""
    conversation = await conversation_with("text")
    await ask_with_files(conversation, "look", CSV, ("p.png", "image/png", png(3)), ("a.js", "text/javascript", b"1;"))
    return conversation


@case
async def file_is_sent_again_with_every_later_question(settings: Settings) -> Conversation:
    """It stays with its question."""
    conversation = await conversation_with("text")
    await ask_with_files(conversation, "look", CSV)
    await ask_and_wait(conversation, "again")
    return conversation


@case
async def files_too_large_for_a_request_are_stored_by_the_provider(settings: Settings) -> Conversation:
    """The request names their URI."""
    settings.REQUEST_FILES_LIMIT_BYTES = 10
    conversation = await conversation_with("text")
    await ask_with_files(conversation, "look", ("long.csv", "text/csv", b"a,b\n1,2\n3,4\n"))
    await ask_and_wait(conversation, "again")
    assert await ProviderFile.objects.acount() == 1
    return conversation


@case
async def settings_of_the_catalogue_are_sent(settings: Settings) -> Conversation:
    """Instruction, tools, thinking and limits."""
    await LanguageModel.objects.acreate(
        name="scenario-text", code_execution=True, thinking_level="high", max_output_tokens=1000, temperature=0.5
    )
    await Instruction.objects.acreate(pk=1, general="Be brief.", code_execution="Graphs show by themselves.")
    conversation = await conversation_with("text", system_instruction="Say moo.")
    await ask_and_wait(conversation, "first")
    return conversation


@pytest.mark.parametrize("name", CASES)
async def test_request_to_the_provider_equals_its_snapshot(name: str, emulated: Settings) -> None:
    await Instruction.objects.all().adelete()
    await LanguageModel.objects.all().adelete()
    if name != "settings_of_the_catalogue_are_sent":
        await Instruction.objects.acreate(pk=1)
    url = emulated.GOOGLE_GEMINI_BASE_URL
    before = count_calls(url)
    await CASES[name](emulated)
    calls = calls_since(url, before)
    assert calls[-1]["state"] == ("refused" if name == "empty_answer_is_left_out" else "done")
    body = json.dumps(stable(calls[-1]["request"]), ensure_ascii=False, indent=2, sort_keys=True)
    snapshot = with_numbered_ids(body) + "\n"
    path = FOLDER / f"{name}.json"
    if os.environ.get("PLOTLINE_TEST_SNAPSHOTS") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(snapshot)
    assert snapshot == path.read_text()


def with_numbered_ids(text: str) -> str:
    """Return the text with ids of code replaced by their order, because they differ in each run."""
    ids = dict.fromkeys(re.findall(r'"id": "(\w{8})"', text))
    for number, known in enumerate(ids, start=1):
        text = text.replace(f'"{known}"', f'"id-{number}"')
    return text


def stable(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON without values that are long or differ in each run."""
    if isinstance(value, dict):
        return {key: stable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [stable(item) for item in value]
    if isinstance(value, str):
        value = re.sub(r"http://127\.0\.0\.1:\d+/(v\w+)/files/\w+", r"http://HOST/\1/files/ID", value)
        value = re.sub(r"(?<=\[Note of the server: it is ).+(?=, in the zone UTC)", "TIME", value)
        # Releases of Pillow compress the same image into other bytes; the emulator makes the signatures.
        value = re.sub(r"[\w+/=-]{200,}", "<base64>", value)
        if len(value) > LONG:
            return f"{value[:LONG]}… sha256 {hashlib.sha256(value.encode()).hexdigest()[:16]}"
    return value


def test_every_snapshot_file_belongs_to_a_test_case() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(CASES)


async def test_stored_file_is_uploaded_again_before_it_expires(emulated: Settings) -> None:
    emulated.REQUEST_FILES_LIMIT_BYTES = 10
    conversation = await conversation_with("text")
    await ask_with_files(conversation, "look", ("long.csv", "text/csv", b"a,b\n1,2\n3,4\n"))
    stored = await ProviderFile.objects.aget()
    soon = timezone.now() + timedelta(minutes=30)
    await ProviderFile.objects.aupdate(expires_at=soon)
    await ask_and_wait(conversation, "again")
    renewed = await ProviderFile.objects.aget()
    assert renewed.uri != stored.uri
    assert renewed.expires_at > soon


async def test_later_answers_work_although_storage_has_lost_an_earlier_file(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    emulated.REQUEST_FILES_LIMIT_BYTES = 10
    conversation = await conversation_with("text")
    await ask_with_files(conversation, "look", ("long.csv", "text/csv", b"a,b\n1,2\n3,4\n"))
    await ProviderFile.objects.all().adelete()

    def lose(attachment: Attachment) -> bytes:
        raise BytesUnavailable(f"“{attachment.name}” cannot be read now.")

    monkeypatch.setattr(provider_files, "read_bytes", lose)
    turn = await ask_and_wait(conversation, "again")
    assert turn.status == Turn.Status.DONE
    assert not await RefusedFile.objects.aexists()


async def test_file_that_the_provider_has_lost_is_uploaded_again_and_the_request_is_repeated(
    emulated: Settings,
) -> None:
    emulated.REQUEST_FILES_LIMIT_BYTES = 10
    conversation = await conversation_with("file-refused-once")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    await ask_with_files(conversation, "look", ("long.csv", "text/csv", b"a,b\n1,2\n3,4\n"))
    refused, taken = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert (refused["state"], taken["state"]) == ("refused", "done")
    first, second = (call["request"]["contents"][0]["parts"][0]["fileData"]["fileUri"] for call in (refused, taken))
    stored = await ProviderFile.objects.aget()
    assert first != second == stored.uri
