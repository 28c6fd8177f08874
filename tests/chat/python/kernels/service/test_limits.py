"""A kernel that takes too much is ended with a reason that its client can read, and no other kernel is hurt."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chat.python.kernels.places import LocalService
from chat.python.kernels.sandbox import MIB
from chat.python.kernels.service.memory_watch import choose_victim
from tests.chat.python.kernels.service.raw_kernel import DEAD, RawKernel, running_kernel
from tests.kernel_service import running_service
from tests.sampling import sampled

pytestmark = pytest.mark.asyncio(loop_scope="module")

GIB = 1024 * MIB
HOLD = "import time; time.sleep(600)"
FORKS = (
    "import os, signal, socket\nfor _ in range(40):\n    if os.fork() == 0:\n        {hold}\n        signal.pause()\n"
)
FILL_SOCKETS = """
pairs = [socket.socketpair() for _ in range(100)]
        for pair in pairs:
            for end in pair:
                end.setblocking(False)
                try:
                    while True: end.send(bytes(60_000))
                except OSError: pass
"""
PROGRAMS = {
    "memory of one process": f"held = b'x' * 400_000_000\n{HOLD}",
    "memory of several processes": f"import os\nfor _ in range(4): os.fork()\nheld = b'x' * 40_000_000\n{HOLD}",
    "files": (
        "for number in range(8):\n    with open(f'/box/{number}', 'wb') as file: file.write(bytes(30_000_000))\n"
        f"with open('/tmp/file', 'wb') as file: file.write(bytes(60_000_000))\n{HOLD}"
    ),
    "empty files": (
        "import os\nfor folder in range(500):\n    os.mkdir(f'/box/{folder}')\n"
        f"    for number in range(1000): open(f'/box/{{folder}}/{{number}}', 'w').close()\n{HOLD}"
    ),
    "sockets": FORKS.format(hold=FILL_SOCKETS.strip()) + HOLD,
    "page tables": (
        "import mmap, os\nfor _ in range(50):\n    if os.fork() == 0:\n"
        "        held = mmap.mmap(-1, 1500 * 1024 * 1024, mmap.MAP_PRIVATE)\n"
        f"        for page in range(0, len(held), 4096): held[page]\n        {HOLD}\n{HOLD}"
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place() -> AsyncIterator[LocalService]:
    """A service whose kernels may use 256 MiB."""
    with running_service("--memory-limit", "256", "--warm-kernels", "0") as service:
        yield service.place


@pytest_asyncio.fixture(loop_scope="module")
async def other(place: LocalService) -> AsyncIterator[RawKernel]:
    """A kernel that must not be hurt."""
    async with running_kernel(place) as kernel:
        await kernel.run("value = 7")
        yield kernel


@pytest.mark.parametrize("what", sampled(PROGRAMS, 1))
async def test_kernel_that_takes_too_much_memory_is_ended(place: LocalService, other: RawKernel, what: str) -> None:
    async with running_kernel(place) as kernel:
        assert (await kernel.run(PROGRAMS[what])).endswith(DEAD)
        assert (await kernel.model())["end"] == "It used more than 0.25 GiB of memory."
    assert await other.run("value") == "7"


MAP_MORE_THAN_THE_DEFAULT = """
import mmap
try:
    held = mmap.mmap(-1, {mib} * 1024 * 1024, mmap.MAP_PRIVATE)
except OSError as error:
    print(error)
else:
    print(len(held) // 1024 // 1024)
"""
"""Private memory that is never touched, so that it takes up none."""


@pytest.mark.parametrize("option", ["", "--without-sandbox"])
async def test_process_may_have_as_much_memory_as_the_setting_says(option: str) -> None:
    with running_service("--warm-kernels", "0", "--memory-limit", "4096", *filter(None, [option])) as service:
        async with running_kernel(service.place) as kernel:
            assert await kernel.run(MAP_MORE_THAN_THE_DEFAULT.format(mib=4096)) == "4096\n"
            if not option:
                assert (
                    await kernel.run(MAP_MORE_THAN_THE_DEFAULT.format(mib=5500))
                    == "[Errno 12] Cannot allocate memory\n"
                )


async def test_kernel_that_creates_too_many_socket_files_is_ended(place: LocalService, other: RawKernel) -> None:
    code = "import socket\nfor number in range(10**6): socket.socket(socket.AF_UNIX).bind(f'/rt/{number}')"
    async with running_kernel(place) as kernel:
        assert (await kernel.run(code)).endswith(DEAD)
        assert (await kernel.model())["end"] == "It created too many socket files."
    assert await other.run("value") == "7"


@pytest.mark.parametrize(
    ("sizes", "available_bytes", "victim"),
    [
        ({}, 0, None),
        ({1: GIB, 2: GIB + 1}, 8 * GIB, None),
        ({1: GIB, 2: GIB + 1, 3: 5}, GIB // 4, 2),
        ({1: MIB}, 0, None),
    ],
)
async def test_kernel_with_the_most_memory_is_ended_if_the_machine_runs_out_of_memory(
    sizes: dict[int, int], available_bytes: int, victim: int | None
) -> None:
    assert choose_victim(sizes, available_bytes, 16 * GIB) == victim
