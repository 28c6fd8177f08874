"""`kill -9` of a streaming server: all that a socket has received is in the database, and each turn ends with a notice.

PLOTLINE_TEST_KILLS sets the number of kills. The seed is fixed, so each run kills after the same delays.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tests.chat.kill_drill import Listener, check_stored
from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor, running_server
from tests.polling import wait_until

pytestmark = pytest.mark.no_rerun

KILLS = int(os.environ.get("PLOTLINE_TEST_KILLS") or 1)
SEED = 20261120
MODELS = ("scenario-long-60", "scenario-images", "scenario-code-two-rounds", "scenario-thoughts", "scenario-markdown")
ENDED_WITHIN_S = 60.0


@dataclass
class Kill:
    """One kill of the server."""

    restarted_at: datetime
    listeners: list[Listener]


@pytest.fixture
def server() -> Iterator[LiveServer]:
    """A server with a short lease, so that many kills fit into one test."""
    with (
        running_emulator(pace=0.3) as url,
        running_server(GOOGLE_GEMINI_BASE_URL=url, SETTING_TURN_LEASE_S="3") as running,
    ):
        yield running


def check(server: LiveServer, restarted_at: datetime, listener: Listener) -> str:
    """Compare one tab with the database, and return the turn's status. `restarted_at`: time of the last restart."""
    turns = server.rows(
        "SELECT id, message_id, status, ended_at FROM chat_turn WHERE conversation_id = ?",
        listener.conversation_id.replace("-", ""),
    )
    if not turns:
        # The server was killed before it stored the question, so no tab may show the question as accepted.
        assert listener.page.transcript == ""
        assert listener.page.accepted_ids == []
        return "never started"
    [(turn_id, message, status, ended_at)] = turns
    assert status in ("interrupted", "done"), status
    ended = datetime.fromisoformat(ended_at).replace(tzinfo=UTC)
    assert (ended - restarted_at).total_seconds() <= ENDED_WITHIN_S
    check_stored(server, turn_id, message, listener.page, listener.seq)
    assert server.rows(
        "SELECT count(*) FROM chat_message WHERE conversation_id = ?", listener.conversation_id.replace("-", "")
    ) == [(2,)]
    return str(status)


def test_nothing_that_a_tab_received_is_lost_when_the_server_is_killed(server: LiveServer) -> None:
    generator = random.Random(SEED)
    visitor = Visitor(server)
    kills = []
    for _ in range(KILLS):
        listeners = []
        for model in ("scenario-endless", *generator.choices(MODELS, k=2)):
            listener = Listener(visitor.new_conversation())
            visitor.post(f"/c/{listener.conversation_id}/settings/", model=model)
            listener.listen(visitor, "go")
            listeners.append(listener)
        wait_until(listeners[0].has_shown_parts, ENDED_WITHIN_S)
        time.sleep(generator.uniform(0.0, 1.5))
        server.kill()
        for listener in listeners:
            assert listener.thread
            listener.thread.join()
        server.start()
        restarted_at = datetime.now(UTC)
        kills.append(Kill(restarted_at, listeners))
    wait_until(lambda: not server.rows("SELECT 1 FROM chat_turn WHERE status IN ('queued', 'running')"), ENDED_WITHIN_S)
    statuses = [check(server, kills[-1].restarted_at, listener) for kill in kills for listener in kill.listeners]
    received = sum(listener.has_shown_parts() for kill in kills for listener in kill.listeners)
    interrupted = statuses.count("interrupted")
    print(f"{KILLS} kills, {len(statuses)} turns: {received} had shown parts, {interrupted} were interrupted")
    assert interrupted >= KILLS
    assert received
