"""Servers of chat completions run no tools themselves, so what the catalogue says about such tools is ignored."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async

from chat.answering.prompt.instructions import default_texts
from chat.models import Conversation
from tests.chat.turn_driver import ask_and_wait
from tests.factories import make_conversation
from tests.openai_endpoints import GOOGLE, make_endpoint_model
from tests.openai_server.server import StandInServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("endpoint", ["generic", GOOGLE])
async def test_model_gets_the_python_session_although_its_row_lists_built_in_tools(
    endpoints: StandInServer, endpoint: str
) -> None:
    def make() -> Conversation:
        ticks = {"code_execution": True, "web_search": True, "url_context": True, "functions_beside_tools": True}
        make_endpoint_model(endpoints, endpoint, "text", **ticks)
        return make_conversation(model="text", code_execution="on", web_search="on")

    conversation = await database_sync_to_async(make)()
    before = len(endpoints.journal)
    turn = await ask_and_wait(conversation, "What is 2 to the power of 100?")
    assert (turn.status, turn.engine, turn.offers_session) == ("done", "session", False)
    [entry] = endpoints.journal[before:]
    assert entry.error is None
    assert entry.body["tools"][0]["function"]["name"] == "run_python"
    assert "extra_body" not in entry.body
    texts = default_texts()
    assert entry.messages[0]["content"] == f"{texts['general']}\n\n{texts['python_session']}"
