"""The request of the next round: which parts of earlier messages it holds, and in which form."""

from __future__ import annotations

import base64
import hashlib
import uuid
from dataclasses import replace

import pytest
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from attachments.models import Attachment
from attachments.store import NewAttachment, create_attachments
from chat.answering.prompt.answers import (
    ReplayedImages,
    answer_contents,
    by_speaker,
    is_sent_back,
    with_displays_as_output,
    without_open_code,
    without_provider_data,
    without_unanswered_calls,
)
from chat.answering.prompt.context_window import limit_tokens, select_newest, tokens_of
from chat.answering.prompt.file_choice import encoded_for_model
from chat.answering.prompt.history import merged
from chat.answering.turns.runner import Runner, start_turn
from chat.answering.turns.start import Edit, Regenerate
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.models import Turn
from chat.providers.base import Capabilities
from chat.providers.requests import Content
from chat.vocabulary.parts import (
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Refusal,
    Role,
    Text,
    Thought,
    Unsupported,
)
from tests.attachments.conftest import png
from tests.chat.turn_driver import ask_and_wait, calls_since, count_calls, make_question, new_conversation
from tests.factories import make_conversation, make_model_message

TEXT = Text("t")
CODE = ExecutableCode("1")
RESULT = CodeExecutionResult(outcome="OUTCOME_OK")
CALL = FunctionCall("f", {}, "1")
RESPONSE = FunctionResponse("f", {}, "1")
BARE = Capabilities("account", functions=True, functions_beside_built_in=False, stores_files=False, accepted_type=str)
SIGNED = {"thought_signature": "cw=="}


