"""The calls of a Jupyter server's REST API about one kernel: start, state, interrupt, end, and its websocket.

Answers come from the server and not from the code in a kernel. They are still bounded and validated, because the
server may be another organisation's. Source: https://jupyter-server.readthedocs.io/en/latest/developers/rest-api.html
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aiohttp

from chat.python.kernels.channel_messages import MESSAGE_LIMIT_BYTES
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.outputs import clean_text
from chat.python.kernels.places import CPU_PATH, Address

logger = logging.getLogger(__name__)

START_LIMIT_S = 60.0
"""Maximum time until a kernel has started. A cluster that pulls an image needs most of it."""
CALL_LIMIT_S = 10.0
"""Time limit of the calls that do not wait for a kernel."""
SHUT_DOWN_LIMIT_S = 30.0
"""Time limit of the call that ends a kernel. Jupyter asks the kernel to end, and kills it after 5 to 10 s."""
_CONNECT_LIMIT_S = 5.0
_ALIVE_CHECK_INTERVAL_S = 2.0
_HEARTBEAT_S = 30.0
"""Interval between pings. If a ping is not answered within half of this, the connection counts as broken."""
_BODY_LIMIT_BYTES = 1024 * 1024
_REASON_LIMIT_CHARS = 300
_CPU_LIMIT_S = 10 * 365 * 24 * 3600.0
_KERNEL_ID = re.compile(r"[\w-]{1,64}", re.ASCII)

_UNREACHABLE = "The service that runs Python sessions does not answer. Try again in a moment."
_REFUSED_TOKEN = "The service that runs Python sessions refuses the access token. Ask the operator to correct it."
VARIABLES_LOST = "The Python session was ended and its variables are lost."
NOT_STARTED = "The service that runs Python sessions did not start one"


@dataclass(frozen=True, slots=True)
class EndReport:
    """The server's report about the end of a kernel."""

    reason: str
    """A sentence that says why the kernel has ended."""
    has_ended: bool
    """Whether the server has forgotten the kernel, so that it need not be shut down."""


class KernelApi:
    """The REST calls about one kernel, which its server lists under `/api/kernels/`."""

    def __init__(self, http: aiohttp.ClientSession, address: Address, kernel_id: str) -> None:
        """Create an object without a request to the server. Raises KernelGone if this cannot be the id of a kernel."""
        if not _KERNEL_ID.fullmatch(kernel_id):
            raise KernelGone("There is no such Python session.")
        self.kernel_id = kernel_id
        self._http = http
        self._address = address
        self._path = f"/api/kernels/{kernel_id}"

    @classmethod
    async def start(cls, http: aiohttp.ClientSession, address: Address) -> KernelApi:
        """Ask the server for a new kernel of its default kind. Raises KernelsUnavailable if it starts none."""
        status, body = await _call(http, address, "POST", "/api/kernels", START_LIMIT_S, {})
        kernel_id = body.get("id")
        if status not in (200, 201) or not isinstance(kernel_id, str) or not _KERNEL_ID.fullmatch(kernel_id):
            raise KernelsUnavailable(f"{NOT_STARTED}: {_reason(body) or f'HTTP status {status}.'}")
        return cls(http, address, kernel_id)

    async def model(self) -> Mapping[str, object] | None:
        """Return Jupyter's description of the kernel, or None if the server does not know it.

        Raises KernelsUnavailable if the server does not respond or responds with an error.
        """
        status, body = await _call(self._http, self._address, "GET", self._path, CALL_LIMIT_S)
        if status == 404:
            return None
        if status != 200:
            raise KernelsUnavailable(_UNREACHABLE)
        return body

    async def interrupt(self) -> None:
        """Interrupt the running cell, if the kernel exists. Raises KernelsUnavailable if its server does not answer."""
        await _call(self._http, self._address, "POST", f"{self._path}/interrupt", CALL_LIMIT_S)

    async def shut_down(self) -> None:
        """End the kernel, if it exists. Raises KernelsUnavailable if the server does not respond."""
        await _call(self._http, self._address, "DELETE", self._path, SHUT_DOWN_LIMIT_S)

    async def take_cpu_s(self) -> float | None:
        """Return the CPU seconds of all the kernel's processes since the last call.

        `None` if the kernel has ended, or if its server is not Plotline's service: other servers do not count them.
        Raises KernelsUnavailable if the server does not respond.
        """
        path = CPU_PATH.format(kernel_id=self.kernel_id)
        status, body = await _call(self._http, self._address, "POST", path, CALL_LIMIT_S)
        cpu_s = body.get("cpu_s")
        return cpu_s if status == 200 and isinstance(cpu_s, float) and 0 <= cpu_s < _CPU_LIMIT_S else None

    async def end_report(self) -> EndReport:
        """Ask the server why the kernel has ended, or does not answer."""
        try:
            status, body = await _call(self._http, self._address, "GET", self._path, CALL_LIMIT_S)
        except KernelsUnavailable:
            return EndReport("The service that runs Python sessions has stopped.", has_ended=False)
        # Jupyter servers explain the state `dead` in `reason`; the local service explains a 404 in `end`.
        reason = _reason(body, ("end",) if status == 404 else ("reason",))
        return EndReport(reason or "It ended by itself.", has_ended=status == 404)

    async def open_websocket(self) -> aiohttp.ClientWebSocketResponse:
        """Connect to a kernel once it has started. Raises KernelGone if it ends, KernelsUnavailable if that fails."""
        handshake = asyncio.create_task(self._open_websocket())
        try:
            # If the kernel dies during the handshake, a server does not end the handshake, so check the kernel.
            while not (await asyncio.wait({handshake}, timeout=_ALIVE_CHECK_INTERVAL_S))[0]:
                if await self.model() is None:
                    raise KernelGone(f"{(await self.end_report()).reason} {VARIABLES_LOST}")
            return await handshake
        finally:
            handshake.cancel()

    async def _open_websocket(self) -> aiohttp.ClientWebSocketResponse:
        url = re.sub("^http", "ws", self._address.url)
        try:
            async with asyncio.timeout(START_LIMIT_S):
                return await self._http.ws_connect(
                    f"{url}{self._path}/channels",
                    params={"session_id": uuid.uuid4().hex},
                    headers=_headers(self._address),
                    timeout=aiohttp.ClientWSTimeout(ws_close=2.0),
                    heartbeat=_HEARTBEAT_S,
                    max_msg_size=MESSAGE_LIMIT_BYTES,
                )
        except aiohttp.WSServerHandshakeError as error:
            if error.status == 404:
                raise KernelGone(VARIABLES_LOST) from error
            if error.status in (401, 403):
                raise KernelsUnavailable(_REFUSED_TOKEN) from error
            raise KernelsUnavailable(f"{NOT_STARTED}: HTTP status {error.status}.") from error
        except (aiohttp.ClientError, OSError) as error:
            logger.warning("No websocket to %s: %r", self._address.url, error)
            raise KernelsUnavailable(_UNREACHABLE) from error


