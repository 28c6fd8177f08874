"""Helpers of drills with `kill -9`: a tab that reads until its server is killed, and a comparison with the database."""

from __future__ import annotations

import json
import threading
import uuid
from dataclasses import dataclass, field

from django.utils import timezone
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from chat.messages.answer import Answer
from chat.messages.log import fold
from chat.models import Message, Turn
from chat.page.fragments import part_html
from chat.page.transcript.views import answer_view
from tests.dom import Page, without_reruns
from tests.live_server import LiveServer, Visitor, send

ASK_LIMIT_S = 60.0
WHOLE_LOG = 10**9


@dataclass
class Listener:
    """A tab that applies each message until it is closed or its server is killed."""

    conversation_id: str
    page: Page = field(default_factory=Page)
    seq: int = -1
    """The last step of the log that the page shows."""
    client_id: str = ""
    """The `client_id` of the question."""
    received: list[str] = field(default_factory=list)
    thread: threading.Thread | None = None
    _socket: ClientConnection | None = None

    def listen(self, visitor: Visitor, text: str) -> None:
        """Ask, then read messages in a thread."""
        asked = threading.Event()

        def read() -> None:
            try:
                with visitor.socket(self.conversation_id) as self._socket:
                    self.client_id = send(self._socket, text)
                    asked.set()
                    for message in self._socket:
                        self.received.append(str(message))
                        self.page.apply(str(message))
                        self._note_position()
            except ConnectionClosed:
                pass

        self.thread = threading.Thread(target=read)
        self.thread.start()
        assert asked.wait(ASK_LIMIT_S)

    def _note_position(self) -> None:
        if "seq" in self.page.last_message:
            # A snapshot without a live turn shows all turns up to their ends.
            self.seq = self.page.last_message["seq"] if self.page.last_message["turn"] else WHOLE_LOG

    def has_shown_parts(self) -> bool:
        """Return whether the page shows a part of the answer."""
        return self.seq > 0

    def close(self) -> None:
        """Close the tab, if it is open, and wait until its last message is applied."""
        assert self.thread
        assert self._socket
        self._socket.close()
        self.thread.join()


def answer_at(server: LiveServer, turn_id: str, seq: int = WHOLE_LOG) -> Answer:
    """Return the answer that the rows of the log up to `seq` make."""
    rows = server.rows("SELECT seq, name, data FROM chat_turnevent WHERE turn_id = ? ORDER BY seq", turn_id)
    return fold((name, json.loads(data)) for number, name, data in rows if number <= seq)


def rendered(answer: Answer, message_id: uuid.UUID) -> str:
    """Return the parts of a live answer as a page shows them."""
    message = Message(pk=message_id, conversation_id=uuid.UUID(int=0), created_at=timezone.now())
    turn = Turn(message=message, status=Turn.Status.RUNNING, provider="gemini", model="scenario")
    view = answer_view(message, turn, answer)
    return "".join(map(part_html, view.parts))


def check_stored(server: LiveServer, turn_id: str, message: str, page: Page, seq: int) -> bool:
    """Assert that the database holds what a page showed of an answer, and return whether it showed anything of it."""
    message_id = uuid.UUID(message)
    seen = page.ids.get(f"message-{message_id}-parts")
    if seen is not None:
        assert without_reruns(seen.inner()) == rendered(answer_at(server, turn_id, seq), message_id)
    seqs = [seq for (seq,) in server.rows("SELECT seq FROM chat_turnevent WHERE turn_id = ? ORDER BY seq", turn_id)]
    assert seqs == list(range(1, len(seqs) + 1))
    answer = answer_at(server, turn_id)
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
    return seen is not None
