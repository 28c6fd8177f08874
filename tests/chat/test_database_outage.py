"""PostgreSQL goes away while answers are written: they go on afterwards, and the log does not grow meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import requests

from tests.drills.exercise import ask, sleep_until, wait_for_text
from tests.drills.services import PostgreSQL
from tests.drills.tabs import close_open_tabs
from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor
from tests.polling import wait_until
from tests.ports import free_port
from tests.server_databases import environment, set_up

pytestmark = [pytest.mark.drill, pytest.mark.timeout(600)]

ANSWERS = 6
"""Answers that are being written. Each is open in two tabs."""
OUTAGE_S = 25.0
"""Each attempt waits 10 s for a connection, so that every part of the server has several."""
LINES_LIMIT = 25
"""Lines of an outage. There were hundreds when each attempt of each page was logged with its traceback."""
END_LIMIT_S = 90.0


@pytest.fixture
def database() -> Iterator[PostgreSQL]:
    with TemporaryDirectory(prefix="postgresql-") as folder:
        # The server may run as another user.
        Path(folder).chmod(0o711)
        server = PostgreSQL(Path(folder) / "server", free_port())
        server.start()
        try:
            yield server
        finally:
            server.stop()


def test_outage_of_postgresql_is_logged_once_by_each_part(database: PostgreSQL, tmp_path: Path) -> None:
    with running_emulator(pace=1.0) as url:
        variables = {"DATABASE_URL": database.url, "GOOGLE_GEMINI_BASE_URL": url}
        set_up(environment(tmp_path, **variables))
        server = LiveServer(tmp_path, variables)
        server.start()
        try:
            log = check_outage(server, database)
        finally:
            server.stop()
    text = "\n".join(log)
    print(text)
    assert text.count("the database cannot be reached") == text.count("the database is back after") == 1, text
    assert "Traceback" not in text
    assert len(log) <= LINES_LIMIT, text


def check_outage(server: LiveServer, database: PostgreSQL) -> list[str]:
    """Let the database go away under live answers and open pages, and return the lines of the log since then."""
    visitor = Visitor(server)
    tabs = [tab for _ in range(ANSWERS) for tab in ask(visitor, "scenario-endless-10", watchers=[visitor])]
    try:
        wait_for_text(tabs)
        earlier = len(server.log().splitlines())
        database.stop_immediately()
        ends_at = time.monotonic() + OUTAGE_S
        with suppress(requests.Timeout):
            # Its error is logged, too.
            visitor.http.get(f"{server.url}/c/{tabs[0].conversation_id}/", timeout=OUTAGE_S)
        sleep_until(ends_at)
        database.start()
        wait_until(lambda: "the database is back" in server.log(), END_LIMIT_S)
        frames = [len(tab.positions) for tab in tabs]
        wait_until(lambda: all(len(tab.positions) > before for tab, before in zip(tabs, frames, strict=True)))
        for tab in tabs[::2]:
            tab.stop_answer()
        stopped = "SELECT count(*) FROM chat_turn WHERE status = 'stopped'"
        wait_until(lambda: server.rows(stopped) == [(ANSWERS,)], END_LIMIT_S)
    finally:
        close_open_tabs()
    return server.log().splitlines()[earlier:]
