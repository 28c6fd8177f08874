"""Every recording, through SDK, engine and database: kept exactly, and shown live as a reload shows it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from attachments.store import read_bytes
from chat.models import Part as PartRow
from chat.models import Turn
from chat.parts import Part, PartKind
from chat.turns.attempts import AGAIN
from chat.turns.transcript import row_part
from tests.chat.providers.recordings import FOLDER, WHY_NOT, Recording, recordings
from tests.chat.turns.running import Tab, answered, fresh_page, new_conversation
from tests.emulator_server import running_emulator

needs_recordings = pytest.mark.skipif(not recordings(), reason=WHY_NOT)
each_recording = pytest.mark.parametrize("recorded", recordings(), ids=lambda one: one.name)


@pytest.fixture(scope="module")
def emulator_url() -> Iterator[str]:
    """An emulator that replays the recordings."""
    with running_emulator(recordings=FOLDER, strict=True) as url:
        yield url


def kept(parts: list[Part]) -> list[Part]:
    """What must be stored of what was sent: increments joined, but never across a signature."""
    result: list[Part] = []
    for part in parts:
        is_plain = part.kind in (PartKind.TEXT, PartKind.THOUGHT) and part.thought_signature is None
        if is_plain and not part.text:
            continue
        if is_plain and result and result[-1].kind is part.kind and result[-1].thought_signature is None:
            result[-1] = Part(part.kind, text=(result[-1].text or "") + (part.text or ""))
            continue
        result.append(part)
    return result


def stored(message_id: uuid.UUID) -> list[Part]:
    """The parts of a message, with the bytes of their attachments."""
    rows = PartRow.objects.filter(message_id=message_id).order_by("index").select_related("attachment")
    return [with_bytes(row) for row in rows]


def with_bytes(row: PartRow) -> Part:
    part = row_part(row)
    if row.attachment is None:
        return part
    return Part(
        part.kind,
        mime_type=part.mime_type,
        data=read_bytes(row.attachment),
        thought_signature=part.thought_signature,
    )


@needs_recordings
@each_recording
@pytest.mark.django_db(transaction=True)
async def test_recording_is_kept_exactly_and_shown_as_a_reload_shows_it(
    recorded: Recording, emulator_url: str, settings: Settings
) -> None:
    settings.GOOGLE_GEMINI_BASE_URL = emulator_url
    settings.GEMINI_EMULATED = True
    settings.PROVIDER_RETRY_LIMIT_S = 1
    conversation = await new_conversation(model=f"replay-{recorded.name}")
    tab = Tab(conversation.pk)

    turn = await answered(conversation, "?", tab)

    assert await database_sync_to_async(stored)(turn.message_id) == kept(recorded.parts)
    if recorded.error:
        assert turn.status == Turn.Status.FAILED
        assert turn.error_code not in ("", "internal", "provider_error")
    else:
        assert turn.status == Turn.Status.DONE
        expected = recorded.finish_reasons[-1] if recorded.finish_reasons else "SAFETY"
        assert turn.finish_reason == expected
    if recorded.usage:
        said = recorded.usage
        if turn.finish_reason in AGAIN and not any(part.is_answer for part in recorded.parts):
            # It was asked for once more, and both attempts are paid for.
            said += recorded.usage
        assert turn.usage == {
            "prompt": said.prompt,
            "tool_use": said.tool_use,
            "thoughts": said.thoughts,
            "candidates": said.candidates,
            "cached": said.cached,
            "total": said.total,
        }
    assert tab.page.transcript == await fresh_page(conversation)
