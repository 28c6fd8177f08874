"""Attempts to reach servers on the host and on the internet."""

from __future__ import annotations

import errno
import socket
from typing import TypeAlias

from tests.chat.python.kernels.probes.registry import Targets, attempt, deny

Address: TypeAlias = tuple[str, int] | str


def connect(family: int, kind: int, address: Address) -> int:
    """Connect and send a byte, because connecting a UDP socket alone proves nothing."""
    with socket.socket(family, kind) as client:
        client.settimeout(2)
        client.connect(address)
        return client.send(b"x")


@attempt
def connect_to_host_over_tcp(targets: Targets) -> object:
    """Connect to a server on the host's loopback address."""
    return connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", targets["tcp_port"]))


@attempt
def connect_to_host_over_ipv6(targets: Targets) -> object:
    """Connect to the same port at the host's IPv6 loopback address."""
    return connect(socket.AF_INET6, socket.SOCK_STREAM, ("::1", targets["tcp_port"]))


@attempt
def send_udp_to_the_internet(targets: Targets) -> object:
    """Send a packet to a public address, without waiting for a response."""
    return connect(socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53))


@attempt
def reach_cloud_metadata(targets: Targets) -> object:
    """Connect to the address where clouds serve a machine's credentials."""
    return connect(socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))


@attempt
def resolve_a_host_name(targets: Targets) -> object:
    """Resolve a name by DNS."""
    return socket.getaddrinfo("example.com", 80)


@attempt
def open_raw_and_virtual_machine_sockets(targets: Targets) -> object:
    """Open sockets of families that a network namespace does not isolate: packet, vsock, Bluetooth, alg."""
    opened = []
    for family in (socket.AF_PACKET, socket.AF_VSOCK, 31, 38):
        try:
            socket.socket(family, socket.SOCK_RAW if family == socket.AF_PACKET else socket.SOCK_STREAM).close()
            opened.append(family)
        except OSError as error:
            if error.errno != errno.EPERM:
                opened.append(family)
    return opened or deny("every family")


@attempt
def connect_to_a_socket_file_of_the_host(targets: Targets) -> object:
    """Connect to a Unix socket on the host, as databases, caches and container daemons use them."""
    return connect(socket.AF_UNIX, socket.SOCK_STREAM, targets["socket_path"])


@attempt
def connect_to_an_abstract_socket_of_the_host(targets: Targets) -> object:
    """Connect to a Unix socket that has no file."""
    return connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + targets["abstract_socket"])


@attempt
def connect_to_well_known_sockets(targets: Targets) -> object:
    """Connect to Docker, PostgreSQL, Redis, D-Bus and systemd at their usual paths."""
    paths = ("/run/docker.sock", "/var/run/docker.sock", "/run/postgresql/.s.PGSQL.5432", "/run/redis/redis.sock")
    for path in (*paths, "/run/dbus/system_bus_socket", "/run/systemd/private"):
        try:
            connect(socket.AF_UNIX, socket.SOCK_STREAM, path)
        except OSError:
            continue
        return path
    deny("every socket")
