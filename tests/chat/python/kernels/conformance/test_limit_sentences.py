"""If code exceeds a limit of Linux, a sentence after the traceback names the limit and its size."""

from __future__ import annotations

import pytest

from chat.python.kernels.client import KernelClient
from chat.python.kernels.outputs import ErrorOutput, Execution, ExecutionStatus
from tests.chat.python.kernels.cells import LONG_S

pytestmark = pytest.mark.asyncio(loop_scope="module")
PLACES = ("local-service",)
"""Other servers may set no such limits."""

FILL_THE_DISK = """
import os
try:
    for number in range(9):
        with open(f'large-{number}', 'wb') as file:
            for _ in range(60): file.write(bytes(1_000_000))
finally:
    for name in os.listdir(): os.remove(name)
"""
WRITE_A_LARGE_FILE = "with open('large', 'wb') as file:\n    for _ in range(100): file.write(bytes(1_000_000))"
OPEN_MANY_FILES = "import os\nfiles = [open('/dev/null') for _ in range(1000)]"
FORK_UNTIL_REFUSED = """
import os, signal
children = []
try:
    while True:
        pid = os.fork()
        if pid == 0: signal.pause()
        children.append(pid)
finally:
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
"""
START_THREADS_UNTIL_REFUSED = """
import threading
end, threads = threading.Event(), []
try:
    while True:
        threads.append(threading.Thread(target=end.wait))
        threads[-1].start()
finally:
    end.set()
    for thread in threads[:-1]: thread.join()
"""
MEMORY = "The code asked for more memory than there is for it: each process may have 2,048 MiB of address space."
CASES = {
    "disk": (
        FILL_THE_DISK,
        ("OSError", "DiskLimit"),
        "The disk of the Python session is full: its working folder holds 256 MiB and the folder for temporary files"
        " holds 64 MiB. Remove files that are not needed.",
    ),
    "file size": (
        WRITE_A_LARGE_FILE,
        ("OSError", "FileSizeLimit"),
        "The file would be too large: one file may have at most 64 MiB.",
    ),
    "open files": (
        OPEN_MANY_FILES,
        ("OSError", "OpenFilesLimit"),
        "The code opened too many files at once: at most 256 in each process.",
    ),
    "processes": (
        FORK_UNTIL_REFUSED,
        ("BlockingIOError", "ProcessLimit"),
        "If the code was starting a process, it has met the limit of processes of the Python session: at most 64"
        " processes and threads.",
    ),
    "threads": (
        START_THREADS_UNTIL_REFUSED,
        ("RuntimeError", "ThreadLimit"),
        "The code has met the limit of threads of the Python session: at most 64 processes and threads.",
    ),
    "memory": ("held = bytes(3_000_000_000)", ("MemoryError", "MemoryLimit"), MEMORY),
    "memory of an array": (
        "import numpy\nheld = numpy.empty(3_000_000_000, dtype='u1')",
        ("MemoryError", "MemoryLimit"),
        MEMORY,
    ),
}


def errors_of(execution: Execution) -> list[ErrorOutput]:
    """Return the errors among the outputs of a cell that failed."""
    assert execution.status is ExecutionStatus.FAILED
    return [output for output in execution.outputs if isinstance(output, ErrorOutput)]


@pytest.mark.parametrize("case", CASES)
async def test_sentence_about_the_exceeded_limit_follows_the_traceback(kernel: KernelClient, case: str) -> None:
    code, names, sentence = CASES[case]
    execution = await kernel.execute(code, limit_s=LONG_S)
    error, limit = errors_of(execution)
    assert (error.name, limit.name) == names
    assert limit.value == sentence
    assert "Traceback" in error.traceback
    assert execution.text.endswith(f"\n{limit.name}: {sentence}\n")
    assert (await kernel.execute("files = None\nprint('fine')")).text == "fine\n"


async def test_printed_text_about_a_full_disk_adds_no_sentence_about_a_limit(kernel: KernelClient) -> None:
    execution = await kernel.execute("print('OSError: [Errno 28] No space left on device')\n1 / 0")
    assert [error.name for error in errors_of(execution)] == ["ZeroDivisionError"]
