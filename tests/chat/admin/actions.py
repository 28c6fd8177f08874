"""Submits bulk actions of the review queue."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import AsyncClient, Client

from chat.models import Conversation
from tests.chat.admin.factories import admin_url

QUEUE_URL = admin_url(Conversation)


def _form_data(action: str, selected: list[Conversation], **fields: object) -> dict[str, object]:
    return {"action": action, ACTION_CHECKBOX_NAME: [str(conversation.pk) for conversation in selected], **fields}


def post_action(client: Client, action: str, selected: list[Conversation], query: str = "", **fields: object) -> Any:  # noqa: ANN401 - the test client's response type is private to the stubs
    """Submit an action for these conversations, with further form fields."""
    return client.post(f"{QUEUE_URL}{query}", _form_data(action, selected, **fields))


async def stream_action(client: AsyncClient, action: str, selected: list[Conversation]) -> AsyncIterator[bytes]:
    """Submit an action for all conversations of the list, and return the blocks of the download."""
    response: Any = await client.post(QUEUE_URL, _form_data(action, selected, select_across="1"))
    assert response.status_code == 200
    assert response.streaming
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    stream: AsyncIterator[bytes] = response.streaming_content
    return stream
