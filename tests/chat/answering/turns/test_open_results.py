"""Code of the session that has not ended when its turn ends: the page, the exports and the API show the
same outcome.
"""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone

from chat.answering.turns import recovery
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.api.session_output import Content
from chat.api.stored_events import BEFORE_FIRST, LogEvents, PartsEvents, StoredEvents
from chat.models import Conversation, Turn
from chat.vocabulary.parts import CodeExecutionResult
from tests.chat.answering.tools.recording_tools import UseTools
from tests.chat.library.exports.samples import exported_bytes
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, make_question, new_conversation, parts_of
from tests.polling import wait_until_async

pytestmark = pytest.mark.django_db(transaction=True)


def results_of(reader: StoredEvents) -> list[Content]:
    """Return the events about results of code."""
    events = []
    while True:
        page = reader.next_page()
        events += [event.content for event in page.events]
        if page.is_last or not page.has_more:
            return [content for content in events if content[0] == "code_execution_result"]


async def check_everywhere(turn: Turn, *, outcome: str, word: str, sentence: str, tag: str) -> None:
    """Check what is stored of a run that printed, drew and printed, and what everything says that reads it."""
    conversation = await Conversation.objects.aget(pk=turn.conversation_id)
    results = [part for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)]
    assert [(part.long_text, part.outcome) for part in results] == [("before\n", outcome), ("after\n", outcome)]
    page = await fresh_page(conversation)
    assert page.count(f'data-outcome="{word}"') == 1
    assert f'data-end="{word}"' in page
    exported = database_sync_to_async(exported_bytes)
    markdown = (await exported(conversation, "md")).decode()
    assert markdown.count("*The code ") == 1
    assert f"*The code {sentence}*" in markdown
    assert markdown.count("before") == markdown.count("after") == 1
    notebook = json.loads(await exported(conversation, "ipynb"))
    [cell] = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert cell["metadata"].get("tags", []) == ([tag] if tag else [])
    data = {"code_execution_output": "before\nafter\n", "code_execution_outcome": word, "id": results[0].call_id}
    for reader in (LogEvents(turn.pk, BEFORE_FIRST), PartsEvents(turn.pk, BEFORE_FIRST)):
        assert await database_sync_to_async(results_of)(reader) == [("code_execution_result", data)]


@pytest.mark.parametrize(
    ("name", "outcome", "word", "sentence", "tag"),
    [
        ("plot", "OUTCOME_OK", "success", "ran", ""),
        ("plot_fail", "OUTCOME_FAILED", "error", "failed", "raises-exception"),
        ("plot_crash", "OUTCOME_LOST", "lost", "was cut off; its result is lost", "skip-execution"),
    ],
)
async def test_page_exports_and_api_show_the_same_outcome_of_code_that_has_ended(
    use_tools: UseTools, name: str, outcome: str, word: str, sentence: str, tag: str
) -> None:
    use_tools(name)
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    assert turn.status == "done"
    assert tab.page.transcript == await fresh_page(conversation)
    await check_everywhere(turn, outcome=outcome, word=word, sentence=sentence, tag=tag)


async def start_plot(tab: Tab) -> Turn:
    """Start a turn, and return it when its code has printed, drawn and printed."""
    conversation = await Conversation.objects.select_related("owner").aget(pk=tab.conversation_id)
    started = await start_turn(make_question(conversation))
    await tab.receive_text("after")
    assert 'data-outcome="success"' not in tab.page.transcript
    return started.turn


async def test_page_exports_and_api_show_stopped_code_as_aborted(use_tools: UseTools) -> None:
    use_tools("plot_wait")
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    tab = Tab(conversation.pk)
    with tab.following():
        turn = await start_plot(tab)
        await stop_turn(conversation.pk)
        await Runner.current().drain()
    assert (await Turn.objects.aget(pk=turn.pk)).status == "stopped"
    assert tab.page.transcript == await fresh_page(conversation)
    await check_everywhere(
        turn, outcome="OUTCOME_ABORTED", word="aborted", sentence="was stopped", tag="skip-execution"
    )


async def test_page_exports_and_api_show_code_of_a_dead_server_as_lost(use_tools: UseTools) -> None:
    use_tools("plot_wait")
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    tab = Tab(conversation.pk)
    with tab.following():
        turn = await start_plot(tab)
    expired = timezone.now() - timedelta(seconds=1)
    await Turn.objects.filter(pk=turn.pk).aupdate(lease_owner="dead", lease_expires_at=expired)
    assert await database_sync_to_async(recovery.interrupt_expired)() == [conversation.pk]
    live = Runner.current()._turns.get(turn.pk)
    if live:
        live.cancel()
    await Runner.current().drain()
    assert (await Turn.objects.aget(pk=turn.pk)).status == "interrupted"
    await check_everywhere(
        turn,
        outcome="OUTCOME_LOST",
        word="lost",
        sentence="was cut off; its result is lost",
        tag="skip-execution",
    )


async def test_call_that_is_stopped_before_it_shows_code_has_no_result(use_tools: UseTools) -> None:
    tools = use_tools("wait")
    conversation = await new_conversation(model="scenario-function-call", code_execution="off")
    started = await start_turn(make_question(conversation))
    await wait_until_async(lambda: bool(tools.calls))
    await stop_turn(conversation.pk)
    await Runner.current().drain()
    assert not [part for part in await parts_of(started.turn) if isinstance(part, CodeExecutionResult)]
