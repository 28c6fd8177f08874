"""Ports for servers that tests start, which nobody takes between two starts."""

from __future__ import annotations

import itertools
import os
import socket
from contextlib import closing

#: Below those that systems give to connections and to port 0: what is free here stays free until somebody asks for it
#: by its number, so a server can be killed and come back on its port.
FIRST, END = 10_240, 32_768
#: Each worker of a test run has every so manieth port.
LANES = 64


def _ports() -> itertools.cycle[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % LANES
    lane = range(FIRST + worker, END, LANES)
    # Another test run on this machine most likely starts elsewhere in the lane.
    start = os.getpid() % len(lane)
    return itertools.cycle([*lane[start:], *lane[:start]])


_lane = _ports()


def free_port() -> int:
    """A port that nothing listens on; another one with each call."""
    for port in itertools.islice(_lane, (END - FIRST) // LANES):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise RuntimeError("all ports for tests are taken")
