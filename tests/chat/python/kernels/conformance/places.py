"""The places that the conformance suite runs against, and the differences between them that the client cannot remove.

Where a place behaves in another way, the tests assert that way too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from chat.python.kernels.places import Place, RemotePlace
from tests.jupyter_server import GATEWAY, SERVER, JupyterServerProcess, running_jupyter_server
from tests.kernel_service import KernelServiceProcess, running_service
from tests.polling import wait_until
from tests.ports import free_port


@dataclass(frozen=True)
class Differences:
    """The differences between places."""

    death_notice_s: float = 2.0
    """Time until a cell ends whose kernel has died. Jupyter's own servers look at their kernels every 3 s."""
    drops_fast_output: bool = False
    """Jupyter's own servers drop text above 1 MB/s, and everything that is displayed meanwhile."""
    limits_output_in_kernel: bool = True
    """The sandbox cuts each print, so that a gigabyte never leaves the kernel."""
    limits_memory: bool = True
    """The sandbox ends a kernel that uses too much memory. Elsewhere this is left to the operator."""


@dataclass(frozen=True)
class PlaceUnderTest:
    """One running place."""

    place: Place
    differences: Differences
    server: KernelServiceProcess | JupyterServerProcess


JUPYTER = Differences(
    death_notice_s=6.0,
    drops_fast_output=True,
    limits_output_in_kernel=False,
    limits_memory=False,
)


@contextmanager
def _run_local_service() -> Iterator[PlaceUnderTest]:
    with running_service("--warm-kernels", "0") as service:
        yield PlaceUnderTest(service.place, Differences(), service)


@contextmanager
def _run_listening_service() -> Iterator[PlaceUnderTest]:
    port, token = free_port(), secrets.token_hex(16)
    with TemporaryDirectory(prefix="plotline-token-") as folder:
        token_file = Path(folder) / "token"
        token_file.write_text(token)
        listen = ("--listen", f"127.0.0.1:{port}", "--token-file", str(token_file))
        with running_service("--warm-kernels", "0", *listen) as service:
            wait_until(lambda: service.place.status().state == "running", 60)
            place = RemotePlace(f"http://127.0.0.1:{port}", token)
            yield PlaceUnderTest(place, Differences(), service)


@contextmanager
def _run_jupyter(command: list[str]) -> Iterator[PlaceUnderTest]:
    with running_jupyter_server(command) as server:
        yield PlaceUnderTest(server.place, JUPYTER, server)


RUN_PLACE: dict[str, Callable[[], AbstractContextManager[PlaceUnderTest]]] = {
    "local-service": _run_local_service,
    "listening-service": _run_listening_service,
    "jupyter-server": lambda: _run_jupyter(SERVER),
    "kernel-gateway": lambda: _run_jupyter(GATEWAY),
}

OWN_PLACES = ("local-service", "listening-service")
"""Plotline's own service, which `make test` uses; `make drills` uses the other places, too."""
ALL_SERVERS = ("local-service", "jupyter-server", "kernel-gateway")
"""Places of modules that name none. The own service differs little if it is reached by URL, see `test_own_service`."""
MAIN_PLACES = ("local-service", "jupyter-server")
"""Places of the tests that take long. Kernel Gateway has the same code as Jupyter Server for what they check."""
