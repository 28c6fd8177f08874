"""A picture of a model of chat completions, through whole turns: live, stored, reloaded, in the API and sent back."""

from __future__ import annotations

import json

import pytest
from channels.db import database_sync_to_async
from django.http import StreamingHttpResponse
from django.test import AsyncClient

from chat.models import Conversation, MessageAttachment, User
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, parts_of
from tests.openai_endpoints import make_endpoint_conversation
from tests.openai_server.server import StandInServer
from tests.openai_server.violations import image_urls

pytestmark = pytest.mark.django_db(transaction=True)

BASE64 = "iVBORw0KGgo"


async def download(conversation: Conversation, path: str) -> str:
    """Return what the API answers to the owner of the conversation."""
    client = AsyncClient()
    await client.aforce_login(await User.objects.aget(pk=conversation.owner_id))
    response = await client.get(f"/api/v1/{path}")
    assert response.status_code == 200
    assert isinstance(response, StreamingHttpResponse)
    return b"".join([block async for block in response]).decode()


@pytest.mark.parametrize("code_execution", ["off", "on"])
async def test_image_of_the_model_is_stored_and_sent_back_like_images_of_gemini(
    endpoints: StandInServer, code_execution: str
) -> None:
    conversation = await database_sync_to_async(make_endpoint_conversation)(
        endpoints, "generic", "image-model", code_execution=code_execution
    )
    tab, before = Tab(conversation.pk), len(endpoints.journal)
    turn = await ask_and_wait(conversation, "Draw a curve.", tab)
    assert turn.message.text == "Here is your picture:\n\n[IMAGE:0]\n"
    link = await MessageAttachment.objects.select_related("attachment").aget(message=turn.message_id)
    stored = link.attachment
    assert (stored.is_graph, stored.mime_type, stored.width) == (False, "image/png", 640)
    assert tab.page.transcript.count("<img") == 1
    assert tab.page.transcript == await fresh_page(conversation)
    assert BASE64 not in tab.page.transcript
    events = await download(conversation, f"turns/{turn.pk}/events/")
    assert f'"attachment_id": "{stored.pk}"'.replace(" ", "") in events.replace(" ", "")
    assert "event: image" in events
    assert "Here is your picture" in await download(conversation, f"conversations/{conversation.pk}/export/md/")

    await ask_and_wait(conversation, "Make it blue.", tab)
    _, entry = endpoints.journal[before:]
    [url] = [url for message in entry.messages for url in image_urls(message)]
    assert BASE64 in url
    assert BASE64 not in json.dumps(entry.messages).replace(url, "")


async def test_answer_with_only_an_image_is_complete(endpoints: StandInServer) -> None:
    conversation = await database_sync_to_async(make_endpoint_conversation)(endpoints, "generic", "picture-alone")
    tab, before = Tab(conversation.pk), len(endpoints.journal)
    turn = await ask_and_wait(conversation, "Draw.", tab)
    assert (turn.status, turn.finish, len(endpoints.journal[before:])) == ("done", "stop", 1)
    assert "empty answer" not in tab.page.transcript
    assert [type(part).__name__ for part in await parts_of(turn)] == ["InlineData"]
