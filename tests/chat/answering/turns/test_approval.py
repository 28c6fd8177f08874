"""Decisions about function calls: what runs, and what the model is sent."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from chat.answering.turns import recovery, tool_loop
from chat.answering.turns.old_logs import delete_old_logs
from chat.answering.turns.resume import CodeRefused, DecisionRefused, decide_call
from chat.answering.turns.runner import Runner, decide, start_turn, stop_turn
from chat.answering.turns.start import Continue
from chat.answering.turns.turn_threads import log_folder
from chat.messages.approval import EDITED as EDITED_NOTE
from chat.messages.approval import ApprovalDecision
from chat.models import CallDecision, Conversation, Round, Turn, User
from chat.people.access import NotFound, turn_to_decide
from chat.vocabulary.parts import CodeExecutionResult, ExecutableCode, FunctionCall, FunctionResponse, Refusal
from tests.chat.answering.tools.code_tools import executed
from tests.chat.answering.turns.approvals import (
    CODE,
    EDITED,
    approval_id_of,
    ask_for_code,
    decide_and_wait,
    function_calls_in,
    reread,
    responses_in,
)
from tests.chat.library.exports.samples import exported_json
from tests.chat.turn_driver import (
    ask_and_wait,
    calls_since,
    count_calls,
    fresh_page,
    open_socket,
    parts_of,
    read_until,
    start_and_wait,
)
from tests.openai_endpoints import make_endpoint_conversation
from tests.openai_server.server import StandInServer
from tests.polling import wait_until_awaited

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("code_tools")]


async def test_approved_code_runs_as_the_model_wrote_it(emulated: Settings) -> None:
    turn = await ask_for_code()
    assert executed(emulated.VAR_DIR) == []
    turn = await decide_and_wait(turn)
    assert turn.status == "done"
    assert executed(emulated.VAR_DIR) == [CODE]
    code = next(part for part in await parts_of(turn) if isinstance(part, ExecutableCode))
    assert (code.code, code.is_edited) == (CODE, False)


async def test_code_changed_by_a_person_runs_and_the_call_is_sent_back_with_the_models_code(emulated: Settings) -> None:
    turn = await ask_for_code()
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await decide_and_wait(turn, code=EDITED)
    assert turn.status == "done"
    assert executed(emulated.VAR_DIR) == [EDITED]
    parts = await parts_of(turn)
    call = next(part for part in parts if isinstance(part, FunctionCall))
    assert call.arguments == {"code": CODE}
    assert "thought_signature" in call.provider_data
    code = next(part for part in parts if isinstance(part, ExecutableCode))
    assert (code.code, code.is_edited) == (EDITED, True)
    result = next(part for part in parts if isinstance(part, CodeExecutionResult))
    assert result.output == "changed by a person\n"
    # The emulator has checked the signature of the call that it gets back.
    [request] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    [sent_call] = function_calls_in(request)
    assert sent_call["functionCall"]["args"] == {"code": CODE}
    [response] = responses_in(request)
    assert (response["executed_code"], response["note_on_code"]) == (EDITED, EDITED_NOTE)
    assert response["output"] == "changed by a person\n"


async def test_next_turn_sends_the_call_and_the_result_of_changed_code_unchanged(emulated: Settings) -> None:
    turn = await ask_for_code()
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await decide_and_wait(turn, code=EDITED)
    await Conversation.objects.filter(pk=turn.conversation_id).aupdate(model="scenario-function-code")
    turn.conversation.model = "scenario-function-code"
    await ask_and_wait(turn.conversation, "again")
    first, second = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert function_calls_in(second) == function_calls_in(first)
    assert responses_in(second) == responses_in(first)
    assert await stop_turn(turn.conversation_id)


async def test_code_sent_with_a_decision_is_not_marked_as_edited_if_it_is_unchanged(emulated: Settings) -> None:
    turn = await ask_for_code()
    approval_id = await approval_id_of(turn)
    turn = await decide_and_wait(turn, code=CODE)
    code = next(part for part in await parts_of(turn) if isinstance(part, ExecutableCode))
    assert not code.is_edited
    # This decision means the same without repeating the code.
    assert not await decide(lambda: turn.pk, ApprovalDecision(approval_id, is_approved=True))


async def test_model_gets_the_changed_code_together_with_its_error(emulated: Settings) -> None:
    turn = await decide_and_wait(await ask_for_code(), code="1 / 0")
    response = next(part for part in await parts_of(turn) if isinstance(part, FunctionResponse))
    assert "ZeroDivisionError" in str(response.result["output"])
    assert response.result["executed_code"] == "1 / 0"


async def test_decision_with_code_is_refused_for_a_call_without_code(emulated: Settings) -> None:
    turn = await ask_for_code("function-call")
    approval_id = await approval_id_of(turn)
    with pytest.raises(CodeRefused):
        await decide(lambda: turn.pk, ApprovalDecision(approval_id, is_approved=True, code=EDITED))
    assert (await reread(turn)).status == "waiting"
    assert await approval_id_of(turn) == approval_id
    turn = await decide_and_wait(turn)
    response = next(part for part in await parts_of(turn) if isinstance(part, FunctionResponse))
    assert response.result == {"error": "There is no code to run."}


async def test_denied_call_is_not_run_and_marked_as_denied(emulated: Settings) -> None:
    turn = await decide_and_wait(await ask_for_code(), is_approved=False)
    assert turn.status == "done"
    assert executed(emulated.VAR_DIR) == []
    response = next(part for part in await parts_of(turn) if isinstance(part, FunctionResponse))
    assert (response.result, response.refusal) == ({"error": tool_loop.DENIED}, Refusal.DENIED)
    assert "Function not allowed" in await fresh_page(turn.conversation)


async def test_approval_of_several_calls_is_requested_one_after_the_other(emulated: Settings) -> None:
    turn = await ask_for_code("function-code-3")
    for is_approved, code in ((True, None), (False, None), (True, EDITED)):
        assert turn.status == "waiting"
        turn = await decide_and_wait(turn, is_approved=is_approved, code=code)
    assert turn.status == "done"
    assert executed(emulated.VAR_DIR) == [CODE, EDITED]


async def test_decisions_and_their_authors_are_kept_after_the_log_is_deleted(emulated: Settings) -> None:
    turn = await ask_for_code("function-code-2")
    turn = await decide_and_wait(turn, code=EDITED)
    turn = await decide_and_wait(turn, is_approved=False)
    call_ids = [part.call_id for part in await parts_of(turn) if isinstance(part, FunctionCall)]
    await Turn.objects.filter(pk=turn.pk).aupdate(log_kept_until=timezone.now() - timedelta(seconds=1))
    await database_sync_to_async(delete_old_logs)()
    assert not await turn.events.aexists()
    stored = [
        (one.call_id, one.is_result, one.is_approved, one.code, one.decided_by_id, one.is_timeout)
        async for one in CallDecision.objects.filter(turn=turn)
    ]
    owner_id = turn.conversation.owner_id
    assert stored == [
        (call_ids[0], False, True, EDITED, owner_id, False),
        (call_ids[1], False, False, None, owner_id, False),
    ]
    exported = await database_sync_to_async(exported_json)(turn.conversation)
    decisions = exported["messages"][1]["turn"]["decisions"]
    assert [(one["call_id"], one["code"]) for one in decisions] == [(call_ids[0], EDITED), (call_ids[1], None)]
    assert {one["decided_by"] for one in decisions} == {turn.conversation.owner.username}


# --- simultaneous decisions, and callers that are cancelled ---------------------------------------------------------


async def test_one_of_two_simultaneous_decisions_is_accepted(emulated: Settings) -> None:
    turn = await ask_for_code()
    approval_id = await approval_id_of(turn)
    decisions = [
        ApprovalDecision(approval_id, True),
        ApprovalDecision(approval_id, False),
        ApprovalDecision(approval_id, True, EDITED),
    ]
    results = await asyncio.gather(*(decide(lambda: turn.pk, one) for one in decisions), return_exceptions=True)
    await Runner.current().drain()
    assert [result for result in results if result is True] == [True]
    assert sum(isinstance(result, DecisionRefused) for result in results) == 2
    winner = decisions[results.index(True)]
    expected = [winner.code or CODE] if winner.is_approved else []
    assert executed(emulated.VAR_DIR) == expected
    assert await turn.events.filter(name="decision").acount() == 1


async def test_decision_is_carried_out_even_if_its_caller_is_cancelled(emulated: Settings) -> None:
    turn = await ask_for_code()
    caller = asyncio.create_task(
        decide(lambda: turn.pk, ApprovalDecision(await approval_id_of(turn), is_approved=True))
    )
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await wait_until_awaited(Turn.objects.filter(pk=turn.pk, status="done").aexists)
    await Runner.current().drain()
    assert executed(emulated.VAR_DIR) == [CODE]


async def test_approved_call_whose_process_crashes_is_not_run_afterwards(emulated: Settings) -> None:
    turn = await ask_for_code()
    decision = ApprovalDecision(await approval_id_of(turn), is_approved=True)
    # A process stores the decision and dies before it starts the tool.
    await log_folder.run(decide_call, lambda: turn.pk, decision, lease_owner="dead")
    expired = timezone.now() - timedelta(seconds=1)
    await Turn.objects.filter(pk=turn.pk).aupdate(lease_expires_at=expired)
    assert await database_sync_to_async(recovery.interrupt_expired)() == [turn.conversation_id]
    turn = await reread(turn)
    assert turn.status == "interrupted"
    assert executed(emulated.VAR_DIR) == []
    assert (await Round.objects.aget(turn=turn)).started_calls == []
    [response] = [part for part in await parts_of(turn) if isinstance(part, FunctionResponse)]
    assert response.refusal is Refusal.NOT_RUN
    assert (await CallDecision.objects.aget(turn=turn)).is_approved
    with pytest.raises(DecisionRefused):
        await decide(lambda: turn.pk, ApprovalDecision(decision.approval_id, is_approved=False))
    assert not await decide(lambda: turn.pk, decision)
    # The answer can be continued. The model gets a note that the call has no result.
    await Conversation.objects.filter(pk=turn.conversation_id).aupdate(model="scenario-text")
    continued = await start_and_wait(start_turn(Continue(turn.conversation.owner, turn.conversation_id)))
    assert continued.status == "done"
    assert executed(emulated.VAR_DIR) == []


async def test_decision_without_permission_changes_nothing(emulated: Settings) -> None:
    turn = await ask_for_code()
    stranger = await User.objects.acreate(username="stranger")
    decision = ApprovalDecision(await approval_id_of(turn), is_approved=True)
    with pytest.raises(NotFound):
        await decide(lambda: turn_to_decide(stranger, turn.conversation_id, turn.message_id).pk, decision)
    assert (await reread(turn)).status == "waiting"
    assert not await turn.events.filter(name="decision").aexists()
    assert executed(emulated.VAR_DIR) == []


async def send_decision(socket: WebsocketCommunicator, **fields: object) -> None:
    """Send a decision as a page does, and wait until the server has answered it."""
    await socket.send_json_to({"action": "approve", **fields})
    await read_until(socket, "composer-error")


async def test_decision_of_an_outdated_page_does_not_decide_a_later_call_with_the_same_id(
    endpoints: StandInServer, emulated: Settings
) -> None:
    # This server gives the first call of every answer the same id.
    conversation = await database_sync_to_async(make_endpoint_conversation)(endpoints, "generic", "function-code")
    stale = await reread(await ask_and_wait(conversation, "first"))
    stale_id = await approval_id_of(stale)
    assert await stop_turn(conversation.pk)
    turn = await reread(await ask_and_wait(conversation, "second"))
    calls = [await turn.events.aget(name="approval") for turn in (stale, turn)]
    assert calls[0].data["call_id"] == calls[1].data["call_id"]
    approval_id, stale_message, message = await approval_id_of(turn), str(stale.message_id), str(turn.message_id)
    refused = [
        {"call_id": stale_id},
        {"call_id": stale_id, "message_id": stale_message},
        {"call_id": calls[1].data["call_id"]},
        {"call_id": approval_id, "message_id": stale_message},
        {"call_id": approval_id, "message_id": str(uuid.uuid4())},
    ]
    socket = await open_socket(conversation)
    try:
        for fields in refused:
            await send_decision(socket, **fields)
            await Runner.current().drain()
            assert ((await reread(turn)).status, executed(emulated.VAR_DIR)) == ("waiting", []), fields
        await send_decision(socket, call_id=approval_id, message_id=message)
        await Runner.current().drain()
        assert ((await reread(turn)).status, executed(emulated.VAR_DIR)) == ("done", [CODE])
    finally:
        await socket.disconnect()


async def test_permission_to_decide_is_checked_inside_the_transaction(emulated: Settings) -> None:
    turn = await ask_for_code()
    in_transaction = []

    def authorise() -> uuid.UUID:
        in_transaction.append(connection.in_atomic_block)
        return turn.pk

    assert await decide(authorise, ApprovalDecision(await approval_id_of(turn), is_approved=False))
    await Runner.current().drain()
    # The first check, before the transaction, is needed to find the log.
    assert in_transaction == [False, True]


async def test_decision_about_a_deleted_turn_is_refused(emulated: Settings) -> None:
    turn = await ask_for_code()
    approval_id = await approval_id_of(turn)
    async with asyncio.timeout(20):
        await database_sync_to_async(_delete)(turn)
    with pytest.raises(DecisionRefused):
        await decide(lambda: turn.pk, ApprovalDecision(approval_id, is_approved=True))


def _delete(turn: Turn) -> None:
    with transaction.atomic():
        Conversation.objects.filter(pk=turn.conversation_id).delete()
