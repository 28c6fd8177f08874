"""Where kernels run, and the client of the running event loop."""

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
"""Why a session has no kernel any more."""

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
    """Ask the place of kernels whether it is there; blocks for two seconds at most.

    Nothing is started. Raises KernelsUnavailable if there is no answer or no code can run, and not where sessions are
    turned off.
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
    """Return why the service on this machine can run no code; empty if it can, or nobody knows.

    The service is asked every five seconds at most. This takes a millisecond, or two seconds if it hangs.
    """
    return _read_launch_error(int(time.monotonic() // _LAUNCH_ERROR_LIFETIME_S))


@lru_cache(maxsize=1)
def _read_launch_error(period: int) -> str:
    status = service_status() if is_enabled() else None
    return status.launch_error if status else ""


async def present_address() -> Address | None:
    """Return the address of the place; `None` if it is a service that does not run. Raises KernelsUnavailable.

    Asking for the address as usual would start that service. Its kernels have ended with it.
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
