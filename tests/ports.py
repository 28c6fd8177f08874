"""Free ports for servers that tests start. No other process gets such a port while its server restarts.

Several runs on one machine do not disturb each other: a process reserves each of its ports until it ends.
"""

from __future__ import annotations

import itertools
import os
import socket
import sys
from contextlib import closing

#: These ports are below the range that systems assign to outgoing connections and to port 0. A free port in this range
#: stays free until a process asks for it by number, so a server can restart on its port.
FIRST, END = 10_240, 32_768
#: Worker N of a test run uses every port whose offset from FIRST is N modulo this number.
MAX_WORKERS = 64


def _port_cycle() -> itertools.cycle[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % MAX_WORKERS
    ports = range(FIRST + worker, END, MAX_WORKERS)
    # Begin at a port that depends on the process id, because another run may have reserved the first ports.
    start = os.getpid() % len(ports)
    return itertools.cycle([*ports[start:], *ports[:start]])


_ports = _port_cycle()
_reservations: list[socket.socket] = []


def reserve(port: int) -> bool:
    """Reserve a port among all test processes of this machine. Return whether it was free.

    Only one process can have an abstract name of a Unix socket. Linux frees the name when the process ends.
    """
    if sys.platform != "linux":
        return True
    reservation = socket.socket(socket.AF_UNIX)
    try:
        reservation.bind(f"\0plotline-test-port-{port}")
    except OSError:
        reservation.close()
        return False
    _reservations.append(reservation)
    return True


def free_port() -> int:
    """Return a port on which no process listens. Each call returns a different port."""
    for port in itertools.islice(_ports, (END - FIRST) // MAX_WORKERS):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if reserve(port):
            return port
    raise RuntimeError("No port for tests is free.")