def open_http_session() -> aiohttp.ClientSession:
    """Return an HTTP session for any number of kernels; it ignores the proxies of the environment.

    Every call has a connection of its own, because a kept one breaks when the local service is restarted.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, force_close=True),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )


async def _call(
    http: aiohttp.ClientSession,
    address: Address,
    method: str,
    path: str,
    limit_s: float,
    body: Mapping[str, object] | None = None,
) -> tuple[int, Mapping[str, object]]:
    """Return the status and the JSON object of an answer. Raises KernelsUnavailable without a usable answer."""
    try:
        async with http.request(
            method,
            f"{address.url}{path}",
            json=body,
            headers=_headers(address),
            timeout=aiohttp.ClientTimeout(total=limit_s, sock_connect=_CONNECT_LIMIT_S),
            # A redirect would send the token to another address.
            allow_redirects=False,
        ) as response:
            data = await _read_bounded(response)
    except (aiohttp.ClientError, OSError) as error:
        logger.warning("%s %s%s failed: %r", method, address.url, path, error)
        raise KernelsUnavailable(_UNREACHABLE) from error
    value = _parse_object(data)
    # A gateway that cannot start another kernel also responds 403. Only then does the response give a reason.
    if response.status == 401 or (response.status in (302, 403) and method == "GET"):
        raise KernelsUnavailable(_REFUSED_TOKEN)
    return response.status, value


async def _read_bounded(response: aiohttp.ClientResponse) -> bytes:
    data = bytearray()
    async for chunk in response.content.iter_any():
        data += chunk
        if len(data) > _BODY_LIMIT_BYTES:
            raise aiohttp.ClientPayloadError("the answer is too long")
    return bytes(data)


def _parse_object(data: bytes) -> Mapping[str, object]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _reason(body: Mapping[str, object], names: Sequence[str] = ("message", "reason")) -> str:
    """Return the first text among these fields, in which Jupyter's servers explain themselves."""
    texts = (clean_text(body.get(name)).strip() for name in names)
    return next((text[:_REASON_LIMIT_CHARS] for text in texts if text), "")


def _headers(address: Address) -> Mapping[str, str]:
    return {"Authorization": f"token {address.token}"} if address.token else {}
