"""The gateway process: Jupyter Kernel Gateway with classes of Plotline. Only the supervisor starts it.

It reads its options as JSON from standard input and writes one line of JSON to standard output: `{"port": ...}` once it
accepts connections, or `{"error": sentence}` before it exits with status 1.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import resource
import secrets
import signal
import sys
from pathlib import Path
from typing import NoReturn, TextIO

from chat.python.kernels.service import unused_packages as unused_packages  # before any package of Jupyter

# isort: split
from kernel_gateway.gatewayapp import KernelGatewayApp
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from traitlets import Any as AnyTrait
from traitlets import Instance, default
from traitlets.config import Config

from chat.python.kernels.sandbox import MIB
from chat.python.kernels.service import api, provisioner
from chat.python.kernels.service.connection import LimitedConnection
from chat.python.kernels.service.kernel_spec import SandboxKernelSpecs
from chat.python.kernels.service.mapping_manager import SandboxMappingKernelManager
from chat.python.kernels.service.options import GatewayOptions

MEMORY_LIMIT_BYTES = 2048 * MIB
"""Limit of this process's writable memory. A kernel may have more, so only the soft limit is set."""
OPEN_FILES_LIMIT = 16_384
PR_SET_PDEATHSIG = 1
REQUEST_LIMIT_BYTES = 1 * MIB
WEBSOCKET_MESSAGE_LIMIT_BYTES = 16 * MIB
_OOM_SCORE_ADJ = 500
"""Linux kills processes with a high score first if memory is full: Jupyter kernels (1000), the gateway, the web
server (0).
"""


class SandboxGateway(KernelGatewayApp):
    """Jupyter Kernel Gateway with a fixed configuration: it reads no file and no environment variable."""

    options = Instance(GatewayOptions)
    status_stream = AnyTrait()

    @default("kernel_manager_class")
    def _default_kernel_manager_class(self) -> type[SandboxMappingKernelManager]:
        return SandboxMappingKernelManager

    def migrate_config(self) -> None:
        """Do nothing: the user's configuration of Jupyter is not used."""

    def load_config_file(self, suppress_errors: bool = True) -> None:
        """Do nothing: configuration files are not used."""

    def init_webapp(self) -> None:
        """Create the web application, which logs no requests."""
        super().init_webapp()
        self.web_app.settings["log_function"] = lambda handler: None
        interval_ms = self.options.ping_interval_s * 1000
        # Before each ping, Jupyter compares the age of the last answer with the timeout. A timeout of one interval
        # would close every connection at the first ping.
        self.web_app.settings.update(ws_ping_interval=interval_ms, ws_ping_timeout=3 * interval_ms)
        # Undo that the root logger got Jupyter's level, CRITICAL. Jupyter logs the end of every kernel as an error.
        logging.getLogger().setLevel(logging.WARNING)
        # Tornado warns about each request for a kernel that is gone.
        logging.getLogger("tornado.general").setLevel(logging.ERROR)
        self.web_app.settings["websocket_max_message_size"] = WEBSOCKET_MESSAGE_LIMIT_BYTES

    def init_http_server(self) -> None:
        """Listen on the host and port of the options."""
        sockets = bind_sockets(self.options.port, self.options.host)
        self.port = sockets[0].getsockname()[1]
        self.http_server = HTTPServer(
            self.web_app, max_body_size=REQUEST_LIMIT_BYTES, max_buffer_size=WEBSOCKET_MESSAGE_LIMIT_BYTES
        )
        self.http_server.add_sockets(sockets)

    def init_signal(self) -> None:
        """Stop on SIGTERM, which the supervisor sends."""
        self.io_loop.asyncio_loop.add_signal_handler(signal.SIGTERM, self.stop)

    def start(self) -> None:
        """Serve until SIGTERM."""
        self.io_loop.add_callback(self._report_start)
        self.io_loop.start()

    async def _stop(self) -> None:
        # Jupyter's own method waits until all websockets are closed. This is not needed, as all kernels are killed.
        await self.personality.shutdown()
        self.io_loop.stop()

    def _report_start(self) -> None:
        self.kernel_manager.warm_kernels.fill()
        report(self.status_stream, port=self.port)


def create_gateway(options: GatewayOptions, status_stream: TextIO) -> SandboxGateway:
    """Return a gateway with these options."""
    config = Config()
    config.SandboxMappingKernelManager.cull_idle_timeout = options.idle_limit_s
    config.SandboxMappingKernelManager.cull_interval = min(60, max(1, options.idle_limit_s // 5))
    # Also cull busy kernels: a killed client may have left code running. Jupyter culls no kernel that has a client.
    config.SandboxMappingKernelManager.cull_busy = True
    # Do not buffer output for kernels without a client, because it could fill the memory.
    config.SandboxMappingKernelManager.buffer_offline_messages = False
    config.SandboxPersonality.list_kernels = True
    provisioner.register()
    return SandboxGateway(
        config=config,
        options=options,
        status_stream=status_stream,
        api=api.__name__,
        auth_token=options.token,
        # No cookies are used, but without this value, Jupyter would write one into a file.
        cookie_secret=secrets.token_bytes(),
        max_kernels=options.kernels_limit,
        kernel_spec_manager_class=SandboxKernelSpecs,
        kernel_websocket_connection_class=LimitedConnection,
        log_level=logging.CRITICAL,
    )


def limit_resources() -> None:
    """Limit the memory of this process, so that it fails before the machine runs out, and let it open more files.

    Code in a kernel can send one message with any number of frames. ZeroMQ collects them without a limit.
    """
    _, hard_limit_bytes = resource.getrlimit(resource.RLIMIT_DATA)
    is_unlimited = hard_limit_bytes == resource.RLIM_INFINITY
    limit_bytes = MEMORY_LIMIT_BYTES if is_unlimited else min(MEMORY_LIMIT_BYTES, hard_limit_bytes)
    resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, hard_limit_bytes))
    # Each kernel needs about 30 descriptors.
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES_LIMIT, hard_limit), hard_limit))
    score = Path("/proc/self/oom_score_adj")
    score.write_text(str(max(_OOM_SCORE_ADJ, int(score.read_text()))))


def end_with_parent(parent_pid: int) -> None:
    """Let Linux kill this process when its parent ends, also by `kill -9`; end it now if the parent has ended.

    The signal follows the *thread* that forked this process, so the parent must fork in its main thread.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(0)


def report(stream: TextIO, **fields: object) -> None:
    """Write one line of JSON to the supervisor."""
    stream.write(json.dumps(fields) + "\n")
    stream.flush()


def main() -> NoReturn:
    """Serve with the options on standard input."""
    options = GatewayOptions.from_json(sys.stdin.readline())
    end_with_parent(options.parent_pid)
    # Output that libraries print must not mix with the report, so it goes to standard error.
    status_stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    limit_resources()
    try:
        gateway = create_gateway(options, status_stream)
        gateway.initialize(argv=[])
    except OSError as error:
        logging.getLogger(__name__).error("The gateway cannot start: %s", error)
        report(status_stream, error=f"The gateway for Python sessions cannot start: {error.strerror}.")
        sys.exit(1)
    gateway.start()
    sys.exit(0)


if __name__ == "__main__":
    main()
