"""A second tool set takes part in answers by its own module and one line of settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_django import Settings

from chat.answering.turns import tool_loop
from chat.messages.closing import CUT
from chat.vocabulary.parts import OUTCOME_LOST, Display, FunctionCall, FunctionResponse, InlineData, Text
from tests.chat.answering.tools.code_server import VARIABLES, make_token
from tests.chat.answering.turns.approvals import ask_for_code, decide_and_wait, responses_in
from tests.chat.api.api_client import ApiClient
from tests.chat.test_approval import ask, decide, restart, wait_for_status
from tests.chat.turn_driver import calls_since, count_calls, fresh_page, parts_of
from tests.emulator_server import shared_emulator
from tests.live_server import Visitor, running_server
from tests.polling import wait_until

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


async def test_no_request_contains_an_unreleased_result(tables: Settings) -> None:
    """This is true for any tool set whose state text contains no data."""
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


def test_call_gets_an_error_result_and_is_not_run_again_if_the_server_is_killed_during_it(settings: Settings) -> None:
    tool_sets = json.dumps([*settings.TOOL_SETS, "tests.chat.answering.tools.table_tools.make"])
    variables = VARIABLES | {"SETTING_TOOL_SETS": tool_sets, "SETTING_TURN_LEASE_S": "2"}
    with running_server(GOOGLE_GEMINI_BASE_URL=shared_emulator(), **variables) as server:
        api = ApiClient(server, make_token(Visitor(server)))
        (server.var_dir / "hold").touch()
        turn_id, approval_id = ask(api, "function-call")
        assert decide(api, turn_id, approval_id).status_code == 202
        row_id = turn_id.replace("-", "")
        images = "SELECT count(*) FROM chat_turnevent WHERE turn_id = ? AND name = 'attachment'"
        wait_until(lambda: server.rows(images, row_id) == [(1,)])
        restart(server)
        wait_for_status(api, turn_id, "interrupted")
        wait_until(lambda: queries(server.var_dir) == ["run", "abandon"])
        parts = "SELECT kind, data FROM chat_part JOIN chat_turn USING (message_id) WHERE chat_turn.id = ?"
        rows = server.rows(f'{parts} ORDER BY chat_part."index"', row_id)
    assert [kind for kind, _ in rows] == ["function_call", "display", "inline_data", "function_response"]
    _, sentence = CUT[OUTCOME_LOST]
    assert sentence in str(rows[-1])
