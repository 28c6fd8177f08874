"""The whole product with JUPYTER_GATEWAY_URL: turns whose code runs at an unchanged Jupyter Server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.models import PythonSession
from chat.python.sessions.places import OTHER_PLACE, close_client, current_client
from chat.python.sessions.rows import session_store
from chat.vocabulary.parts import OUTCOME_OK, CodeExecutionResult, InlineData
from tests.chat.answering.turns.session_turns import (
    ask_with_files,
    make_file,
    outputs_of,
    responses_of,
    session_conversation,
)
from tests.chat.turn_driver import Tab, ask_and_wait, parts_of
from tests.jupyter_server import SERVER, JupyterServerProcess, running_jupyter_server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server() -> Iterator[JupyterServerProcess]:
    """A running Jupyter Server."""
    with running_jupyter_server(SERVER) as server:
        yield server


@pytest_asyncio.fixture
async def jupyter_sessions(emulated: Settings, server: JupyterServerProcess) -> AsyncGenerator[Settings, None]:
    """Settings of turns whose code runs there."""
    _use(emulated, server)
    yield emulated
    await close_client()
    session_store.close_connection()


def _use(settings: Settings, server: JupyterServerProcess) -> None:
    settings.JUPYTER_GATEWAY_URL, settings.JUPYTER_GATEWAY_TOKEN = server.url, server.token


async def test_table_is_loaded_and_changed_and_plotted_in_three_turns(
    jupyter_sessions: Settings, server: JupyterServerProcess
) -> None:
    conversation = await session_conversation()
    tab = Tab(conversation.pk)
    table = await database_sync_to_async(make_file)(conversation, "sales.csv", b"month,sales\n1,10\n2,32\n")
    loaded = await ask_with_files(conversation, "import pandas\nframe = pandas.read_csv('sales.csv')", table)
    used = await ask_and_wait(conversation, "print(frame.sales.sum())\nframe.to_csv('copy.csv')", tab)
    plotted = await ask_and_wait(
        conversation, "import matplotlib.pyplot as plt\nplt.plot(frame.sales)\nplt.show()", tab
    )
    assert (loaded.status, used.status, plotted.status) == ("done", "done", "done")
    assert await outputs_of(used) == ["42\n"]
    [cell] = await responses_of(used)
    assert [file["name"] for file in cell["files"]] == ["copy.csv"]
    parts = await parts_of(plotted)
    assert [part.mime_type for part in parts if isinstance(part, InlineData)] == ["image/png"]
    assert [part.outcome for part in parts if isinstance(part, CodeExecutionResult)] == [OUTCOME_OK]
    session = await PythonSession.objects.aget(conversation=conversation)
    assert (session.state, session.place, session.execution_count) == ("running", server.url, 3)
    assert [variable["name"] for variable in session.variables] == ["frame"]
    await current_client().shut_down(session.kernel_id)


async def test_note_says_that_the_server_was_replaced_and_code_runs_at_the_new_one(
    jupyter_sessions: Settings, server: JupyterServerProcess
) -> None:
    conversation = await session_conversation()
    await ask_and_wait(conversation, "x = 20", Tab(conversation.pk))
    server.stop()
    with running_jupyter_server(SERVER) as other:
        _use(jupyter_sessions, other)
        await close_client()
        turn = await ask_and_wait(conversation, "print('x' in globals())", Tab(conversation.pk))
        assert await outputs_of(turn) == ["False\n"]
        [cell] = await responses_of(turn)
        assert OTHER_PLACE in cell["note"]
        session = await PythonSession.objects.aget(conversation=conversation)
        assert (session.state, session.place, session.generation) == ("running", other.url, 2)
