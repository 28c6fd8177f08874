"""A download as a response."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.db import connection

from chat.exports.sending import download_response
from tests.chat.exports.building import exported, rich_conversation


@pytest.mark.django_db(transaction=True)
async def test_slow_reader_keeps_no_connection_that_others_wait_for() -> None:
    conversation = await sync_to_async(rich_conversation)()
    blocks = aiter(download_response(exported(conversation, "json")))
    assert await anext(blocks)
    assert await sync_to_async(lambda: connection.connection)() is None
    with pytest.raises(StopAsyncIteration):
        await anext(blocks)
