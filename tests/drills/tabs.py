"""Pages of the drills: WebSocket clients that apply frames, acknowledge them and reconnect, as the real page does."""

from __future__ import annotations

import json
import threading
import time
import uuid
from dataclasses import dataclass, field

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection

from tests.chat.kill_drill import WHOLE_LOG
from tests.dom import Page
from tests.live_server import Visitor

ACK_EVERY_FRAMES = 16
ACK_AFTER_S = 1.0
RECONNECT_PAUSE_S = 0.5
CONNECTION_ERRORS = (OSError, ConnectionClosed, InvalidHandshake)


OPEN: set[Tab] = set()
"""Tabs that have not been closed."""


@dataclass(frozen=True)
class Sighting:
    """What a page showed of an answer when it lost its connection."""

    message_id: str
    html: str
    """The answer's parts."""
    seq: int
    """The last step of the turn's log that the page had applied."""


@dataclass(eq=False)
class Tab:
    """One page of a conversation. It is open from `open` to `close`, and sends `question` until it is accepted."""

    visitor: Visitor
    conversation_id: str
    question: str = ""
    client_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    page: Page = field(default_factory=Page)
    sightings: list[Sighting] = field(default_factory=list)
    positions: list[tuple[float, int]] = field(default_factory=list)
    """Monotonic time in seconds, and the step of the log that the page reached then."""
    connections: int = 0
    errors: list[BaseException] = field(default_factory=list)
    """Errors of frames that could not be applied."""
    _seq: int = -1
    _is_closing: bool = False
    _thread: threading.Thread | None = None
    _socket: ClientConnection | None = None
    _unacknowledged_frames: int = 0
    _acknowledged_at: float = 0.0

    @property
    def is_accepted(self) -> bool:
        """Whether the server has reported that it stored the question."""
        return self.client_id in self.page.accepted_ids

    @property
    def shows_answer(self) -> bool:
        """Whether the page has an answer, which may still be empty."""
        return any('data-role="model"' in message.start for message in self.page.ids["transcript"].children)

    def stop_answer(self) -> None:
        """Ask the server to stop the answer."""
        assert self._socket
        self._socket.send(json.dumps({"action": "stop"}))

    def open(self) -> None:
        """Connect in a thread."""
        OPEN.add(self)
        self._thread = threading.Thread(target=self._stay_connected, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Disconnect, and wait until the last frame is applied."""
        assert self._thread
        OPEN.discard(self)
        self._is_closing = True
        if self._socket:
            self._socket.close()
        self._thread.join()

    def _stay_connected(self) -> None:
        while not self._is_closing:
            try:
                with self.visitor.socket(self.conversation_id, ping_interval_s=None) as socket:
                    self._socket = socket
                    self.connections += 1
                    try:
                        self._read(socket)
                    finally:
                        self._note_sighting()
            except CONNECTION_ERRORS:
                pass
            except (AssertionError, KeyError, ValueError) as error:
                # A frame does not fit the page. The checker reports this error.
                self.errors.append(error)
            if not self._is_closing:
                time.sleep(RECONNECT_PAUSE_S)

    def _read(self, socket: ClientConnection) -> None:
        if self.question and not self.is_accepted:
            socket.send(json.dumps({"action": "send", "text": self.question, "client_id": self.client_id}))
        for message in socket:
            self.page.apply(str(message))
            self._note_position()
            self._acknowledge(socket)

    def _note_position(self) -> None:
        message = self.page.last_message
        if "seq" in message:
            # A snapshot without a live turn shows all turns up to their ends.
            self._seq = message["seq"] if message["turn"] else WHOLE_LOG
            if self.shows_answer:
                self.positions.append((time.monotonic(), self._seq))

    def _acknowledge(self, socket: ClientConnection) -> None:
        message = self.page.last_message
        if "seq" not in message:
            return
        self._unacknowledged_frames += 1
        is_due = time.monotonic() - self._acknowledged_at >= ACK_AFTER_S
        if is_due or self._unacknowledged_frames >= ACK_EVERY_FRAMES:
            self._unacknowledged_frames, self._acknowledged_at = 0, time.monotonic()
            socket.send(json.dumps({"action": "ack", "turn": message["turn"], "seq": message["seq"]}))

    def _note_sighting(self) -> None:
        for element_id, element in list(self.page.ids.items()):
            if element_id.startswith("message-") and element_id.endswith("-parts"):
                message_id = element_id.removeprefix("message-").removesuffix("-parts")
                self.sightings.append(Sighting(message_id, element.inner(), self._seq))


def close_open_tabs() -> None:
    """Close tabs that a drill has left open, because their threads would keep this process alive."""
    for tab in list(OPEN):
        tab.close()


def measure_lag_s(leader: Tab, follower: Tab, began_at: float, ended_at: float) -> float:
    """Return the longest time that the follower's page was behind the leader's, between two monotonic times.

    For each step that the leader's page showed in that time, the lag ends when the follower's page shows this step or
    a later one.
    """
    longest = 0.0
    for shown_at, seq in leader.positions:
        if not began_at <= shown_at <= ended_at:
            continue
        later = [at for at, other in follower.positions if other >= seq]
        longest = max(longest, (min(later) if later else time.monotonic()) - shown_at)
    return longest
