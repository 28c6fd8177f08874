"""Turns whose code moves from the provider's sandbox to the Python session."""

from __future__ import annotations

from dataclasses import replace

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from attachments.validation import EXCEL
from chat.answering.turns import start_rules
from chat.answering.turns.runner import start_turn
from chat.providers.google.provider import GeminiProvider
from chat.python.tool_set import engine_rules
from chat.python.tool_set.factory import python_tools
from chat.vocabulary.parts import Engine, ExecutableCode
from tests.chat.answering.turns.session_turns import (
    ask_with_files,
    make_file,
    outputs_of,
    session_conversation,
    state_of,
)
from tests.chat.turn_driver import (
    Tab,
    ask_and_wait,
    calls_since,
    count_calls,
    fresh_page,
    make_question,
    parts_of,
    start_and_wait,
)
from tests.table_files import excel_file

capabilities = GeminiProvider.capabilities

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(("number", "reason"), [(1, "ran out of time"), (2, "Python module “xgboost”")])
async def test_code_moves_to_the_session_after_a_timeout_or_a_missing_module_if_engine_is_auto(
    sessions: Settings, number: int, reason: str
) -> None:
    conversation = await session_conversation(model=f"scenario-code-then-session-{number}", engine="auto")
    tab = Tab(conversation.pk)
    before = count_calls(sessions.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, "compute", tab)
    assert (turn.status, turn.engine, turn.round_count) == ("done", Engine.SESSION, 3)
    assert reason in turn.move_reason
    assert turn.moved_before_round == 1
    assert await outputs_of(turn) == ["42\n"]
    engines = [part.engine for part in await parts_of(turn) if isinstance(part, ExecutableCode)]
    assert engines == [Engine.NATIVE, Engine.SESSION]
    native, moved, last = calls_since(sessions.GOOGLE_GEMINI_BASE_URL, before)
    assert native["request"]["tools"] == [{"codeExecution": {}}]
    for call in (moved, last):
        assert [[*tool] for tool in call["request"]["tools"]] == [["functionDeclarations"]]
        assert reason in state_of(call)
    note = moved["request"]["contents"][-1]
    # No later request repeats the state.
    note["parts"].pop()
    assert note["role"] == "user"
    assert reason in note["parts"][0]["text"]
    assert reason in tab.page.transcript
    assert tab.page.transcript == await fresh_page(conversation)
    # The next turn stays in the session, and sends the answer back as it was.
    before = count_calls(sessions.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, "again", tab)
    assert (turn.engine, turn.move_reason) == (Engine.SESSION, "")
    assert "which holds the variables" in turn.code_reason
    sent = calls_since(sessions.GOOGLE_GEMINI_BASE_URL, before)[0]["request"]["contents"]
    assert note in sent


async def test_code_does_not_move_to_the_session_after_other_errors_or_if_engine_is_native(sessions: Settings) -> None:
    for number, engine in ((3, "auto"), (1, "native")):
        conversation = await session_conversation(model=f"scenario-code-then-session-{number}", engine=engine)
        turn = await ask_and_wait(conversation, "compute")
        assert (turn.status, turn.engine, turn.round_count) == ("done", Engine.NATIVE, 1)
        assert turn.move_reason == ""


async def test_code_does_not_move_to_the_session_if_sessions_are_turned_off(sessions: Settings) -> None:
    sessions.KERNELS_LIMIT = 0
    turn = await ask_and_wait(await session_conversation(model="scenario-code-then-session", engine="auto"), "go")
    assert (turn.status, turn.engine) == ("done", Engine.NATIVE)


async def test_code_runs_in_the_session_if_the_model_does_not_accept_a_workbook(sessions: Settings) -> None:
    conversation = await session_conversation(engine="auto", code_execution="auto")
    workbook = excel_file({"Sales": [["city"], ["Oslo"]]})
    file = await database_sync_to_async(make_file)(conversation, "sales.xlsx", workbook, EXCEL)
    turn = await ask_with_files(conversation, "import pandas\nprint(pandas.read_excel('sales.xlsx').city[0])", file)
    assert (turn.status, turn.engine) == ("done", Engine.SESSION)
    assert "Only code can read files like “sales.xlsx”." in turn.code_reason
    assert await outputs_of(turn) == ["Oslo\n"]


async def test_code_moves_to_the_session_if_files_are_found_too_large_when_the_request_is_made(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is also checked at the start. It may have changed when the request is made."""
    conversation = await session_conversation(engine="auto")
    file = await database_sync_to_async(make_file)(conversation, "data.csv", b"1\n" * 100_000)
    tab = Tab(conversation.pk)
    with tab.following():
        ask = make_question(conversation, "print(len(open('data.csv').read()))", attachment_ids=[file.pk])
        monkeypatch.setattr(
            GeminiProvider, "capabilities", lambda self, model: replace(capabilities(self, model), stores_files=False)
        )
        monkeypatch.setattr(engine_rules, "fits_request", lambda files, capabilities: True)
        monkeypatch.setattr(start_rules, "fits_request", lambda files, capabilities: True)
        sessions.REQUEST_FILES_LIMIT_BYTES = 100_000
        turn = await start_and_wait(start_turn(ask))
    assert (turn.status, turn.engine, turn.moved_before_round) == ("done", Engine.SESSION, 0)
    assert turn.move_reason == python_tools.too_large
    assert await outputs_of(turn) == ["200000\n"]
    assert tab.page.transcript == await fresh_page(conversation)
