"""The websocket connection to a kernel, with limits so that no kernel fills the gateway's memory."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from traitlets import default

UNSENT_LIMIT_BYTES = 32 * 1024 * 1024
"""Maximum number of bytes that wait for a slow client. Above it, the kernel's output is not read until half is sent."""
BYTES_PER_S = 8_000_000.0
"""Bytes of text that a kernel may send per second, on average over 3 s. Plotline's client stops a cell before that."""
MESSAGES_PER_S = 3000.0
_OUTPUT_LEFT_OUT = "[output left out: the code writes faster than it can be sent]"


class LimitedConnection(ZMQChannelsWebsocketConnection):
    """Jupyter's connection, which stops reading from a kernel whose client is slow. The kernel then drops output."""

    _unsent_bytes = 0
    _is_paused = False

    @default("iopub_data_rate_limit")
    def _data_rate_default(self) -> float:
        return BYTES_PER_S

    @default("iopub_msg_rate_limit")
    def _message_rate_default(self) -> float:
        return MESSAGES_PER_S

    def write_stderr(self, error_message: str, parent_header: Mapping[str, object]) -> None:
        """Tell the client in words for users that a rate limit was reached."""
        super().write_stderr(_OUTPUT_LEFT_OUT, parent_header)

    def count_unsent(self, size_bytes: int) -> None:
        """Count bytes that were given to the websocket. A negative number: bytes that it has sent."""
        self._unsent_bytes += size_bytes
        iopub = self.channels.get("iopub")
        if iopub is None or iopub.closed():
            return
        if not self._is_paused and self._unsent_bytes > UNSENT_LIMIT_BYTES:
            self._is_paused = True
            iopub.stop_on_recv()
        elif self._is_paused and self._unsent_bytes < UNSENT_LIMIT_BYTES // 2:
            self._is_paused = False
            iopub.on_recv_stream(self.handle_outgoing_message)
