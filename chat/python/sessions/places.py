"""Chooses where kernels run, and holds the client of each event loop."""

from __future__ import annotations

import asyncio
import time
import weakref
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from chat.python.kernels.client import JupyterClient
from chat.python.kernels.errors import KernelsUnavailable, ServiceNotRunning
from chat.python.kernels.places import Address, LocalService, Place, ServiceStatus, choose_place, probe_server

TURNED_OFF = "Python sessions are turned off on this server."
OTHER_PLACE = "The service for Python sessions was restarted or replaced. The variables of the session are lost."
"""Reason why a session has lost its kernel."""

_LAUNCH_ERROR_LIFETIME_S = 5.0
_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, JupyterClient] = weakref.WeakKeyDictionary()


def is_enabled() -> bool:
    """Return whether this server has Python sessions."""
    return bool(settings.KERNELS_LIMIT)


def current_place() -> Place:
    """Return the server that the settings name, or else the service on this machine."""
    directory = Path(settings.KERNEL_SERVICE_DIR)
    return choose_place(settings.JUPYTER_GATEWAY_URL, settings.JUPYTER_GATEWAY_TOKEN, directory)


def service_status() -> ServiceStatus | None:
    """Return what the service on this machine reports, or `None` if it does not answer or another server runs kernels.

    Blocks for two seconds at most.
    """
    place = current_place()
    try:
        return place.status() if isinstance(place, LocalService) else None
    except KernelsUnavailable:
        return None


def probe() -> None:
    """Check that the place of kernels answers, without starting anything. Blocks for two seconds at most.

    Raises KernelsUnavailable if it does not answer or cannot run code. Does nothing if sessions are turned off.
    """
    place = current_place()
    if not is_enabled():
        return
    if isinstance(place, LocalService):
        if error := place.status().launch_error:
            raise KernelsUnavailable(error)
    else:
        probe_server(settings.JUPYTER_GATEWAY_URL, settings.JUPYTER_GATEWAY_TOKEN)


def launch_error() -> str:
    """Return why the service on this machine can run no code; empty if it can, or if it does not answer.

    The service is asked every five seconds at most. A request takes a millisecond, or two seconds if it hangs.
    """
    return _read_launch_error(int(time.monotonic() // _LAUNCH_ERROR_LIFETIME_S))


@lru_cache(maxsize=1)
def _read_launch_error(period: int) -> str:
    status = service_status() if is_enabled() else None
    return status.launch_error if status else ""


async def present_address() -> Address | None:
    """Return the address of the place; `None` if it is the local service and its gateway does not run.

    Unlike `Place.address`, this does not start the gateway. Raises KernelsUnavailable if that service hangs.
    """
    place = current_place()
    if not isinstance(place, LocalService):
        return await place.address()
    try:
        status = await asyncio.to_thread(place.status)
    except ServiceNotRunning:
        return None
    return Address(status.url, status.token) if status.state == "running" and status.url else None


def current_client() -> JupyterClient:
    """Return the client of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = JupyterClient(current_place())
    return _clients[loop]


async def close_client() -> None:
    """Close the connections of the running event loop. The next call opens new ones."""
    client = _clients.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.aclose()
