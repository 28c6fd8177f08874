"""A model that accepts no tools is asked again without them. This is remembered for a day, or until its row changes."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from pytest_django import Settings

from chat.models import LanguageModel, SharedCount, Turn
from tests.chat.turn_driver import Tab, ask_and_wait, calls_since, count_calls, fresh_page, new_conversation
from tests.factories import make_conversation
from tests.openai_endpoints import make_endpoint_model
from tests.openai_server.server import StandInServer

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = "scenario-no-tools"
TOLD = f"{MODEL} does not support tools, so this answer was written without them."


async def offered(emulated: Settings, model: str = MODEL) -> tuple[Turn, list[bool], str]:
    """Ask in a new conversation; return the turn, whether each request offered tools, and the page."""
    conversation = await new_conversation(model=model, code_execution="on")
    before, tab = count_calls(emulated.GOOGLE_GEMINI_BASE_URL), Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "go", tab)
    page = await fresh_page(conversation)
    assert tab.page.transcript == page
    assert turn.status == "done", turn.error_detail
    calls = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    return turn, ["tools" in call["request"] for call in calls], page


async def test_model_that_refuses_tools_and_has_no_row_gets_no_tools_for_a_day(emulated: Settings) -> None:
    emulated.ALLOW_UNLISTED_MODELS = True
    turn, requests, page = await offered(emulated)
    assert requests == [True, False]
    assert (turn.engine, turn.code_execution, turn.move_reason) == ("", False, TOLD)
    assert turn.moved_before_round is None
    assert TOLD in page
    turn, requests, page = await offered(emulated)
    assert requests == [False]
    assert (turn.engine, turn.code_execution, turn.move_reason) == ("", False, "")
    assert turn.code_reason == f"{MODEL} refused tools when it was last asked, so it is asked without them for a day."
    # The refusal is stored for all processes. After a day, tools are offered again.
    assert await SharedCount.objects.filter(expires__gt=timezone.now()).aupdate(expires=timezone.now()) == 1
    assert (await offered(emulated))[1] == [True, False]


async def test_model_that_refused_tools_gets_them_again_after_its_row_has_changed(emulated: Settings) -> None:
    row = await LanguageModel.objects.acreate(name=MODEL, code_execution=True)
    assert (await offered(emulated))[1] == [True, False]
    await LanguageModel.objects.filter(pk=row.pk).aupdate(listed_at=timezone.now())
    assert (await offered(emulated))[1] == [False]
    await LanguageModel.objects.filter(pk=row.pk).aupdate(label="Another")
    turn, requests, _ = await offered(emulated)
    assert requests == [True, False]
    assert turn.move_reason == TOLD.replace(MODEL, "Another")


@pytest.mark.parametrize("endpoint", ["openai", "llamacpp", "vllm", "ollama-unrecognised"])
async def test_endpoint_model_that_refuses_functions_is_asked_without_them(
    endpoints: StandInServer, sessions: Settings, endpoint: str
) -> None:
    model = "no-tools/text"
    await database_sync_to_async(make_endpoint_model)(endpoints, endpoint, model)
    refusal = 500 if endpoint == "llamacpp" else 400
    for statuses in ([refusal, 200], [200]):
        conversation = await database_sync_to_async(make_conversation)(model=model, code_execution="on")
        before = len(endpoints.journal)
        turn = await ask_and_wait(conversation, "go")
        entries = endpoints.journal[before:]
        assert (turn.status, turn.engine) == ("done", ""), turn.error_detail
        assert [entry.status for entry in entries] == statuses
        assert "tools" not in entries[-1].body
        assert ("does not support tools" in turn.move_reason) is (len(statuses) == 2)
