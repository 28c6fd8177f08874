"""What arrives faster than frames may be sent is stored and shown together, whoever sends it in small pieces."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.vocabulary.parts import CodeExecutionResult
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, new_conversation, parts_of
from tests.openai_endpoints import make_endpoint_conversation
from tests.openai_server.server import StandInServer

pytestmark = pytest.mark.django_db(transaction=True)

MOST_FRAMES = 40
"""One for each piece would be ten times as many."""


async def test_answer_that_comes_in_many_pieces_at_once_is_shown_in_few_steps(endpoints: StandInServer) -> None:
    conversation = await database_sync_to_async(make_endpoint_conversation)(endpoints, "generic", "long")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    assert (turn.status, len(tab.frames) < MOST_FRAMES) == ("done", True)
    [part] = await parts_of(turn)
    assert len(part.long_text) > 100_000
    assert tab.page.transcript == await fresh_page(conversation)


async def test_2000_lines_that_a_function_prints_at_once_are_shown_in_few_steps(emulated: Settings) -> None:
    emulated.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(["lines"]))
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    assert (turn.status, len(tab.frames) < MOST_FRAMES) == ("done", True)
    [output] = [part.output for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)]
    assert output is not None
    assert output.splitlines() == [f"line {number}" for number in range(2_000)]
    assert tab.page.transcript == await fresh_page(conversation)
