"""A second tool set takes part in answers by its own module and one line of settings."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from pytest_django import Settings

from chat.answering.turns import recovery, tool_loop
from chat.answering.turns.runner import Runner, decide
from chat.messages.approval import ApprovalDecision
from chat.messages.closing import CUT
from chat.models import Turn, TurnEvent
from chat.vocabulary.parts import OUTCOME_LOST, Display, FunctionCall, FunctionResponse, InlineData, Text
from tests.chat.answering.turns.approvals import approval_id_of, ask_for_code, decide_and_wait, reread, responses_in
from tests.chat.turn_driver import calls_since, count_calls, fresh_page, parts_of
from tests.polling import wait_until_awaited

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tables(emulated: Settings, tmp_path: Path) -> Settings:
    """Settings with the tool set, in a folder that notes its queries."""
    emulated.TOOL_SETS = [*emulated.TOOL_SETS, "tests.chat.answering.tools.table_tools.make"]
    emulated.VAR_DIR = tmp_path
    return emulated


def queries(folder: Path) -> list[str]:
    """Return what the tool set has noted."""
    path = folder / "queries"
    return path.read_text().split() if path.exists() else []


async def test_approved_call_shows_a_table_and_a_graph_and_returns_its_rows(tables: Settings) -> None:
    before = count_calls(tables.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_for_code("function-call")
    assert queries(tables.VAR_DIR) == []
    turn = await decide_and_wait(turn)
    assert turn.status == "done"
    assert queries(tables.VAR_DIR) == ["run"]
    call, table, graph, response, *texts = await parts_of(turn)
    assert isinstance(call, FunctionCall)
    assert isinstance(table, Display)
    assert isinstance(graph, InlineData)
    assert isinstance(response, FunctionResponse)
    assert table.made_by == graph.made_by == call.call_id
    assert all(isinstance(text, Text) for text in texts)
    page = await fresh_page(turn.conversation)
    assert "<td>Oslo</td>" in page
    assert "<img" in page
    _, request = calls_since(tables.GOOGLE_GEMINI_BASE_URL, before)
    assert responses_in(request) == [{"rows": ["Oslo"]}]
    assert "The table is cities, with Oslo." in json.dumps(request["request"])


async def test_denied_call_is_not_run(tables: Settings) -> None:
    before = count_calls(tables.GOOGLE_GEMINI_BASE_URL)
    turn = await decide_and_wait(await ask_for_code("function-call"), is_approved=False)
    assert turn.status == "done"
    assert queries(tables.VAR_DIR) == []
    _, request = calls_since(tables.GOOGLE_GEMINI_BASE_URL, before)
    assert responses_in(request) == [{"error": tool_loop.DENIED}]


async def test_no_request_contains_a_result_that_nobody_has_released(tables: Settings) -> None:
    """The tool set itself does nothing for this, but to leave its data out of its state."""
    tables.RESULTS_NEED_APPROVAL = True
    before = count_calls(tables.GOOGLE_GEMINI_BASE_URL)
    turn = await decide_and_wait(await ask_for_code("function-call"))
    assert turn.status == "waiting"
    turn = await decide_and_wait(turn, is_approved=False)
    assert turn.status == "done"
    assert queries(tables.VAR_DIR) == ["run"]
    _, request = calls_since(tables.GOOGLE_GEMINI_BASE_URL, before)
    assert responses_in(request) == [{"error": tool_loop.WITHHELD}]
    assert "Oslo" not in json.dumps(request["request"])
    assert "The table is cities." in json.dumps(request["request"])


async def test_call_whose_server_died_before_its_result_is_closed_and_not_run_again(tables: Settings) -> None:
    (tables.VAR_DIR / "hold").touch()
    turn = await ask_for_code("function-call")
    decision = ApprovalDecision(await approval_id_of(turn), True, None, decided_by=turn.conversation.owner_id)
    assert await decide(lambda: turn.pk, decision)
    is_shown = TurnEvent.objects.filter(turn=turn, name="attachment").aexists
    await wait_until_awaited(is_shown)
    expired = timezone.now() - timedelta(seconds=1)
    await Turn.objects.filter(pk=turn.pk).aupdate(lease_owner="dead", lease_expires_at=expired)
    assert await database_sync_to_async(recovery.interrupt_expired)() == [turn.conversation_id]
    if live := Runner.current()._turns.get(turn.pk):
        live.cancel()
    await Runner.current().drain()
    assert (await reread(turn)).status == "interrupted"
    assert queries(tables.VAR_DIR) == ["run", "abandon"]
    call, table, graph, response = await parts_of(turn)
    assert isinstance(call, FunctionCall)
    assert isinstance(table, Display)
    assert isinstance(graph, InlineData)
    assert isinstance(response, FunctionResponse)
    _, sentence = CUT[OUTCOME_LOST]
    assert sentence in str(response.result)
