"""The stream itself, without a server."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from chat.api.streaming import open_streams, reader_of, stream
from chat.models import Turn
from tests.factories import make_conversation, make_model_message


@pytest.mark.django_db(transaction=True)
async def test_streams_that_are_asked_for_at_once_do_not_pass_the_limit_together(settings: Settings) -> None:
    settings.SOCKETS_LIMIT = 1
    conversation = await sync_to_async(make_conversation)()
    answer = await sync_to_async(make_model_message)(conversation)
    turn = await Turn.objects.aget(message=answer)
    user_id = conversation.owner_id

    async def told() -> bytes:
        reader = await sync_to_async(reader_of)(turn, -1)
        assert reader is not None
        return b"".join([block async for block in stream(turn, reader, user_id, lambda: True)])

    reader = await sync_to_async(reader_of)(turn, -1)
    assert reader is not None
    first = stream(turn, reader, user_id, lambda: True)
    assert b"An answer." in await anext(first)
    assert b'"code":"too_many"' in await told()
    await first.aclose()  # type: ignore[attr-defined]  # it is a generator
    assert open_streams(user_id) == 0
    assert b"An answer." in await told()
