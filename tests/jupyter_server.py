"""Runs Jupyter's own servers as processes, for tests of the client: Jupyter Server and Kernel Gateway, unchanged.

Their kernels use the Python of the kernel service. They have no sandbox, but its limit of address space.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from chat.python.kernels.interpreter import find_interpreter
from chat.python.kernels.places import RemotePlace
from tests.child_processes import terminate
from tests.polling import wait_until
from tests.ports import free_port

START_LIMIT_S = 60.0
STOP_LIMIT_S = 60.0
ADDRESS_SPACE_BYTES = 2 * 1024**3

SERVER = ["-m", "jupyter_server", "--allow-root", "--no-browser", "--ServerApp.port_retries=0"]
GATEWAY = ["-m", "kernel_gateway", "--KernelGatewayApp.port_retries=0", "--KernelGatewayApp.allow_root=True"]


class JupyterServerProcess:
    """A server that listens on loopback until `stop`."""

    def __init__(self, folder: Path, command: list[str], *arguments: str) -> None:
        """Run `SERVER` or `GATEWAY` with these arguments in a folder, and wait until it answers."""
        port, token = free_port(), secrets.token_hex(16)
        app = "ServerApp" if command is SERVER else "KernelGatewayApp"
        is_gateway = command is GATEWAY
        options = [f"--{app}.port={port}", f"--{app}.ip=127.0.0.1", *arguments]
        options += [f"--{app}.auth_token={token}"] if is_gateway else [f"--IdentityProvider.token={token}"]
        _write_kernel_spec(folder)
        (folder / "work").mkdir()
        self.log_path = folder / "log"
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", sys.executable, *command, *options],
                cwd=folder / "work",
                env=_environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.url = f"http://127.0.0.1:{port}"
        self.token = token
        self.place = RemotePlace(self.url, token)
        try:
            wait_until(self._answers, START_LIMIT_S)
        except BaseException:
            self.stop()
            raise

    def kill(self) -> None:
        """Kill the server as `kill -9` does; its kernels live on."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End the server with its kernels."""
        terminate(self.process, STOP_LIMIT_S)

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"The server ended: {self.log_path.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"{self.url}/api", timeout=60):
                return True
        except urllib.error.HTTPError as error:
            error.close()
            return True
        except OSError:
            return False


@contextmanager
def running_jupyter_server(command: list[str], *arguments: str) -> Iterator[JupyterServerProcess]:
    """Run `SERVER` or `GATEWAY` during the block."""
    with TemporaryDirectory(prefix="plotline-jupyter-", ignore_cleanup_errors=True) as folder:
        server = JupyterServerProcess(Path(folder), command, *arguments)
        try:
            yield server
        finally:
            server.stop()


def _write_kernel_spec(folder: Path) -> None:
    limits = ["prlimit", f"--as={ADDRESS_SPACE_BYTES}", "--core=0"]
    argv = [*limits, find_interpreter().executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = folder / "data/kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "JUPYTER_PLATFORM_DIRS": "1",
        "JUPYTER_PATH": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "IPYTHONDIR": str(folder / "ipython"),
        "OPENBLAS_NUM_THREADS": "1",
    }
