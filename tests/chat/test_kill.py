"""`kill -9` of a streaming server: what any socket had received is in the database, and every turn ends with a notice.

PLOTLINE_TEST_KILLS sets the number of kills. The seed is fixed, so each run kills after the same delays.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from websockets.exceptions import ConnectionClosed

from chat.answers.answer import Answer
from chat.answers.log import fold
from chat.fragments import part_html, part_view
from chat.transcript.views import new_attachment_view
from tests.dom import Page
from tests.emulator_server import running_emulator
from tests.live_server import LiveServer, Visitor, running_server, send
from tests.polling import wait_until

KILLS = int(os.environ.get("PLOTLINE_TEST_KILLS") or 8)
SEED = 20261120
MODELS = ("scenario-long-60", "scenario-images", "scenario-code-two-rounds", "scenario-thoughts", "scenario-markdown")
ENDED_WITHIN_S = 10.0


@dataclass
class Listener:
    """A tab that applies each message until its server is killed."""

    conversation_id: str
    page: Page = field(default_factory=Page)
    seq: int = -1
    thread: threading.Thread | None = None

    def listen(self, visitor: Visitor, model: str) -> None:
        """Ask, then read messages in a thread."""
        visitor.post(f"/c/{self.conversation_id}/settings/", model=model)
        asked = threading.Event()

        def read() -> None:
            try:
                with visitor.socket(self.conversation_id) as socket:
                    send(socket, "go")
                    asked.set()
                    for text in socket:
                        self.page.apply(str(text))
                        self.seq = self.page.last_message.get("seq", self.seq)
            except ConnectionClosed:
                pass

        self.thread = threading.Thread(target=read)
        self.thread.start()
        assert asked.wait(20)


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
        running_server(GOOGLE_GEMINI_BASE_URL=url, TURN_LEASE_S="3") as running,
    ):
        yield running


def answer_at(server: LiveServer, turn_id: str, seq: int) -> Answer:
    """Return the answer that the log makes up to `seq`."""
    rows = server.rows("SELECT seq, name, data FROM chat_turnevent WHERE turn_id = ? ORDER BY seq", turn_id)
    return fold((name, json.loads(data)) for number, name, data in rows if number <= seq)


def rendered(answer: Answer, message_id: uuid.UUID) -> str:
    """Return the parts of an answer as a page shows them."""
    attachments = [(one.part_index, new_attachment_view(one)) for one in answer.attachments]
    return "".join(
        part_html(part_view(message_id, index, part, [view for place, view in attachments if place == index]))
        for index, part in enumerate(answer.parts)
    )


def check(server: LiveServer, kill: Kill, listener: Listener) -> str:
    """Compare one tab with the database, and return the turn's status."""
    turns = server.rows(
        "SELECT id, message_id, status, ended_at FROM chat_turn WHERE conversation_id = ?",
        listener.conversation_id.replace("-", ""),
    )
    if not turns:
        # Killed before the question was stored: no tab may have been told that it was accepted.
        assert listener.page.transcript == ""
        assert listener.page.accepted_ids == []
        return "never started"
    [(turn_id, message, status, ended_at)] = turns
    assert status in ("interrupted", "done"), status
    ended = datetime.fromisoformat(ended_at).replace(tzinfo=UTC)
    assert (ended - kill.restarted_at).total_seconds() <= ENDED_WITHIN_S
    message_id = uuid.UUID(message)
    seen = listener.page.ids.get(f"message-{message_id}-parts")
    if seen is not None:
        assert seen.inner() == rendered(answer_at(server, turn_id, listener.seq), message_id)
    seqs = [seq for (seq,) in server.rows("SELECT seq FROM chat_turnevent WHERE turn_id = ? ORDER BY seq", turn_id)]
    assert seqs == list(range(1, len(seqs) + 1))
    answer = answer_at(server, turn_id, 10**9)
    stored = server.rows('SELECT text FROM chat_part WHERE message_id = ? ORDER BY "index"', message)
    assert [text or "" for (text,) in stored] == [part.long_text for part in answer.parts]
    assert server.rows("SELECT text FROM chat_message WHERE id = ?", message) == [(answer.text,)]
    for attachment in answer.attachments:
        [(size_bytes, data)] = server.rows(
            "SELECT a.size_bytes, p.data FROM attachments_attachment a LEFT JOIN attachments_pendingupload p"
            " ON p.attachment_id = a.id WHERE a.id = ?",
            attachment.attachment_id.replace("-", ""),
        )
        assert data is None or len(data) == size_bytes
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
        for _ in range(3):
            listeners.append(Listener(visitor.new_conversation()))
            listeners[-1].listen(visitor, generator.choice(MODELS))
        time.sleep(generator.uniform(0.0, 1.5))
        server.kill()
        for listener in listeners:
            assert listener.thread
            listener.thread.join()
        server.start()
        restarted_at = datetime.now(UTC)
        kills.append(Kill(restarted_at, listeners))
    wait_until(lambda: not server.rows("SELECT 1 FROM chat_turn WHERE status IN ('queued', 'running')"), ENDED_WITHIN_S)
    statuses = [check(server, kill, listener) for kill in kills for listener in kill.listeners]
    received = sum(listener.seq > 0 for kill in kills for listener in kill.listeners)
    interrupted = statuses.count("interrupted")
    print(f"{KILLS} kills, {len(statuses)} turns: {received} had shown parts, {interrupted} were interrupted")
    assert "interrupted" in statuses
    assert received
