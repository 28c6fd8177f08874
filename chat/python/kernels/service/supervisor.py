"""Keeps the gateway running until the service is stopped, and reports its state."""

from __future__ import annotations

import asyncio
import logging
import secrets
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from chat.python.kernels.interpreter import InterpreterUnavailable, find_interpreter
from chat.python.kernels.places import ServiceStatus
from chat.python.kernels.sandbox import SandboxUnavailable
from chat.python.kernels.service import runtime_directory, self_test
from chat.python.kernels.service.gateway_process import GatewayFailed, GatewayProcess
from chat.python.kernels.service.options import GatewayOptions

logger = logging.getLogger(__name__)

BACKOFF_S = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Pauses before the first, second and further restarts after successive failures."""
STABLE_AFTER_S = 60.0
"""After this time, earlier failures of a gateway no longer count: its next restart has no pause."""
MINIMUM_PAUSE_S = 1.0
"""Minimum time between a failed start and the next one on request."""
COUNTS_LIMIT_S = 1.0
"""Time limit of asking the gateway for the numbers of its kernels. A status without an answer has zeros."""
EXIT_NOTICE_S = 0.2

_STOPPED = "The service for Python sessions was stopped. An administrator can start it again on the admin page."
_NO_ANSWER = "The gateway for Python sessions did not answer and was ended."


class State(StrEnum):
    """State of the gateway."""

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    ERROR = "error"
    """The gateway did not start, or it ended. It is started again after a pause, or on request."""


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """Times of the health check, by which the supervisor notices that the gateway hangs."""

    interval_s: float = 5.0
    limit_s: float = 10.0


class Supervisor:
    """Starts, checks and restarts the gateway. It belongs to one event loop, on the main thread."""

    def __init__(self, directory: Path, options: GatewayOptions, health_check: HealthCheck | None = None) -> None:
        """Create a supervisor that has not started the gateway. If the token is empty, each start makes a new one."""
        self._directory = directory
        self._options = options
        self._health_check = health_check or HealthCheck()
        self._state = State.STOPPED
        self._error = ""
        self._launch_error = ""
        self._restarts = 0
        self._failures = 0
        self._failed_at = 0.0
        self._started_at: float | None = None
        self._token = ""
        self._gateway: GatewayProcess | None = None
        self._task: asyncio.Task[None] | None = None
        self._change = asyncio.Event()
        self._retry = asyncio.Event()
        self._is_stopped_by_person = False

    async def status(self) -> ServiceStatus:
        """Return the state and, if the gateway runs, its address and the numbers of its kernels."""
        status = ServiceStatus(
            state=self._state,
            error=self._error,
            launch_error=self._launch_error,
            is_sandboxed=self._options.is_sandboxed,
            restarts=self._restarts,
        )
        gateway = self._gateway
        if self._state is not State.RUNNING or gateway is None:
            return status
        status = replace(status, url=gateway.url, token=self._token, started_at=self._started_at)
        health = await gateway.check(COUNTS_LIMIT_S)
        return replace(status, kernels=health.kernels, warm_kernels=health.warm_kernels) if health else status

    async def watch_launches(self) -> None:
        """Test whether code can run, and repeat this while it cannot: a missing tool may be installed meanwhile."""
        is_tested = False
        while True:
            if self._launch_error or not is_tested:
                try:
                    await self._test_launch(Path(tempfile.gettempdir()))
                    is_tested = True
                except SandboxUnavailable:
                    pass
                except Exception:
                    logger.exception("The test of the sandbox failed.")
            await asyncio.sleep(self._health_check.interval_s)

    async def _test_launch(self, directory: Path) -> None:
        """Launch a program like a kernel, with a folder in `directory`. Raises SandboxUnavailable if that fails."""
        try:
            # On a thread, because an interpreter that hangs would block the service. The result is cached.
            await asyncio.to_thread(find_interpreter)
            if self._options.is_sandboxed:
                await self_test.run(directory)
        except (SandboxUnavailable, InterpreterUnavailable) as error:
            self._launch_error = str(error)
            raise SandboxUnavailable(str(error)) from error
        self._launch_error = ""

    async def start(self, *, on_demand: bool = False) -> ServiceStatus:
        """Start the gateway if it does not run, and return the status once it runs or has failed.

        With `on_demand`, a service that a person has stopped stays stopped.
        """
        if on_demand and self._is_stopped_by_person:
            return replace(await self.status(), error=_STOPPED)
        self._is_stopped_by_person = False
        while self._state is State.STOPPING:
            await self._wait_for_change()
        if self._task is None:
            self._failures = 0
            self._set(State.STARTING)
            self._task = asyncio.create_task(self._keep_running())
        elif self._state is State.ERROR:
            await asyncio.sleep(self._failed_at + MINIMUM_PAUSE_S - time.monotonic())
            if self._state is State.ERROR:
                self._set(State.STARTING)
                self._retry.set()
        while self._state is State.STARTING:
            await self._wait_for_change()
        return await self.status()

    async def stop(self) -> ServiceStatus:
        """End the gateway and all kernels; it does not start again until a person starts it."""
        self._is_stopped_by_person = True
        await self.close()
        return await self.status()

    async def close(self) -> None:
        """End the gateway and all kernels."""
        task = self._task
        if task is not None:
            self._set(State.STOPPING)
            task.cancel()
            await asyncio.wait({task})
            self._task = None
        self._error = ""
        self._set(State.STOPPED)

    async def _keep_running(self) -> None:
        while True:
            try:
                self._error = await self._run_once()
            except (GatewayFailed, SandboxUnavailable) as error:
                self._error = str(error)
            except OSError as error:
                logger.warning("The folder %s of the service cannot be used: %s", self._directory, error)
                self._error = f"The folder of the service for Python sessions cannot be used: {error.strerror}."
            except Exception:
                # Requests that wait for the start must get an error.
                logger.exception("The gateway for Python sessions ended because of an unexpected error.")
                self._error = _NO_ANSWER
            logger.warning("%s", self._error)
            pause_s = BACKOFF_S[min(self._failures, len(BACKOFF_S) - 1)]
            self._failures += 1
            self._failed_at = time.monotonic()
            if pause_s:
                self._retry.clear()
                self._set(State.ERROR)
                try:
                    async with asyncio.timeout(pause_s):
                        await self._retry.wait()
                except TimeoutError:
                    pass
            self._restarts += 1
            self._set(State.STARTING)

    async def _run_once(self) -> str:
        """Run one gateway until it fails, and return a sentence that says how it failed.

        Raises GatewayFailed, SandboxUnavailable or OSError if it does not start.
        """
        path = await asyncio.to_thread(runtime_directory.create, self._directory)
        try:
            self._token = self._options.token or secrets.token_urlsafe(32)
            options = replace(self._options, directory=str(path), token=self._token)
            gateway = await self._start_gateway(options)
            try:
                self._gateway, self._started_at = gateway, time.time()
                self._set(State.RUNNING)
                return await self._watch(gateway)
            finally:
                self._gateway = None
                await gateway.end()
        finally:
            try:
                await asyncio.to_thread(runtime_directory.remove, self._directory)
            except OSError:
                # The next start removes it. An error here would replace the cancellation that ends the service.
                logger.warning("The folder of the gateway could not be removed.", exc_info=True)

    async def _start_gateway(self, options: GatewayOptions) -> GatewayProcess:
        """Start a gateway, and test the sandbox meanwhile.

        Raises GatewayFailed if the gateway does not start, and SandboxUnavailable if the test fails.
        """
        start = asyncio.create_task(GatewayProcess.start(options))
        try:
            await self._test_launch(Path(options.directory))
            return await start
        except BaseException:
            start.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await (await start).end()
            raise

    async def _watch(self, gateway: GatewayProcess) -> str:
        started_s = time.monotonic()
        exit_task = asyncio.create_task(gateway.wait())
        try:
            while True:
                await asyncio.wait({exit_task}, timeout=self._health_check.interval_s)
                is_healthy = not exit_task.done() and await gateway.check(self._health_check.limit_s) is not None
                if not is_healthy:
                    # A gateway that ends refuses connections a moment before its exit is noticed.
                    await asyncio.wait({exit_task}, timeout=EXIT_NOTICE_S)
                    if exit_task.done():
                        return f"The gateway for Python sessions ended (exit status {exit_task.result()})."
                    await gateway.kill()
                    return _NO_ANSWER
                if time.monotonic() - started_s > STABLE_AFTER_S:
                    self._failures = 0
        finally:
            exit_task.cancel()

    def _set(self, state: State) -> None:
        self._state = state
        change, self._change = self._change, asyncio.Event()
        change.set()

    async def _wait_for_change(self) -> None:
        await self._change.wait()
