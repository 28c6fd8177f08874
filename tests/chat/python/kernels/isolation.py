"""Runs the attempts of `probes` in the sandbox, against targets that exist on the host."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chat.python.kernels.sandbox import ENVIRONMENT, launch, launch_error
from chat.python.kernels.service import runtime_directory
from tests.chat.python.kernels.probes.registry import Targets
from tests.environment import ROOT

PROBES = Path(__file__).with_name("probes")
LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of one attempt to escape."""

    name: str
    is_denied: bool
    detail: str


@contextmanager
def open_targets() -> Iterator[Targets]:
    """Open servers and files that every user of this machine may reach."""
    with (
        tempfile.TemporaryDirectory(prefix="plotline-probe-", dir="/tmp") as folder,
        socket.create_server(("127.0.0.1", 0)) as tcp_server,
        socket.socket(socket.AF_UNIX) as file_server,
        socket.socket(socket.AF_UNIX) as abstract_server,
    ):
        os.chmod(folder, 0o755)
        file_path, socket_path = Path(folder) / "file", Path(folder) / "socket"
        file_path.write_text("readable by anyone")
        file_server.bind(str(socket_path))
        file_server.listen()
        socket_path.chmod(0o777)
        abstract_server.bind(f"\0plotline-probe-{os.getpid()}")
        abstract_server.listen()
        yield {
            "tcp_port": tcp_server.getsockname()[1],
            "socket_path": str(socket_path),
            "abstract_socket": abstract_server.getsockname()[1:].decode(),
            "file_path": str(file_path),
            "project_path": str(ROOT / "chat/python/kernels"),
            "pid": os.getpid(),
            "environment": list(ENVIRONMENT),
        }


def probe_scripts() -> dict[str, str]:
    """Return the texts of the package `probes` and its parents, by their paths inside the sandbox."""
    parents = [folder for folder in PROBES.parents if folder.is_relative_to(ROOT / "tests")]
    paths = [*PROBES.glob("*.py"), *(folder / "__init__.py" for folder in parents)]
    return {f"/{path.relative_to(ROOT)}": path.read_text() for path in paths}


def attempt_escapes() -> tuple[AttemptResult, ...]:
    """Make every attempt in a sandbox that is launched like a kernel's."""
    directory = runtime_directory.create_short()
    try:
        with open_targets() as targets, tempfile.TemporaryFile() as output:
            arguments = (f"/{(PROBES / '__main__.py').relative_to(ROOT)}", json.dumps(targets))
            with launch(directory, *arguments, stdout=output.fileno(), scripts=probe_scripts()) as process:
                status = process.wait(LIMIT_S)
                stderr = process.stderr.read() if process.stderr else b""
            if status != 0:
                raise launch_error(stderr)
            output.seek(0)
            results = json.load(output)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return tuple(AttemptResult(name, *result) for name, result in results.items())
