"""Code of pinned conversations runs again at night, if their owners want it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import TypeAlias

import pytest
from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from chat.management.commands import run_pinned_again
from chat.models import Conversation, Message, PythonSession, Turn
from chat.models.list_states import ListState, list_state
from chat.python.kernels.outputs import Execution, ExecutionStatus
from chat.python.reruns import nightly
from chat.python.sessions.branch import CodeBlock
from tests.chat.python.newer_files.test_newer_files import CODE, make_analysis
from tests.factories import make_model_message, make_user_message

OnEnd: TypeAlias = Callable[[CodeBlock, Execution], Awaitable[None]]

pytestmark = pytest.mark.django_db(transaction=True)


def make_pinned(**columns: object) -> Conversation:
    """Return a pinned conversation with two blocks of code, the first of which now gives something else."""
    conversation, _ = make_analysis(CODE.replace(".sum()", ".sum() + 1"))
    values = {"nightly": True, "pinned_at": timezone.now()} | columns
    Conversation.objects.filter(pk=conversation.pk).update(**values)
    conversation.refresh_from_db()
    return conversation


def run_command() -> str:
    output = StringIO()
    call_command("run_pinned_again", stdout=output)
    return output.getvalue()


def verdicts_of(conversation: Conversation) -> list[str]:
    states = Message.objects.filter(conversation=conversation).values_list("reruns", flat=True)
    return [state["verdict"] for reruns in states for state in (reruns or {}).values()]


def test_code_of_a_pinned_conversation_is_rerun_once_in_a_night_and_the_page_shows_differences(
    sessions: Settings,
) -> None:
    conversation, other = make_pinned(), make_pinned(nightly=None)
    before = Conversation.objects.values("updated_at", "revision").get(pk=conversation.pk)
    assert run_command() == "Conversations whose code ran again: 1. differs: 1.\n"
    assert run_command() == "Conversations whose code ran again: 0.\n"
    assert (verdicts_of(conversation), verdicts_of(other)) == (["differs", "reproduced"], [])
    # The person's own session was not touched.
    assert not PythonSession.objects.exists()
    after = Conversation.objects.values("updated_at", "revision").get(pk=conversation.pk)
    assert after == before | {"revision": before["revision"] + 1}

    client = Client()
    client.force_login(conversation.owner)
    html = client.get(f"/c/{conversation.pk}/").content.decode()
    assert "1 of 2 blocks of code gave the same again. Different: 1." in html.partition('id="nightly"')[2]
    run = client.get(f"/api/v1/conversations/{conversation.pk}/").json()["nightly_run"]
    assert (run["verdict"], run["detail"]) == ("differs", "1 of 2 blocks of code gave the same again. Different: 1.")
    assert list_state(Conversation.objects.get(pk=conversation.pk)) is ListState.DIFFERS
    # The settings on the page turn nightly runs off.
    assert client.post(f"/c/{conversation.pk}/settings/", {"nightly": "false"}).status_code in (204, 302)
    assert list_state(Conversation.objects.get(pk=conversation.pk)) is ListState.NONE


def delete(conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(deleted_at=Now())


def begin_answer(conversation: Conversation) -> None:
    make_user_message(conversation)
    make_model_message(conversation, status=Turn.Status.RUNNING)


@pytest.mark.parametrize("change", [delete, begin_answer])
def test_nightly_run_stores_no_verdict_if_the_conversation_is_deleted_or_gets_an_answer(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch, change: Callable[[Conversation], None]
) -> None:
    conversation = make_pinned()

    async def run(owner_id: int, blocks: Sequence[CodeBlock], files: object, on_end: OnEnd) -> None:
        await sync_to_async(change)(conversation)
        for block in blocks:
            await on_end(block, Execution(ExecutionStatus.OK, (), 0.0, False))

    monkeypatch.setattr(nightly, "run_in_new_kernel", run)
    monkeypatch.setattr(run_pinned_again, "probe", lambda: None)
    assert run_command() == "Conversations whose code ran again: 0.\n"
    row = Conversation.with_deleted.get(pk=conversation.pk)
    # The next command tries it again.
    assert (row.nightly_at, row.nightly_result, verdicts_of(conversation)) == (None, None, [])
    assert run_command() == "Conversations whose code ran again: 0.\n"


def test_nightly_command_fails_while_another_one_runs_or_without_the_kernel_service(
    emulated: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    conversation = make_pinned()
    emulated.KERNEL_SERVICE_DIR = tmp_path
    with pytest.raises(CommandError, match="The service for Python sessions"):
        run_command()
    cache.add(nightly.LEASE_KEY, True, 60)
    monkeypatch.setattr(run_pinned_again, "probe", lambda: None)
    with pytest.raises(CommandError, match="Another process"):
        run_command()
    assert Conversation.objects.get(pk=conversation.pk).nightly_at is None