@pytest.mark.django_db(transaction=True)
async def test_files_of_a_question_are_sent_with_it(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    photo = NewAttachment(
        owner_id=conversation.owner_id,
        data=png(3),
        name="photo.png",
        mime_type="image/png",
        width=8,
        height=6,
        is_graph=False,
    )
    [file] = await sync_to_async(create_attachments)([photo])
    first = await start_turn(make_question(conversation, "what is this?", attachment_ids=(file.pk,)))
    await Runner.current().drain()
    turn = await Turn.objects.aget(conversation=conversation)
    assert turn.status == "done"
    await start_turn(Regenerate(conversation.owner, conversation.pk))
    await Runner.current().drain()
    await start_turn(Edit(conversation.owner, conversation.pk, "what is that?", message_id=first.turn.user_message_id))
    await Runner.current().drain()
    calls = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    for call, words in zip(calls, ["what is this?", "what is this?", "what is that?"], strict=True):
        [content] = call["request"]["contents"]
        data = content["parts"][0]["inlineData"]
        assert data["mimeType"] == "image/png"
        assert base64.b64decode(data["data"], altchars=b"-_") == png(3)
        assert content["parts"][1] == {"text": words}
    await database_sync_to_async(conversation.refresh_from_db)()
    assert conversation.title == "what is that?"


def test_markdown_and_latex_displays_are_sent_as_part_of_the_code_result() -> None:
    parts: list[Part] = [
        ExecutableCode("m"),
        CodeExecutionResult("1\n", outcome=OUTCOME_OK),
        Display({"text/markdown": "*Mean: 3.5*"}),
        Display({"text/latex": "$x^2$"}),
        Text("Done."),
    ]
    assert with_displays_as_output(parts) == [
        ExecutableCode("m"),
        CodeExecutionResult("1\n*Mean: 3.5*\n$x^2$\n", outcome=OUTCOME_OK),
        Text("Done."),
    ]


def test_code_without_a_result_at_the_end_of_an_answer_is_left_out() -> None:
    assert without_open_code([CODE, RESULT, TEXT, CODE]) == [CODE, RESULT, TEXT]
    assert without_open_code([CODE, RESULT]) == [CODE, RESULT]
    assert without_open_code([CODE, CODE]) == []
    signed = Text("", provider_data=SIGNED)
    assert without_open_code([TEXT, CODE, signed]) == [TEXT]
    assert without_open_code([CODE, RESULT, signed]) == [CODE, RESULT, signed]


@pytest.mark.django_db(transaction=True)
async def test_graph_is_sent_back_with_the_bytes_that_were_received(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-image")
    turn = await ask_and_wait(conversation, "first")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    await ask_and_wait(conversation, "second")
    [call] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    [graph] = [part["inlineData"] for part in call["request"]["contents"][1]["parts"] if "inlineData" in part]
    data = base64.b64decode(graph["data"], altchars=b"-_")
    attachment = await Attachment.objects.aget(message_attachments__message=turn.message)
    assert hashlib.sha256(data).hexdigest() == attachment.sha256


def test_successive_messages_of_one_role_are_joined() -> None:
    user, model = Content(Role.USER, (TEXT,)), Content(Role.MODEL, (TEXT,))
    nothing = Content(Role.MODEL, ())
    assert list(merged([user, nothing, user, model, model, user])) == [
        Content(Role.USER, (TEXT, TEXT)),
        Content(Role.MODEL, (TEXT, TEXT)),
        user,
    ]


@pytest.mark.parametrize(
    ("data", "mime_type", "sent"),
    [
        (b"a;b", "text/csv", b"a;b"),
        ("ä;ö".encode(), "text/csv", "ä;ö".encode()),
        ("ä;ö".encode("utf-8-sig"), "text/csv", "ä;ö".encode()),
        ("ä;ö".encode("latin-1"), "text/plain", "ä;ö".encode()),
        ("ä;ö".encode("utf-16"), "text/plain", "ä;ö".encode()),
        (
            "城市,备注\n北京,镕基\n上海,生僻字㐂\n".encode("gb18030"),
            "text/csv",
            "城市,备注\n北京,镕基\n上海,生僻字㐂\n".encode(),
        ),
        ("Город;Дата\nОмск;1\n".encode("cp1251"), "text/plain", "Город;Дата\nОмск;1\n".encode()),
        ("Bid,Ask\n1,2\n".encode("utf-16-le"), "text/csv", b"Bid,Ask\n1,2\n"),
        ("Zürich;Köln;Łódź\n".encode() + b"\xe4;1\n", "text/csv", "Zürich;Köln;Łódź\n\ufffd;1\n".encode()),
        (b"item,qty\r\nbolt,40\r\n\x1a", "text/csv", b"item,qty\r\nbolt,40\r\n"),
        (b"\xff\xfe\xff", "image/png", b"\xff\xfe\xff"),
    ],
)
def test_text_files_are_sent_as_utf_8(data: bytes, mime_type: str, sent: bytes) -> None:
    assert encoded_for_model(data, mime_type) == sent


def message(text: str, role: Role) -> list[Content]:
    """Return a message of one text."""
    return [Content(role, (Text(text),))]


@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=12),
    st.one_of(st.none(), st.integers(1, 5000)),
    st.sampled_from([1.0, 0.5]),
)
def test_request_has_the_newest_messages_within_the_limit_and_begins_with_a_question(
    sizes: list[int], context_tokens: int | None, share: float
) -> None:
    roles = [Role.USER if index % 2 == 0 else Role.MODEL for index in range(len(sizes) * 2 - 1)]
    messages = [message("x" * sizes[index // 2], role) for index, role in enumerate(roles)]
    tokens = [sum(tokens_of(content, {}) for content in contents) for contents in messages]
    kept = select_newest(messages, tokens, limit_tokens(sum(tokens), context_tokens, share))
    assert kept
    assert kept == messages[len(messages) - len(kept) :]
    assert kept[0][0].role is Role.USER
    if len(kept) > 1 and context_tokens is not None:
        assert sum(tokens_of(content, {}) for contents in kept for content in contents) <= context_tokens * share
    if context_tokens is None and share == 1:
        assert kept == messages


def test_sentence_replaces_a_function_call_that_has_no_response() -> None:
    assert without_unanswered_calls([CALL, RESPONSE, TEXT]) == [CALL, RESPONSE, TEXT]
    [note, last] = without_unanswered_calls([CALL, TEXT])
    assert note == Text("[The function f was called, but it has no result.]")
    assert last == TEXT


def test_response_of_another_round_does_not_belong_to_the_call_with_its_id() -> None:
    [note] = without_unanswered_calls([CALL, FunctionResponse("f", {}, "1", round=1)])
    assert isinstance(note, Text)


def test_function_response_without_its_call_is_not_sent() -> None:
    assert without_unanswered_calls([TEXT, RESPONSE]) == [TEXT]


def test_function_responses_are_sent_with_the_role_user() -> None:
    contents = by_speaker([TEXT, CALL, RESPONSE, TEXT], is_own=False)
    assert contents == [
        Content(Role.MODEL, (TEXT, CALL), is_own=False),
        Content(Role.USER, (RESPONSE,)),
        Content(Role.MODEL, (TEXT,), is_own=False),
    ]


def test_parts_of_another_model_are_sent_without_provider_data_or_left_out() -> None:
    signed = Text("", provider_data=SIGNED)
    call = FunctionCall("f", {}, "1", provider_data=SIGNED)
    unknown = Unsupported(provider_data={"hologram": 1})
    thought = Thought("hm", provider_data=SIGNED)
    assert without_provider_data([TEXT, signed, call, unknown, thought]) == [TEXT, CALL]


def test_sentence_replaces_a_file_address_in_an_answer_of_another_model() -> None:
    """An imported answer may hold any address, and a service would read it with the rights of this server."""
    file = FileData("gs://private/report.pdf", "application/pdf", round=1)
    assert without_provider_data([file]) == [Text("[A file was here; it is not sent again.]", round=1)]


def test_thoughts_are_sent_back_only_if_they_have_provider_data() -> None:
    assert not is_sent_back(Thought("hm"), BARE, is_own=True)
    assert is_sent_back(Thought("hm", provider_data=SIGNED), BARE, is_own=True)


def test_thoughts_without_provider_data_are_sent_back_to_their_model_if_it_reads_thoughts() -> None:
    reader = replace(BARE, reads_thoughts=True)
    assert is_sent_back(Thought("hm"), reader, is_own=True)
    assert not is_sent_back(Thought("hm"), reader, is_own=False)


def test_images_made_by_a_function_are_sent_with_its_response_if_the_model_reads_images() -> None:
    image = InlineData("image/png", data=b"1", made_by="1")
    assert not is_sent_back(image, BARE, is_own=True)
    assert is_sent_back(image, replace(BARE, reads_tool_images=True), is_own=True)
    contents = by_speaker([CALL, image, RESPONSE, TEXT], is_own=True)
    assert [content.role for content in contents] == [Role.MODEL, Role.USER, Role.MODEL]


@pytest.mark.django_db
@pytest.mark.parametrize(("refusal", "is_sent"), [(None, True), (Refusal.WITHHELD, False)])
def test_images_of_a_result_that_was_not_released_are_not_sent(*, refusal: Refusal | None, is_sent: bool) -> None:
    message = make_model_message(make_conversation(), parts=())
    new = NewAttachment(
        attachment_id=uuid.uuid4(),
        owner_id=message.conversation.owner_id,
        data=png(),
        name="graph.png",
        mime_type="image/png",
        width=1,
        height=1,
        is_graph=True,
    )
    [graph] = create_attachments([new])
    parts: list[Part] = [CALL, InlineData("image/png", made_by="1"), replace(RESPONSE, made_by="1", refusal=refusal)]
    record = MessageRecord(message, message.turn, parts, {1: 0}, [PlacedAttachment(graph, 0, 1)])
    capabilities = replace(BARE, reads_tool_images=True)
    images = ReplayedImages([graph.pk])
    contents = answer_contents(record, images, capabilities, is_own=True)
    sent = [type(part) for content in contents for part in content.parts]
    assert sent == ([FunctionCall, InlineData, FunctionResponse] if is_sent else [FunctionCall, FunctionResponse])


def test_function_response_is_sent_without_the_parts_that_showed_its_progress() -> None:
    assert not is_sent_back(replace(CODE, made_by="1"), BARE, is_own=True)
    assert not is_sent_back(replace(TEXT, made_by="1"), BARE, is_own=True)
    assert is_sent_back(replace(RESPONSE, made_by="1"), BARE, is_own=True)
