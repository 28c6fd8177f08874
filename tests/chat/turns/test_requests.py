"""The whole request that reaches the API, for each way in which history goes back; compared with a kept one.

`PLOTLINE_TEST_SNAPSHOTS=write` writes them anew: read the difference before keeping it. Bytes stand as a digest.
"""

from __future__ import annotations

import asyncio
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
from channels.db import database_sync_to_async
from django.utils import timezone
from pytest_django import Settings

from attachments.store import new_pending
from chat.models import Conversation, Instruction, LanguageModel, Part, ProviderFile, Turn, TurnEvent
from chat.parts import PartKind
from chat.turns.log import fold
from chat.turns.runner import Runner, start_turn, stop_turn
from tests.attachments.conftest import png
from tests.chat.turns.running import answered, asking, calls_since, finished, fresh_page, new_conversation, seen

pytestmark = pytest.mark.django_db(transaction=True)

FOLDER = Path(__file__).with_name("requests")
LONG = 200

Case: TypeAlias = Callable[[Settings], Awaitable[Conversation]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """A conversation whose last request is looked at; its docstring is the sentence that the test bears."""
    CASES[function.__name__] = function
    return function


async def talk(scenario: str, **chosen: str) -> Conversation:
    """A conversation with that scenario; whether code may run is not asked of the question."""
    return await new_conversation(model=f"scenario-{scenario}", code_execution="on", **chosen)


async def replace_parts(turn: Turn, *parts: Part) -> None:
    """Make an answer of other parts."""

    def write() -> None:
        Part.objects.filter(message=turn.message).delete()
        for index, part in enumerate(parts):
            part.message, part.index = turn.message, index
            part.save()

    await database_sync_to_async(write)()


async def two_turns(scenario: str, then: str = "", **chosen: str) -> Conversation:
    """A question answered by that scenario, and a second one; `then`: who is asked it."""
    conversation = await talk(scenario, **chosen)
    await answered(conversation, "first")
    if then:
        await Conversation.objects.filter(pk=conversation.pk).aupdate(model=f"scenario-{then}")
    await answered(conversation, "second")
    return conversation


@case
async def code_goes_back_in_order_with_ids_and_signatures(settings: Settings) -> Conversation:
    """An empty signed text part stands by itself."""
    return await two_turns("code")


@case
async def several_rounds_of_code_go_back(settings: Settings) -> Conversation:
    """Each with its own result."""
    return await two_turns("code-two-rounds")


@case
async def answers_without_ids_and_signatures_go_back(settings: Settings) -> Conversation:
    """As Gemini 2.5 gives them."""
    return await two_turns("two-finishes")


@case
async def thoughts_stay(settings: Settings) -> Conversation:
    """They are shown, and not sent back."""
    return await two_turns("thoughts")


@case
async def signatures_go_only_to_their_model(settings: Settings) -> Conversation:
    """A part with nothing but a signature is left out."""
    return await two_turns("code", then="text")


@case
async def signatures_called_corrupted_are_left_out(settings: Settings) -> Conversation:
    """In the second try."""
    return await two_turns("corrupted-signature-once")


@case
async def graph_goes_back_where_it_was_drawn(settings: Settings) -> Conversation:
    """As bytes, not as a marker."""
    return await two_turns("image")


@case
async def only_the_newest_graphs_go_back(settings: Settings) -> Conversation:
    """Two of seven."""
    settings.REPLAYED_GRAPHS = 2
    return await two_turns("images-7")


@case
async def no_graph_goes_back_where_that_is_switched_off(settings: Settings) -> Conversation:
    """Code and output say what it showed."""
    settings.REPLAYED_GRAPHS = 0
    return await two_turns("image")


@case
async def graphs_that_are_refused_are_left_out(settings: Settings) -> Conversation:
    """In the second try."""
    return await two_turns("images-refused")


@case
async def image_printed_by_code_is_put_back_into_its_output(settings: Settings) -> Conversation:
    """As a data URI, as the model's code had printed it."""
    return await two_turns("image-in-output")


@case
async def marker_that_somebody_typed_stays_text(settings: Settings) -> Conversation:
    """Whatever it looks like."""
    conversation = await talk("image")
    await answered(conversation, "what is [GRAPH:0]?")
    await answered(conversation, "and\n[GRAPH:1]\n?")
    return conversation


@case
async def answer_that_left_nothing_is_left_out(settings: Settings) -> Conversation:
    """The two questions are one say of the user's."""
    return await two_turns("unavailable")


@case
async def code_that_never_had_a_result_goes_back(settings: Settings) -> Conversation:
    """As a search in files is told: text follows it."""
    return await two_turns("code-without-result")


@case
async def code_of_a_stopped_turn_without_its_result_is_left_out(settings: Settings) -> Conversation:
    """What came before it goes back."""
    conversation = await talk("text")
    first = await answered(conversation, "first")
    await replace_parts(
        first,
        Part(kind=PartKind.TEXT, text="Let me see."),
        Part(kind=PartKind.EXECUTABLE_CODE, text="1", language="PYTHON"),
    )
    await Turn.objects.filter(pk=first.pk).aupdate(model="another")
    await answered(conversation, "second")
    return conversation


@case
async def text_of_a_stopped_turn_goes_back(settings: Settings) -> Conversation:
    """As far as it came; the last content is the user's."""
    conversation = await talk("stall")
    await start_turn(asking(conversation, "first"))
    said = TurnEvent.objects.filter(turn__conversation=conversation).order_by("seq").values_list("name", "data")
    async with asyncio.timeout(10):
        # All that comes before the provider falls silent.
        while not fold([row async for row in said.all()]).text.endswith("smooth lin"):
            await asyncio.sleep(0.02)
    await stop_turn(conversation.pk)
    await Runner.current().drain()
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-text")
    await answered(conversation, "second")
    return conversation


@case
async def function_call_that_nobody_answered_is_a_note(settings: Settings) -> Conversation:
    """The API wants an answer to each call."""
    return await two_turns("function-call", then="text")


@case
async def answered_function_call_of_another_model_gets_the_stand_in(settings: Settings) -> Conversation:
    """And what the function gave back is the user's say."""
    conversation = await talk("text")
    first = await answered(conversation, "first")

    await Turn.objects.filter(pk=first.pk).aupdate(model="another")
    call, response = PartKind.FUNCTION_CALL, PartKind.FUNCTION_RESPONSE
    asked = {"name": "python", "args": {"code": "1"}}
    given = {"name": "python", "response": {"output": "1"}}
    await replace_parts(
        first,
        Part(kind=call, call_id="c1", fields=asked, thought_signature=b"foreign"),
        Part(kind=response, call_id="c1", fields=given),
        Part(kind=PartKind.TEXT, text="It is 1."),
    )
    await answered(conversation, "second")
    return conversation


async def ask_with_files(conversation: Conversation, text: str, *files: tuple[str, str, bytes]) -> None:
    """A question with files, as (name, type, bytes)."""
    owner = conversation.owner_id
    kept = [
        await sync_to_async(new_pending)(
            owner_id=owner, data=data, name=name, mime_type=kind, width=None, height=None, is_graph=False
        )
        for name, kind, data in files
    ]
    turn = await finished(start_turn(asking(conversation, text, attachment_ids=[file.pk for file in kept])))
    assert turn.status == Turn.Status.DONE


CSV = ("data.csv", "text/csv", b"a,b\n1,2\n")


@case
async def files_go_inline_before_the_words(settings: Settings) -> Conversation:
    """Under a type that the API takes."""
    conversation = await talk("text")
    await ask_with_files(conversation, "look", CSV, ("p.png", "image/png", png(3)), ("a.js", "text/javascript", b"1;"))
    return conversation


@case
async def file_is_sent_again_with_every_later_question(settings: Settings) -> Conversation:
    """Where it stood."""
    conversation = await talk("text")
    await ask_with_files(conversation, "look", CSV)
    await answered(conversation, "again")
    return conversation


@case
async def files_too_large_for_a_request_are_kept_by_the_provider(settings: Settings) -> Conversation:
    """And named by their address."""
    settings.REQUEST_FILES_LIMIT_BYTES = 10
    conversation = await talk("text")
    await ask_with_files(conversation, "look", ("long.csv", "text/csv", b"a,b\n1,2\n3,4\n"))
    await answered(conversation, "again")
    assert await ProviderFile.objects.acount() == 1
    return conversation


@case
async def oldest_exchanges_of_a_long_conversation_are_left_out(settings: Settings) -> Conversation:
    """So that the rest fits."""
    await LanguageModel.objects.acreate(name="scenario-text", context_tokens=600)
    conversation = await talk("text")
    for number in range(4):
        turn = await answered(conversation, f"question {number} " + "word " * 100)
    assert turn.left_out == 4
    assert "oldest messages of this conversation were not sent" in await fresh_page(conversation)
    return conversation


@case
async def model_is_set_and_told_what_the_catalogue_says(settings: Settings) -> Conversation:
    """Instruction, tools, thinking and limits."""
    await LanguageModel.objects.acreate(
        name="scenario-text", code_execution=True, thinking_level="HIGH", max_output_tokens=1000, temperature=0.5
    )
    await Instruction.objects.acreate(pk=1, general="Be brief.", code_execution="Graphs show by themselves.")
    conversation = await talk("text", system_instruction="Say moo.")
    await answered(conversation, "first")
    return conversation


@pytest.mark.parametrize("name", CASES)
async def test_request(name: str, emulated: Settings) -> None:
    await Instruction.objects.all().adelete()
    await LanguageModel.objects.all().adelete()
    if name != "model_is_set_and_told_what_the_catalogue_says":
        await Instruction.objects.acreate(pk=1)
    url = emulated.GOOGLE_GEMINI_BASE_URL
    before = seen(url)
    await CASES[name](emulated)
    calls = calls_since(url, before)
    assert calls[-1]["state"] == ("refused" if name == "answer_that_left_nothing_is_left_out" else "done")
    found = numbered(json.dumps(plain(calls[-1]["request"]), ensure_ascii=False, indent=2)) + "\n"
    path = FOLDER / f"{name}.json"
    if os.environ.get("PLOTLINE_TEST_SNAPSHOTS") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(found)
    assert found == path.read_text()


def numbered(text: str) -> str:
    """The same with ids of code by their order: the emulator makes other ones for equal calls."""
    ids = dict.fromkeys(re.findall(r'"id": "(\w{8})"', text))
    for number, known in enumerate(ids, start=1):
        text = text.replace(f'"{known}"', f'"id-{number}"')
    return text


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """JSON without what is long or another in each run."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, str):
        value = re.sub(r"http://127\.0\.0\.1:\d+/(v\w+)/files/\w+", r"http://HOST/\1/files/ID", value)
        # Releases of Pillow pack the same picture into other bytes; signatures are of the emulator's making.
        value = re.sub(r"[\w+/=-]{200,}", "<base64>", value)
        if len(value) > LONG:
            return f"{value[:LONG]}… sha256 {hashlib.sha256(value.encode()).hexdigest()[:16]}"
    return value


def test_every_kept_request_has_its_case() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(CASES)


async def test_kept_file_is_sent_anew_before_it_expires(emulated: Settings) -> None:
    emulated.REQUEST_FILES_LIMIT_BYTES = 10
    conversation = await talk("text")
    await ask_with_files(conversation, "look", ("long.csv", "text/csv", b"a,b\n1,2\n3,4\n"))
    kept = await ProviderFile.objects.aget()
    soon = timezone.now() + timedelta(minutes=30)
    await ProviderFile.objects.aupdate(expires_at=soon)
    await answered(conversation, "again")
    renewed = await ProviderFile.objects.aget()
    assert renewed.uri != kept.uri
    assert renewed.expires_at > soon


async def test_file_that_the_provider_lost_is_sent_anew_once(emulated: Settings) -> None:
    emulated.REQUEST_FILES_LIMIT_BYTES = 10
    conversation = await talk("file-refused-once")
    before = seen(emulated.GOOGLE_GEMINI_BASE_URL)
    await ask_with_files(conversation, "look", ("long.csv", "text/csv", b"a,b\n1,2\n3,4\n"))
    refused, taken = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert (refused["state"], taken["state"]) == ("refused", "done")
    first, second = (call["request"]["contents"][0]["parts"][0]["fileData"]["fileUri"] for call in (refused, taken))
    kept = await ProviderFile.objects.aget()
    assert first != second == kept.uri
