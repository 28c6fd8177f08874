"""The manager of one kernel. It notices when the kernel ends, and does not start it again by itself."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime

import zmq
import zmq.asyncio
from jupyter_client.ioloop.manager import AsyncIOLoopKernelManager
from jupyter_client.ioloop.restarter import AsyncIOLoopKernelRestarter
from traitlets import default
from zmq.eventloop.zmqstream import ZMQStream
from zmq.utils.monitor import parse_monitor_message

from chat.python.kernels.sandbox import SandboxUnavailable, launch_error
from chat.python.kernels.service.provisioner import SandboxProvisioner

START_LIMIT_S = 60.0
EXIT_GRACE_S = 1.0


class ExitWatcher(AsyncIOLoopKernelRestarter):
    """Notices the exit of a kernel. Jupyter's own class would restart the kernel, without its variables."""

    _pidfd = -1

    def start(self) -> None:
        """Start watching. A pidfd becomes readable when its process exits, so nothing polls."""
        self._pidfd = self.kernel_manager.provisioner.pidfd
        asyncio.get_running_loop().add_reader(self._pidfd, self._on_exit)

    def stop(self) -> None:
        """Stop watching. May be called again."""
        if self._pidfd >= 0:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            self._pidfd = -1

    def report_death(self) -> None:
        """Tell the connections of this kernel that it is dead."""
        self._fire_callbacks("dead")

    def _on_exit(self) -> None:
        self.stop()
        kernel = self.kernel_manager
        kernel.provisioner.inspect_exit()
        kernel.exit_event.set()
        kernel.parent.remove_ended_kernel(kernel, self.report_death)


class SandboxKernelManager(AsyncIOLoopKernelManager):
    """Starts and ends one kernel."""

    @default("restarter_class")
    def _restarter_class_default(self) -> type[ExitWatcher]:
        return ExitWatcher

    def __init__(self, **kwargs: object) -> None:
        """Create the manager of a kernel that is not started yet."""
        super().__init__(**kwargs)
        self.exit_event = asyncio.Event()
        self.execution_state = "starting"
        self.last_activity = datetime.now(UTC)
        self._watches: set[asyncio.Task[None]] = set()

    @property
    def process(self) -> SandboxProvisioner:
        """The provisioner, which owns the kernel's process."""
        assert isinstance(self.provisioner, SandboxProvisioner)
        return self.provisioner

    # The type in jupyter_client is a socket, but its subclass for Tornado returns a stream.
    def connect_iopub(self, identity: bytes | None = None) -> ZMQStream:
        """Return a stream of the kernel's output.

        ZeroMQ closes a connection if a message exceeds the size limit, and does not open it again. No more output could
        arrive, so the kernel is then ended.
        """
        stream: ZMQStream = super().connect_iopub(identity)
        # The context is asyncio's, so the monitor's methods are coroutines.
        # A new address, because the default one is made from a descriptor, which a closing monitor may still have.
        events, address = zmq.EVENT_DISCONNECTED | zmq.EVENT_MONITOR_STOPPED, f"inproc://{uuid.uuid4()}"
        monitor = stream.socket.get_monitor_socket(events, address)
        assert isinstance(monitor, zmq.asyncio.Socket)
        task = asyncio.create_task(self._watch_connection(monitor, self.process.pid))
        self._watches.add(task)
        task.add_done_callback(self._watches.discard)
        return stream

    async def _watch_connection(self, monitor: zmq.asyncio.Socket, pid: int) -> None:
        """Read the events of one connection until it is closed.

        The monitor must stay open until then. ZeroMQ would wait forever to send the last event to a closed monitor, and
        would not close other sockets meanwhile.
        """
        event = 0
        while event != zmq.EVENT_MONITOR_STOPPED:
            event = parse_monitor_message(await monitor.recv_multipart())["event"]
            if event == zmq.EVENT_DISCONNECTED:
                # End the kernel only later: if it disconnects because it exits, its exit is noticed before.
                asyncio.get_running_loop().call_later(EXIT_GRACE_S, self._end_unreadable, pid)
        monitor.close(linger=0)

    def _end_unreadable(self, pid: int) -> None:
        if self.has_kernel and self.process.pid == pid:
            self.process.end("It sent more at once than can be read.")

    async def wait_until_ready(self) -> None:
        """Wait until the kernel answers a request. Raises SandboxUnavailable if it exits or takes too long."""
        is_ready = asyncio.Event()
        channel = self.connect_shell()
        channel.on_recv(lambda _: is_ready.set())
        self.session.send(channel, "kernel_info_request")
        waits = {asyncio.create_task(event.wait()) for event in (is_ready, self.exit_event)}
        try:
            await asyncio.wait(waits, timeout=START_LIMIT_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            channel.close(linger=0)
        if self.exit_event.is_set():
            raise launch_error(self.process.stderr)
        if not is_ready.is_set():
            raise SandboxUnavailable(f"The Python kernel did not start within {START_LIMIT_S:g} s.")
