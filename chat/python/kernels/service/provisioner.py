"""Launches kernels: provisioners for Jupyter's kernel manager.

Each kernel has a folder of its own for its sockets and its key, `k-…` in the gateway's folder. The sandbox shows only
this folder, as `/rt`, so no kernel sees the key of another kernel.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
from importlib.metadata import EntryPoint
from itertools import islice
from pathlib import Path

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Unicode

from chat.python.kernels import sandbox
from chat.python.kernels.interpreter import InterpreterUnavailable, find_interpreter
from chat.python.kernels.service.cgroups import KernelGroup
from chat.python.kernels.service.cpu_time import CpuMeter
from chat.python.kernels.service.memory import process_tree

SANDBOX, PLAIN = "plotline-sandbox", "plotline-plain"
"""The names by which kernel specs choose a provisioner."""
OUT_OF_MEMORY = "It used too much memory."


def register() -> None:
    """Register the provisioners in Jupyter. Entry points would need an installed package."""
    for name, kind in ((SANDBOX, SandboxProvisioner), (PLAIN, PlainProvisioner)):
        KernelProvisionerFactory.provisioners[name] = EntryPoint(
            name, f"{__name__}:{kind.__name__}", KernelProvisionerFactory.GROUP_NAME
        )


class SandboxProvisioner(LocalProvisioner):
    """Owns the process and the folder of one kernel, which runs in the sandbox."""

    directory = Unicode()
    """The gateway's folder."""

    process: subprocess.Popen[bytes] | None = None
    pid: int = 0
    pidfd = -1
    """Becomes readable when the process exits."""
    exit_reason = ""
    """Why the service ended the kernel, or `OUT_OF_MEMORY` if Linux did; else empty."""
    stderr = b""
    """Standard error of the process; empty until it has exited."""
    group: KernelGroup | None = None
    """The kernel's control group; `None` if no group was created for it."""

    def __init__(self, **kwargs: object) -> None:
        """Create the kernel's folder. `launch_kernel` starts the process."""
        super().__init__(**kwargs)
        self.folder = Path(tempfile.mkdtemp(prefix="k-", dir=self.directory))
        # The memory watch calls `end` in another thread. Without the lock, the pidfd could be closed meanwhile, and its
        # number could belong to another file.
        self._pidfd_lock = threading.Lock()
        self.cpu = CpuMeter()
        self._taken_cpu_s = 0.0

    @property
    def sockets_path(self) -> str:
        """The start of the paths of the sockets, as the kernel sees them."""
        return "/rt/s"

    @property
    def is_running(self) -> bool:
        """Whether the kernel was launched, and `cleanup` was not called yet. The process may have exited."""
        return self.pidfd >= 0

    @property
    def is_busy(self) -> bool:
        """Whether the kernel runs a cell, or is not ready yet."""
        return self.parent is not None and self.parent.execution_state != "idle"

    async def pre_launch(self, **kwargs: object) -> dict[str, object]:
        """Choose the paths of the sockets before Jupyter writes its connection file."""
        assert self.parent is not None
        self.parent.transport = "ipc"
        self.parent.ip = str(self.folder / "s")
        return await super().pre_launch(**kwargs | {"env": {}})

    async def launch_kernel(self, cmd: list[str], **kwargs: object) -> KernelConnectionInfo:
        """Launch the kernel; `cmd` holds the arguments of `bootstrap`.

        This runs on the gateway's main thread, because the kernel ends with the thread that launched it. Raises
        SandboxUnavailable if a tool or the interpreter is missing.
        """
        key = self.connection_info["key"]
        text = key.decode() if isinstance(key, bytes) else key
        connection = {**self.connection_info, "ip": self.sockets_path, "key": text}
        try:
            (self.folder / "c.json").write_text(json.dumps(connection))
            self.process = self.launch(*cmd)
        except Exception:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.pid = self.process.pid
        self.pidfd = os.pidfd_open(self.process.pid)
        self.exit_reason = ""
        return self.connection_info

    def launch(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Launch the process. Raises SandboxUnavailable if a tool or the interpreter is missing."""
        return sandbox.launch(self.folder, *arguments)

    async def send_signal(self, signum: int) -> None:
        """Send a signal to bubblewrap, which ends the kernel with all that it started.

        The kernel has no process group of its own, so the inherited method would signal the gateway itself.
        """
        if self.process is not None:
            self.process.send_signal(signum)

    def end(self, reason: str) -> None:
        """Kill the kernel. Any thread may call this. If it is called again, the first reason is kept."""
        with self._pidfd_lock:
            if self.pidfd >= 0:
                self.exit_reason = self.exit_reason or reason
                try:
                    signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
                except ProcessLookupError:
                    # The process has just exited.
                    return

    def inspect_exit(self) -> None:
        """Find out why the process has exited: read its standard error, and check for an exceeded memory limit."""
        if self.group is not None and self.group.count_memory_kills():
            self.exit_reason = self.exit_reason or OUT_OF_MEMORY
        if self.process is not None and self.process.stderr is not None and not self.process.stderr.closed:
            os.set_blocking(self.process.stderr.fileno(), False)
            self.stderr = self.process.stderr.read() or b""

    def take_cpu_s(self) -> float:
        """Return the CPU seconds that the kernel's processes have used since the last call."""
        total_s = self.group.cpu_s() if self.group is not None else None
        if total_s is None:
            if self.is_running:
                self.cpu.sample(process_tree(self.pid))
            total_s = self.cpu.total_s
        taken_s, self._taken_cpu_s = max(0.0, total_s - self._taken_cpu_s), total_s
        return taken_s

    def count_socket_files(self, limit: int) -> int:
        """Return the number of files in the kernel's folder, counted up to a limit."""
        try:
            with os.scandir(self.folder) as entries:
                return sum(1 for _ in islice(entries, limit))
        except OSError:
            return 0

    async def cleanup(self, restart: bool = False) -> None:
        """Close the pidfd, and remove the control group and the folder of the kernel. A restart keeps the folder."""
        await super().cleanup(restart=restart)
        with self._pidfd_lock:
            if self.pidfd >= 0:
                os.close(self.pidfd)
                self.pidfd = -1
        if self.group is not None:
            await asyncio.to_thread(self.group.remove)
            self.group = None
        if not restart:
            await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)


