"""Downloads as streaming responses."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.db import connection

from chat.library.exports.response import download_response
from tests.chat.library.exports.samples import exported, rich_conversation


@pytest.mark.django_db(transaction=True)
async def test_database_connection_is_closed_while_the_client_reads() -> None:
    conversation = await sync_to_async(rich_conversation)()
    blocks = aiter(download_response(exported(conversation, "json"), reader="somebody"))
    assert await anext(blocks)
    assert await sync_to_async(lambda: connection.connection)() is None
    with pytest.raises(StopAsyncIteration):
        await anext(blocks)
