"""Kernels that end by themselves while no code runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.models import PythonSession
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.sessions.losses import note_if_lost, note_losses
from chat.python.sessions.places import OTHER_PLACE, close_client, current_client
from chat.python.sessions.rows import State
from tests.chat.python.sessions.session_rows import make_session, soon
from tests.chat.python.sessions.test_reaper import in_thread, kernel_of
from tests.factories import make_conversation
from tests.kernel_service import kernel_state, running_service
from tests.polling import wait_until_awaited
from tests.ports import free_port

pytestmark = pytest.mark.django_db(transaction=True)

DIES_SOON = """
import os, subprocess
subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -9 {os.getpid()}"])
x = 1
"""


async def dead_session() -> PythonSession:
    """Return the session of a kernel that was killed after its cell; its row says that it runs."""
    session = await kernel_of(await in_thread(make_conversation), DIES_SOON)

    async def has_ended() -> bool:
        return await kernel_state(current_client(), session.kernel_id) == ""

    await wait_until_awaited(has_ended)
    return session


async def test_session_of_a_killed_kernel_is_lost_and_others_are_not(sessions: Settings) -> None:
    living = await kernel_of(await in_thread(make_conversation))
    assert not await in_thread(note_losses)
    dead = await dead_session()
    assert await in_thread(note_losses) == 1
    for session in (living, dead):
        await session.arefresh_from_db()
    assert (living.state, living.note) == (State.RUNNING, "")
    assert (dead.state, dead.kernel_id, dead.variables) == (State.STOPPED, "", [])
    assert dead.note.endswith("The Python session was ended and its variables are lost.")
    assert not await in_thread(note_losses)


async def test_session_that_is_running_code_is_not_marked_as_lost_by_other_processes(sessions: Settings) -> None:
    session = await dead_session()
    await PythonSession.objects.filter(pk=session.pk).aupdate(busy_until=soon())
    assert not await in_thread(note_losses)
    await session.arefresh_from_db()
    assert not await note_if_lost(session)
    assert session.state == State.RUNNING


async def test_sessions_of_a_stopped_kernel_service_are_lost_and_the_service_is_not_started(
    emulated: Settings, tmp_path: Path
) -> None:
    with running_service(directory=tmp_path) as service:
        emulated.KERNEL_SERVICE_DIR = tmp_path
        session = await kernel_of(await in_thread(make_conversation))
        await close_client()
        await database_sync_to_async(service.place.stop)()
        assert await in_thread(note_losses) == 1
        assert service.place.status().state == "stopped"
        await session.arefresh_from_db()
        assert (session.state, session.note) == (State.STOPPED, OTHER_PLACE)
        await PythonSession.objects.filter(pk=session.pk).aupdate(state=State.RUNNING, kernel_id="k.1")
    # The whole service has gone.
    assert await in_thread(note_losses) == 1


async def test_sessions_are_not_lost_if_the_folder_of_the_service_is_missing(
    emulated: Settings, tmp_path: Path
) -> None:
    emulated.KERNEL_SERVICE_DIR = tmp_path / "elsewhere"
    session = await in_thread(lambda: make_session(place="http://127.0.0.1:1"))
    with pytest.raises(KernelsUnavailable):
        await in_thread(note_losses)
    await session.arefresh_from_db()
    assert session.state == State.RUNNING


async def test_sessions_are_not_lost_if_the_kernel_server_does_not_answer(emulated: Settings) -> None:
    emulated.JUPYTER_GATEWAY_URL = f"http://127.0.0.1:{free_port()}"
    session = await in_thread(lambda: make_session(place=emulated.JUPYTER_GATEWAY_URL))
    with pytest.raises(KernelsUnavailable):
        await in_thread(note_losses)
    assert not await note_if_lost(session)
    await close_client()
    await session.arefresh_from_db()
    assert session.state == State.RUNNING


async def test_sessions_are_lost_if_the_settings_name_another_kernel_server(
    emulated: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    emulated.JUPYTER_GATEWAY_URL = "http://new.example"
    session = await in_thread(lambda: make_session(place="http://old.example"))
    assert await in_thread(note_losses) == 1
    await session.arefresh_from_db()
    assert (session.state, session.note) == (State.STOPPED, OTHER_PLACE)
    assert "1 Python sessions at http://old.example are lost" in caplog.text
