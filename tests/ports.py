"""Free ports for servers that tests start. No other process takes such a port while its server restarts."""

from __future__ import annotations

import itertools
import os
import socket
from contextlib import closing

#: These ports are below the range that systems assign to outgoing connections and to port 0. A free port in this range
#: stays free until a process asks for it by number, so a server can restart on its port.
FIRST, END = 10_240, 32_768
#: Worker N of a test run uses every port whose offset from FIRST is N modulo this number.
MAX_WORKERS = 64


def _port_cycle() -> itertools.cycle[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % MAX_WORKERS
    ports = range(FIRST + worker, END, MAX_WORKERS)
    # Another test run on this machine starts at another port, as its process id differs.
    start = os.getpid() % len(ports)
    return itertools.cycle([*ports[start:], *ports[:start]])


_ports = _port_cycle()


def free_port() -> int:
    """Return a port on which no process listens. Each call returns another one."""
    for port in itertools.islice(_ports, (END - FIRST) // MAX_WORKERS):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise RuntimeError("No port for tests is free.")
