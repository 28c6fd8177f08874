"""Attempts to escape from the sandbox, made inside it when the gateway starts.

Prints a JSON list with a description of each attempt that succeeded. The argument is a JSON object with things on the
host that an escape would reach. The file's text is passed into the sandbox, so it imports only the standard library.
The tests of the sandbox make many more attempts.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import resource
import socket
import sys
from collections.abc import Callable

NEW_USER_NAMESPACE = 0x10000000


def be_root() -> bool:
    """Return whether this process has root's user id or a capability, or can gain privileges."""
    with open("/proc/self/status") as file:
        fields = dict(line.split(":\t", 1) for line in file if ":\t" in line)
    return os.getuid() == 0 or int(fields["CapEff"], 16) != 0 or fields["NoNewPrivs"].strip() != "1"


def connect_to_host() -> bool:
    """Connect to a server on the host."""
    with socket.socket() as client:
        client.settimeout(2)
        client.connect(("127.0.0.1", targets["port"]))
    return True


def read_host_file() -> bool:
    """Read a file of the service."""
    with open(targets["path"], "rb"):
        return True


def write_outside() -> bool:
    """Write outside the working directory."""
    with open("/rt/file", "wb"):
        return True


def see_processes() -> bool:
    """Return whether more processes are visible than this sandbox has."""
    return len(glob.glob("/proc/[0-9]*")) > 8


def read_environment() -> bool:
    """Return whether a visible process has a variable that the sandbox does not set."""
    names = set()
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                names |= {entry.partition(b"=")[0].decode() for entry in file.read().split(b"\0") if entry}
        except OSError:
            continue
    return not names <= {*targets["environment"], "PWD", "LC_CTYPE", "OLDPWD"}


def make_user_namespace() -> bool:
    """Create a user namespace, which many exploits of the Linux kernel need."""
    return bool(ctypes.CDLL(None).unshare(NEW_USER_NAMESPACE) == 0)


def start_many_processes() -> bool:
    """Return whether the number of processes is not limited."""
    return resource.getrlimit(resource.RLIMIT_NPROC)[1] > int(targets["processes"])


ATTEMPTS: dict[str, Callable[[], bool]] = {
    "the code has privileges": be_root,
    "the network is reachable": connect_to_host,
    "files of this machine are readable": read_host_file,
    "files can be written outside the working directory": write_outside,
    "processes of this machine are visible": see_processes,
    "the environment of the service is visible": read_environment,
    "user namespaces can be created": make_user_namespace,
    "the number of processes is not limited": start_many_processes,
}

if __name__ == "__main__":
    targets = json.loads(sys.argv[1])
    successes = []
    for description, attempt in ATTEMPTS.items():
        try:
            if attempt():
                successes.append(description)
        except OSError:
            continue
    print(json.dumps(successes))
