"""The attempts by name, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeAlias, TypedDict


class Targets(TypedDict):
    """Existing things on the host that the attempts try to reach."""

    tcp_port: int
    """Port of a server on loopback."""
    socket_path: str
    """Path of a Unix socket that accepts connections."""
    abstract_socket: str
    """Name of an abstract Unix socket that accepts connections."""
    file_path: str
    """A file that every user of the host may read."""
    project_path: str
    """A folder of the project."""
    pid: int
    """Process ID of the launcher."""
    environment: list[str]
    """Names of the variables that programs in the sandbox may see."""


Attempt: TypeAlias = Callable[[Targets], object]

ATTEMPTS: dict[str, Attempt] = {}


def attempt(function: Attempt) -> Attempt:
    """Register an attempt under its function's name."""
    ATTEMPTS[function.__name__] = function
    return function


def deny(reason: object) -> NoReturn:
    """Report a denial that raised no error of its own."""
    raise PermissionError(str(reason))
