"""Pieces that arrive faster than frames may be sent are stored and shown together, whatever their source is."""

from __future__ import annotations

import asyncio
import threading

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.answering.turns import live_page
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.store import StoreResult, TurnWrite
from chat.messages.answer import Answer
from chat.models import Turn
from chat.page.relay.frames import Announcement, Step
from chat.page.relay.live_message import LiveMessage
from chat.vocabulary.parts import CodeExecutionResult
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.turn_driver import (
    WAIT_LIMIT_S,
    Tab,
    ask_and_wait,
    fresh_page,
    make_question,
    new_conversation,
    parts_of,
)
from tests.openai_endpoints import make_endpoint_conversation
from tests.openai_server.server import StandInServer

pytestmark = pytest.mark.django_db(transaction=True)

MOST_FRAMES = 40
"""Maximum number of frames. One frame for each piece would be ten times as many."""


async def test_answer_in_many_quick_pieces_is_shown_in_few_frames(endpoints: StandInServer) -> None:
    conversation = await database_sync_to_async(make_endpoint_conversation)(endpoints, "generic", "long")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    assert (turn.status, len(tab.frames) < MOST_FRAMES) == ("done", True)
    [part] = await parts_of(turn)
    assert len(part.long_text) > 100_000
    assert tab.page.transcript == await fresh_page(conversation)


async def test_2000_lines_that_a_function_prints_quickly_are_shown_in_few_frames(emulated: Settings) -> None:
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


async def test_long_frame_is_rendered_in_a_thread_and_published_even_after_a_stop(
    endpoints: StandInServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    begins, may_end = asyncio.Event(), threading.Event()
    render = live_page.frame

    def slow_frame(
        message: LiveMessage, started: PlannedTurn, answer: Answer, write: TurnWrite, stored: StoreResult
    ) -> Step | Announcement:
        if threading.current_thread() is not threading.main_thread():
            loop.call_soon_threadsafe(begins.set)
            may_end.wait(WAIT_LIMIT_S)
        return render(message, started, answer, write, stored)

    monkeypatch.setattr(live_page, "frame", slow_frame)
    conversation = await database_sync_to_async(make_endpoint_conversation)(endpoints, "generic", "long")
    tab = Tab(conversation.pk)
    with tab.following():
        started = await start_turn(make_question(conversation))
        async with asyncio.timeout(WAIT_LIMIT_S):
            await begins.wait()
        assert await stop_turn(conversation.pk)
        may_end.set()
        await Runner.current().drain()
    assert (await Turn.objects.aget(pk=started.turn.pk)).status == "stopped"
    assert tab.page.transcript == await fresh_page(conversation)
