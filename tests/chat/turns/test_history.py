"""What the model is asked in the next turn, read at the wire."""

from __future__ import annotations

import base64
import hashlib

import pytest
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from attachments.models import Attachment
from attachments.store import new_pending
from chat.models import Turn
from chat.parts import Content, Part, PartKind, Role
from chat.turns.budget import fitting, tokens_of
from chat.turns.history import answerable, by_speaker, merged, without_open_code, without_signatures
from chat.turns.runner import Runner, start_turn
from chat.turns.sent_files import as_sent
from chat.turns.starting import Edit, Version
from tests.attachments.conftest import png
from tests.chat.turns.running import answered, asking, calls_since, new_conversation, seen

TEXT = Part(PartKind.TEXT, text="t")
CODE = Part(PartKind.EXECUTABLE_CODE, text="1")
RESULT = Part(PartKind.CODE_EXECUTION_RESULT, outcome="OUTCOME_OK")


@pytest.mark.django_db(transaction=True)
async def test_files_of_a_question_are_sent_with_it(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")
    before = seen(emulated.GOOGLE_GEMINI_BASE_URL)
    file = await sync_to_async(new_pending)(
        owner_id=conversation.owner_id,
        data=png(3),
        name="photo.png",
        mime_type="image/png",
        width=8,
        height=6,
        is_graph=False,
    )
    first = await start_turn(asking(conversation, "what is this?", attachment_ids=(file.pk,)))
    await Runner.current().drain()
    turn = await Turn.objects.aget(conversation=conversation)
    assert turn.status == "done"
    await start_turn(Version(conversation.owner, conversation.pk))
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
    assert conversation.title == "what is this?"


def test_open_code_is_cut_only_at_the_end() -> None:
    assert without_open_code([CODE, RESULT, TEXT, CODE]) == [CODE, RESULT, TEXT]
    assert without_open_code([CODE, RESULT]) == [CODE, RESULT]
    assert without_open_code([CODE, CODE]) == []
    signed = Part(PartKind.TEXT, text="", thought_signature=b"s")
    assert without_open_code([TEXT, CODE, signed]) == [TEXT]
    assert without_open_code([CODE, RESULT, signed]) == [CODE, RESULT, signed]


@pytest.mark.django_db(transaction=True)
async def test_graph_goes_back_as_the_very_bytes_that_came(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-image")
    turn = await answered(conversation, "first")
    before = seen(emulated.GOOGLE_GEMINI_BASE_URL)
    await answered(conversation, "second")
    [call] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    [graph] = [part["inlineData"] for part in call["request"]["contents"][1]["parts"] if "inlineData" in part]
    data = base64.b64decode(graph["data"], altchars=b"-_")
    attachment = await Attachment.objects.aget(message_attachments__message=turn.message)
    assert hashlib.sha256(data).hexdigest() == attachment.sha256


def test_neighbours_of_one_role_are_one_content() -> None:
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
        (b"\xff\xfe\xff", "image/png", b"\xff\xfe\xff"),
    ],
)
def test_text_is_sent_in_utf_8(data: bytes, mime_type: str, sent: bytes) -> None:
    assert as_sent(data, mime_type) == sent


def text(words: str, role: Role = Role.USER) -> list[Content]:
    """A message of one text."""
    return [Content(role, (Part(PartKind.TEXT, text=words),))]


@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=12),
    st.one_of(st.none(), st.integers(1, 5000)),
    st.sampled_from([1.0, 0.5]),
)
def test_what_fits_is_the_newest_and_begins_with_a_question(
    sizes: list[int], context_tokens: int | None, share: float
) -> None:
    roles = [Role.USER if place % 2 == 0 else Role.MODEL for place in range(len(sizes) * 2 - 1)]
    messages = [text("x" * sizes[place // 2], role) for place, role in enumerate(roles)]
    kept = fitting(messages, context_tokens, share)
    assert kept
    assert kept == messages[len(messages) - len(kept) :]
    assert kept[0][0].role is Role.USER
    if len(kept) > 1 and context_tokens is not None:
        assert sum(tokens_of(content) for contents in kept for content in contents) <= context_tokens * share
    if context_tokens is None and share == 1:
        assert kept == messages


def test_calls_and_what_they_gave_are_spoken_in_turn() -> None:
    call = Part(PartKind.FUNCTION_CALL, call_id="1", fields={"name": "f"})
    response = Part(PartKind.FUNCTION_RESPONSE, call_id="1", fields={"name": "f"})
    assert answerable([call, response, TEXT]) == [call, response, TEXT]
    [note, last] = answerable([call, TEXT])
    assert (note.kind, last) == (PartKind.TEXT, TEXT)
    assert [(one.role, len(one.parts)) for one in by_speaker([TEXT, call, response, TEXT])] == [
        (Role.MODEL, 2),
        (Role.USER, 1),
        (Role.MODEL, 1),
    ]


def test_signatures_of_another_model_leave_no_empty_part() -> None:
    signed = Part(PartKind.TEXT, text="", thought_signature=b"s")
    call = Part(PartKind.FUNCTION_CALL, fields={"name": "f"}, thought_signature=b"s")
    bare = without_signatures([TEXT, signed, call], b"stand-in")
    assert [part.thought_signature for part in bare] == [None, b"stand-in"]
