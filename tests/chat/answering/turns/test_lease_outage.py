"""An outage of the database that is longer than the lease ends no answer whose process lives."""

from __future__ import annotations

import time

import pytest

from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor, running_server, send
from tests.polling import wait_until
from tests.server_databases import locked_for_writing

pytestmark = pytest.mark.drill

LEASE_S = 2
OUTAGE_S = 3 * LEASE_S
ANSWERS = 6


def count(server: LiveServer, status: str) -> int:
    """Return the number of turns with this status."""
    [[number]] = server.rows("SELECT count(*) FROM chat_turn WHERE status = ?", status)
    return int(number)


def test_answers_go_on_after_an_outage_of_the_database_longer_than_the_lease() -> None:
    with (
        running_emulator(pace=1.0) as url,
        running_server(GOOGLE_GEMINI_BASE_URL=url, SETTING_TURN_LEASE_S=str(LEASE_S)) as server,
    ):
        other = LiveServer(server.var_dir, server.variables)
        other.start()
        try:
            visitor = Visitor(server)
            for _ in range(ANSWERS):
                conversation_id = visitor.new_conversation()
                visitor.post(f"/c/{conversation_id}/settings/", model="scenario-long-20")
                with visitor.socket(conversation_id) as tab:
                    client_id = send(tab, "go")
                    while client_id not in tab.recv(timeout=60):
                        pass
            assert count(server, "running") == ANSWERS
            with locked_for_writing(server.var_dir, server.database_url):
                time.sleep(OUTAGE_S)
            wait_until(lambda: count(server, "running") == 0, 60)
            assert (count(server, "done"), count(server, "interrupted")) == (ANSWERS, 0)
        finally:
            other.stop()
