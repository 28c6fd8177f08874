"""Checks at the start that code cannot escape from the sandbox on this machine."""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from chat.python.kernels import bootstrap, sandbox

LIMIT_S = 30.0
_SCRIPT = Path(__file__).with_name("self_test_script.py")
_PATH = "/self_test.py"


async def run(directory: Path) -> None:
    """Run code that tries to escape from a sandbox like that of a kernel. Its folder is created in `directory`.

    Raises SandboxUnavailable, with a sentence, if an attempt succeeds or no sandbox can be set up. Call this on the
    main thread: the sandbox ends with the thread that started it.
    """
    folder = Path(tempfile.mkdtemp(prefix="t-", dir=directory))
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            targets = {
                "port": server.getsockname()[1],
                "path": str(_SCRIPT),
                "environment": list(sandbox.ENVIRONMENT),
                "processes": bootstrap.LIMITS[resource.RLIMIT_NPROC],
            }
            scripts = {_PATH: _SCRIPT.read_text()}
            process = sandbox.launch(folder, _PATH, json.dumps(targets), stdout=subprocess.PIPE, scripts=scripts)
            output, stderr = await asyncio.to_thread(_wait, process)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    if process.returncode != 0:
        raise sandbox.launch_error(stderr)
    successes = json.loads(output)
    if successes:
        raise sandbox.SandboxUnavailable(
            f"The sandbox does not hold on this machine: {', '.join(successes)}. No code is run."
        )


def _wait(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Return the output and the standard error of the process once it has exited.

    Its standard input stays open until then: `bootstrap` does not run with a closed one. Both outputs fit into a pipe.
    """
    with process:
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
        assert process.stdout is not None
        assert process.stderr is not None
        return process.stdout.read(), process.stderr.read()
