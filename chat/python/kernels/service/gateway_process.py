"""The gateway as a child process: start it, check its health, end it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from chat.python.kernels.interpreter import PROJECT
from chat.python.kernels.service.options import HEALTH_PATH, GatewayOptions

START_LIMIT_S = 60.0
STOP_LIMIT_S = 3.0
_PASSED_VARIABLES = ("PATH", "KERNEL_PYTHON", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
_RESPONSE_LIMIT_BYTES = 64 * 1024


class GatewayFailed(Exception):
    """The gateway did not start; the message is a sentence for operators."""


@dataclass(frozen=True, slots=True)
class Health:
    """The gateway's answer to a health check."""

    kernels: int
    warm_kernels: int


class GatewayProcess:
    """A running gateway; `start` creates one."""

    def __init__(self, process: asyncio.subprocess.Process, options: GatewayOptions) -> None:
        """Use `start` instead."""
        self._process = process
        self._options = options

    @classmethod
    async def start(cls, options: GatewayOptions) -> GatewayProcess:
        """Start a gateway and wait until it accepts connections. Raises GatewayFailed if it does not start.

        Call this on the main thread: the gateway ends with the thread that started it.
        """
        options = replace(options, parent_pid=os.getpid())
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "chat.python.kernels.service.gateway"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=_environment(Path(options.directory)),
            cwd=PROJECT,
            # Ctrl-C in a terminal must reach only the supervisor, which then ends the gateway.
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(options.to_json().encode() + b"\n")
            process.stdin.close()
            async with asyncio.timeout(START_LIMIT_S):
                line = await process.stdout.readline()
            report = json.loads(line) if line else {}
        except (OSError, ValueError, TimeoutError):
            report = {}
        except BaseException:
            await cls(process, options).end()
            raise
        if "port" in report:
            return cls(process, replace(options, port=report["port"]))
        await cls(process, options).end()
        raise GatewayFailed(
            report.get("error")
            or f"The gateway for Python sessions did not start (exit status {process.returncode}). Its log says why."
        )

    @property
    def url(self) -> str:
        """The base URL of its API, on this machine."""
        host = self._options.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self._options.port}"

    async def wait(self) -> int:
        """Wait until the process ends, and return its exit status."""
        return await self._process.wait()

    async def check(self, limit_s: float) -> Health | None:
        """Return the gateway's health, or None if it does not answer within this time."""
        host = "127.0.0.1" if self._options.host == "0.0.0.0" else self._options.host
        request = (
            f"GET {HEALTH_PATH} HTTP/1.0\r\nHost: {host}\r\nAuthorization: token {self._options.token}\r\n\r\n"
        ).encode()
        try:
            async with asyncio.timeout(limit_s):
                reader, writer = await asyncio.open_connection(host, self._options.port)
                try:
                    writer.write(request)
                    response = await reader.read(_RESPONSE_LIMIT_BYTES)
                finally:
                    writer.close()
            numbers = json.loads(response.partition(b"\r\n\r\n")[2])
            return Health(numbers["kernels"], numbers["warm_kernels"])
        except (OSError, ValueError, KeyError, TypeError, TimeoutError):
            return None

    async def end(self) -> None:
        """End the process and with it all kernels: by SIGTERM, and by SIGKILL if it still runs after `STOP_LIMIT_S`."""
        for send, limit_s in ((self._process.terminate, STOP_LIMIT_S), (self._process.kill, None)):
            with suppress(ProcessLookupError):
                send()
            with suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    await self._process.wait()
                return

    async def kill(self) -> None:
        """End the process by force."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


def _environment(directory: Path) -> dict[str, str]:
    """Return the gateway's environment. Jupyter's folders are its own folder, so that it reads no configuration."""
    passed = {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ}
    jupyter = {f"JUPYTER_{name}_DIR": str(directory) for name in ("CONFIG", "DATA", "RUNTIME")}
    return {
        "PATH": os.defpath,
        "HOME": str(directory),
        "LANG": "C.UTF-8",
        "JUPYTER_PLATFORM_DIRS": "1",
        **jupyter,
        **passed,
    }