class PlainProvisioner(SandboxProvisioner):
    """Runs a kernel without a sandbox, as the service's user, only if the operator has allowed this by an option."""

    @property
    def sockets_path(self) -> str:
        """The start of the paths of the sockets on the host, which the kernel sees too."""
        return str(self.folder / "s")

    def launch(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Launch ipykernel in a process group of its own. The kernel ends with the gateway."""
        try:
            interpreter = find_interpreter()
        except InterpreterUnavailable as error:
            raise sandbox.SandboxUnavailable(str(error)) from error
        box = self.folder / "box"
        box.mkdir(exist_ok=True)
        argv = ["setpriv", "--pdeathsig", "KILL", interpreter.executable, "-m", "ipykernel_launcher"]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [*argv, "-f", str(self.folder / "c.json"), "--HistoryManager.enabled=False"],
            env=sandbox.ENVIRONMENT | {"HOME": str(box), "IPYTHONDIR": f"{box}/.ipython", "MATPLOTLIBRC": ""},
            cwd=box,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=pipe,
            start_new_session=True,
        )
        # The kernel inherits the gateway's memory limit, which may be lower than that of kernels. So it is raised.
        _, hard_limit_bytes = resource.getrlimit(resource.RLIMIT_DATA)
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (hard_limit_bytes, hard_limit_bytes))
        return process

    async def send_signal(self, signum: int) -> None:
        """Send a signal to the kernel and the processes in its group."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signum)
            except ProcessLookupError:
                return
