"""Runs turns and records what they call. Not a test of its own: `python -m tests.measures --turn` has pytest run it."""

from __future__ import annotations

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from chat.answering.turns.runner import Runner
from tests.chat.turn_driver import Tab, new_conversation
from tests.measures.calls import ROOT, TURNS, CallRecorder, Function

pytest_plugins = ["tests.chat.conftest"]

PLAIN, WITH_CODE = "Hello", "```python\nprint(6 * 7)\n```"
SESSION = {"engine": "session", "code_execution": "on"}


@pytest.mark.django_db(transaction=True)
async def test_functions_that_a_turn_calls_are_recorded(sessions: Settings) -> None:
    # Without this, the leases of some turns would be renewed, so the figures would depend on the speed of the machine.
    sessions.TURN_LEASE_S = 3600
    recorder = CallRecorder(ROOT, "chat", "attachments")
    recorder.install()
    await ask(recorder, PLAIN)
    await ask(recorder, WITH_CODE, **SESSION)
    TURNS["turn"] = await ask(recorder, PLAIN)
    without_code = {*TURNS["turn"], *await ask(recorder, PLAIN, **SESSION)}
    TURNS["run_python"] = [name for name in await ask(recorder, WITH_CODE, **SESSION) if name not in without_code]


async def ask(recorder: CallRecorder, text: str, **settings: str) -> list[Function]:
    """Ask in a new conversation that one page follows; return the functions that ran until the answer was complete."""
    conversation = await new_conversation(**settings)
    client, tab = AsyncClient(), Tab(conversation.pk)
    await client.aforce_login(conversation.owner)
    url = f"/api/v1/conversations/{conversation.pk}/turns/"
    with tab.following(), recorder.recording() as functions:
        response = await client.post(url, {"text": text}, content_type="application/json")
        await Runner.current().drain()
    assert response.status_code == 202, response.content
    turn = await conversation.turns.select_related("message").aget()
    assert turn.status == "done"
    assert ("Your code ran" in turn.message.text) == (text == WITH_CODE)
    return list(functions)
