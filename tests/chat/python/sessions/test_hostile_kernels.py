"""A kernel that answers nothing, or nonsense, costs its own cell a few seconds, and the next cell gets a new kernel.

One that answers a cell, and nothing after it, is not ended before the next cell: code that the cell has left in the
event loop may delay all answers.
"""

from __future__ import annotations

import time

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.models import Conversation
from chat.python.kernels import client, kernel_client, request_runner
from chat.python.kernels.outputs import ErrorOutput, ExecutionStatus
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.places import close_client
from chat.python.sessions.rows import session_store
from tests.chat.python.sessions.cells import run_cell
from tests.factories import make_conversation
from tests.hostile_jupyter import HARMS, HostileServer, running_hostile_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(180)]

NEVER_S = 600.0
COST_LIMIT_S = 10.0
LOST = "The Python session was ended and its variables are lost."
NOT_INTERRUPTED = f"It could not be interrupted. {LOST}"
NOT_UNDERSTOOD = f"The cell sent what cannot be understood and was stopped. {NOT_INTERRUPTED}"
LATE = "The cell ran longer than {limit:g} s. " + NOT_INTERRUPTED
SENTENCES = {
    "silence": LATE,
    "busy": LATE,
    "no reply": f"It does not answer any more. {LOST}",
    "no idle status": f"It does not answer any more. {LOST}",
    "wrong parent of the reply": NOT_UNDERSTOOD,
    "huge": f"It sent more at once than can be read. {LOST}",
    "answers cells only": ExecutionStatus.OK,
    "flood": f"The cell wrote too much and was stopped. {NOT_INTERRUPTED}",
    "flood after idle": f"The cell wrote too much and was stopped. {NOT_INTERRUPTED}",
    "flood of others": f"The cell wrote too much and was stopped. {NOT_INTERRUPTED}",
}
"""Sentences for the reader and the model, by kind of harm. All other kinds have NOT_UNDERSTOOD."""
FLOODS = [name for name in HARMS if name.startswith("flood")]


async def run(conversation: Conversation, limit_s: float) -> str:
    """Run a cell; return the sentence with which it ends, or its status."""
    try:
        result = await run_cell(conversation, "1", limit_s=limit_s)
    except SessionUnavailable as error:
        return str(error)
    last = result.execution.outputs[-1:]
    return last[0].value if last and isinstance(last[0], ErrorOutput) else result.execution.status


async def suffer(settings: Settings, server: HostileServer, url: str, harm: str, limit_s: float) -> tuple[str, float]:
    """Run a cell that meets a harm, then one that needs a new kernel; return the sentence and seconds of the first."""
    settings.JUPYTER_GATEWAY_URL = url
    conversation = await database_sync_to_async(make_conversation)()
    server.harm = harm
    began_at = time.monotonic()
    sentence = await run(conversation, limit_s)
    duration_s = time.monotonic() - began_at
    server.harm = ""
    harmed = set(server.kernels)
    assert await run(conversation, NEVER_S) == ExecutionStatus.OK
    assert set(server.kernels) - harmed, "the next cell has no kernel of its own"
    await close_client()
    session_store.close_connection()
    return sentence, duration_s


@pytest.mark.parametrize("harm", [name for name in HARMS if name not in FLOODS])
async def test_kernel_with_invalid_messages_ends_with_an_explanation_and_is_replaced(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    monkeypatch.setattr(request_runner, "INTERRUPT_GRACE_S", 0.2)
    monkeypatch.setattr(client, "INTERRUPT_GRACE_S", 1.0)
    monkeypatch.setattr(request_runner, "_INTERRUPT_REPLY_S", 0.1)
    monkeypatch.setattr(request_runner, "_DAMAGE_GRACE_S", 0.2)
    monkeypatch.setattr(request_runner, "_LAST_MESSAGES_S", 0.2)
    monkeypatch.setattr(request_runner, "_PROBE_STEPS", 1)
    monkeypatch.setattr(kernel_client, "HELD_START_LIMIT_S", 0.2)
    limit_s = 0.2 if SENTENCES.get(harm) == LATE else NEVER_S
    async with running_hostile_server() as (server, url):
        sentence, _ = await suffer(emulated, server, url, harm, limit_s)
    assert sentence == SENTENCES.get(harm, NOT_UNDERSTOOD).format(limit=limit_s)


@pytest.mark.drill
@pytest.mark.parametrize("harm", HARMS)
async def test_cell_fails_within_ten_seconds_if_its_kernel_sends_invalid_messages(
    emulated: Settings, harm: str
) -> None:
    limit_s = 0.2 if SENTENCES.get(harm) == LATE else NEVER_S
    async with running_hostile_server() as (server, url):
        sentence, duration_s = await suffer(emulated, server, url, harm, limit_s)
    print(f"{harm}: {duration_s:.1f} s, {sentence}")
    assert duration_s < COST_LIMIT_S
    # The speed of the machine decides which limit a flood of nonsense meets first.
    assert sentence in {SENTENCES.get(harm, NOT_UNDERSTOOD).format(limit=limit_s), NOT_UNDERSTOOD}
